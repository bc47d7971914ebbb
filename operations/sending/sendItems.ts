import { type Draft, type KeyClaim, writeDrafts, writeDraftsWithKeys } from '../../db/messages/drafts.ts';
import { Refused } from '../../domain/refusals.ts';
import type { Asked } from '../asked.ts';
import { acceptDrafts } from './acceptance.ts';
import { draftMessages } from './draftMessages.ts';
import { findReplay, type Keyed } from './idempotency.ts';
import type { SendInput } from './input.ts';
import { type Plan, planMessages } from './plan.ts';
import { messageQuotaRefusal } from './room.ts';
import { paymentRefusal } from './send.ts';

/** One of several messages that are sent together, each with a text of its own, to one number. */
export interface Item {
  input: SendInput & { to: string; literal: true };
  /** What it is known by for 24 hours; null: it is sent whenever it comes. */
  keyed: Keyed | null;
}

/** How the door that the items came through answers. */
export interface ItemAnswers<Shown> {
  /** What is kept with a key for whoever repeats the item. */
  status: number;
  bodyOf: (shown: Shown) => unknown;
  shownIn: (body: unknown) => Shown;
  show: (draft: Draft) => Shown;
  /** A refusal of one item, in the words of the request. */
  blamed: (error: Refused, index: number) => Refused;
}

/**
 * Sends items together (v1.2.0, POST /v1/sms/bulk, individual texts): those that were sent before under their key are answered as
 * they were then, all others are accepted and charged together, or nothing of them is sent.
 *
 * @returns what is shown of each, in their order
 * @throws Refused
 */
export async function sendItems<Shown>(
  asked: Asked<readonly Item[]>,
  answers: ItemAnswers<Shown>,
): Promise<Shown[]> {
  const shown = new Map<number, Shown>();
  const sameAs = new Map<number, number>();
  const firsts = new Map<string, number>();
  const open: number[] = [];
  for (const [index, { keyed }] of asked.input.entries()) {
    if (keyed === null) {
      open.push(index);
      continue;
    }
    const first = firsts.get(keyed.key);
    if (first !== undefined) {
      refuseOther(asked.input[first]!, keyed.fingerprint, index, answers);
      sameAs.set(index, first);
      continue;
    }
    firsts.set(keyed.key, index);
    const replay = await blaming(index, answers, replayOf(asked, keyed));
    if (replay === null) open.push(index);
    else shown.set(index, answers.shownIn(replay));
  }
  if (open.length > 0) {
    for (const [index, one] of await sendOpen(asked, open, answers)) shown.set(index, one);
  }
  return asked.input.map((_, index) => shown.get(sameAs.get(index) ?? index)!);
}

async function sendOpen<Shown>(
  asked: Asked<readonly Item[]>,
  open: readonly number[],
  answers: ItemAnswers<Shown>,
): Promise<Map<number, Shown>> {
  const { services, caller, input: items, receivedAt, pace } = asked;
  const plans: Plan[] = [];
  for (const index of open) {
    const { input } = items[index]!;
    plans.push(await blaming(index, answers, planMessages({ ...asked, input })));
    if (pace.due()) await pace.rest();
  }
  const whole = { ...plans[0]!, messages: plans.flatMap(({ messages }) => messages) };
  const refusal = paymentRefusal(whole) ?? (await messageQuotaRefusal(services.sql, caller.accountId, whole));
  if (refusal !== null) throw refusal;

  const drafts: Draft[] = [];
  for (const [place, index] of open.entries()) {
    const { input } = items[index]!;
    drafts.push(...(await draftMessages({ ...asked, input }, { ...plans[place]!, batched: true })));
  }
  const shown = new Map(open.map((index, place) => [index, answers.show(drafts[place]!)]));
  const claims = open.flatMap((index): KeyClaim[] => {
    const { keyed } = items[index]!;
    if (keyed === null) return [];
    const { key, fingerprint } = keyed;
    return [
      { key, fingerprint, acceptedStatus: answers.status, acceptedBody: answers.bodyOf(shown.get(index)!) },
    ];
  });
  if (claims.length === 0) await writeDrafts(services.sql, drafts);
  else if (!(await writeDraftsWithKeys(services.sql, drafts, claims)))
    throw new Refused({ reason: 'idempotency_in_progress' });
  const resolution = await acceptDrafts(services, drafts, receivedAt);
  if (resolution === 'insufficient_funds') throw new Refused({ reason: resolution });
  return shown;
}

async function replayOf({ services, caller }: Asked<unknown>, keyed: Keyed): Promise<unknown> {
  return (await findReplay(services.sql, caller.accountId, keyed))?.body ?? null;
}

function refuseOther(
  first: Item,
  fingerprint: Buffer,
  index: number,
  { blamed }: Pick<ItemAnswers<never>, 'blamed'>,
): void {
  if (first.keyed!.fingerprint.equals(fingerprint)) return;
  throw blamed(new Refused({ reason: 'idempotency_other_content' }, 'idx'), index);
}

async function blaming<T>(
  index: number,
  { blamed }: Pick<ItemAnswers<never>, 'blamed'>,
  work: Promise<T>,
): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw error instanceof Refused ? blamed(error, index) : error;
  }
}
