import type { Channel } from '../../domain/channelDeclaration.ts';
import type { Voice } from '../../domain/channels/vms.ts';
import type { Interface } from '../../domain/ids.ts';
import type { Encoding } from '../../domain/sms.ts';
import { type Accepting, LinksChangedError, type NewMessage } from '../../db/messages/accept.ts';
import { quotasOf } from '../../domain/money.ts';
import { Refused } from '../../domain/refusals.ts';
import { addIds } from '../../telemetry/ids.ts';
import { countRequested } from '../../telemetry/messageMetrics.ts';
import { currentTraceparent } from '../../telemetry/tracing.ts';
import type { OperationContext } from '../context.ts';
import { spendingOf } from '../quotas.ts';
import { accept, findReplay, isOfAnother, type IdempotencyClaim, sendOnce, type Sent } from './accept.ts';
import { messageQuotaRefusal, newMessages, refuseLinksBeyond } from './newMessages.ts';
import { isAffordable, type Plan, planMessages, totalCost } from './plan.ts';
import { type KeyClaim, KeyTakenError } from '../../db/messages/idempotency.ts';

/** What a send, or its estimate, is asked with (v2.3.0, Send); fields as there, read and checked one by one. */
export interface SendInput {
  /** Numbers in one of the three formats, and groups as `group:<id or name>`. */
  to: string | readonly string[];
  /** The most recipients there may be; 500 by default (v2.3.0, Limits). */
  recipientsMax?: number | undefined;
  /** `DEFAULT_CHANNEL` by default. */
  channel?: Channel | undefined;
  text?: string | undefined;
  /** What an MMS says instead of `text`. */
  smil?: string | undefined;
  /** Of an MMS; its template's by default. */
  subject?: string | undefined;
  /** Who reads a call's text aloud; `ewa` by default. */
  voice?: Voice | undefined;
  /** Attempts of a call, 1 to 6; 1 by default. */
  tries?: number | undefined;
  template_id?: string | undefined;
  params?: Readonly<Record<string, string>> | undefined;
  from?: string | undefined;
  /** Epoch milliseconds, as `expires_at`. */
  send_at?: number | undefined;
  send_window?: string | undefined;
  expires_at?: number | undefined;
  reference?: string | undefined;
  priority?: boolean | undefined;
  /** Whether the text is sent as it is written, with no placeholders in it. */
  literal?: boolean | undefined;
  /** What an SMS goes as, whatever its text would need; as the text needs it by default. */
  encoding?: Encoding | undefined;
  /** Brings the text into GSM-7 once it is written out, contacts' values included. */
  normalize?: boolean | undefined;
  /** Shown at once, and not stored by the phone; SMS only. */
  flash?: boolean | undefined;
  /** Which interface it is asked through; the current one by default. */
  interface?: Interface | undefined;
  /** The caller's identifier of one message of the earlier interface (v1.2.0, POST /v1/sms); at most `IDX_MAX` characters. */
  idx?: string | undefined;
}

const LINK_ATTEMPTS = 10;

/** How an entry point answers a send, and what makes it the same send as another. */
interface ResponseBuilder<Body> {
  /** Kept for whoever repeats the key. */
  bodyOf: (messages: readonly NewMessage[]) => Body;
  /** By its `Idempotency-Key`, or a field that is one; null where none came. */
  keyed: IdempotencyClaim | null;
}

/**
 * Sends a message to each recipient (v2.3.0, Send): all are accepted and charged together, or nothing is sent.
 * @throws Refused
 */
export async function send<Body>(
  context: OperationContext<SendInput>,
  answering: ResponseBuilder<Body>,
): Promise<Sent<Body>> {
  return await sendOnce(context, answering.keyed, () => sendNew(context, answering));
}

async function sendNew<Body>(
  context: OperationContext<SendInput>,
  { keyed, bodyOf }: ResponseBuilder<Body>,
): Promise<Body> {
  const { services, caller } = context;
  const plan = await planMessages(context);
  const refusal = paymentRefusal(plan) ?? (await messageQuotaRefusal(services.sql, caller.accountId, plan));
  if (refusal !== null) throw refusal;
  if (!plan.batched) addIds({ messageId: plan.messages[0]!.id });

  for (let attempt = 1; ; attempt += 1) {
    const messages = await newMessages(context, plan);
    refuseLinksBeyond(plan, messages);
    const body = bodyOf(messages);
    const claims = keyed === null ? [] : [{ ...keyed, acceptedBody: body }];
    try {
      await accept(context, acceptingOf(context, plan, messages, claims));
      return body;
    } catch (error) {
      if (!(error instanceof LinksChangedError)) throw error;
      // Others write to the same people with the same links, and each attempt in vain means that one of them got on.
      if (attempt >= LINK_ATTEMPTS)
        throw new Refused({ reason: 'send_abandoned', outage: 'timed_out' }, undefined, error);
    }
  }
}

/** What is accepted of a plan. */
export function acceptingOf(
  { caller }: Pick<OperationContext<unknown>, 'caller'>,
  plan: Plan,
  messages: readonly NewMessage[],
  claims: Accepting['claims'],
): Accepting {
  const costGrosze = plan.terms.mode === 'test' ? 0 : totalCost(plan.messages);
  return {
    ...{ messages, claims, limits: quotasOf(plan.terms.quotas), spending: spendingOf(caller, costGrosze) },
    trace: currentTraceparent(),
  };
}

/** What can be refused before anything is written. */
function paymentRefusal(plan: Plan): Refused | null {
  if (plan.terms.overdue) return new Refused({ reason: 'statement_overdue' });
  if (isAffordable(plan)) return null;
  countRequested('insufficient_funds', plan.messages.length);
  return new Refused({ reason: 'insufficient_funds' });
}

/** One of several messages that are sent together, each with a text of its own, to one number. */
export interface Item {
  input: SendInput & { to: string; literal: true };
  /** What it is known by for 24 hours; null: it is sent whenever it comes. */
  keyed: IdempotencyClaim | null;
}

/** How the entry point that the items came through answers. */
export interface ItemAnswers<Shown> {
  /** What is kept with a key for whoever repeats the item. */
  bodyOf: (shown: Shown) => unknown;
  shownIn: (body: unknown) => Shown;
  show: (message: NewMessage) => Shown;
  /** A refusal of one item, in the words of the request. */
  blamed: (error: Refused, index: number) => Refused;
}

type Blaming = Pick<ItemAnswers<never>, 'blamed'>;

/**
 * Sends items together (v1.2.0, POST /v1/sms/bulk, individual texts): those that were sent before under their key are answered as
 * they were then, all others are accepted and charged together, or nothing of them is sent.
 *
 * @returns what is shown of each, in their order
 * @throws Refused
 */
export async function sendItems<Shown>(
  context: OperationContext<readonly Item[]>,
  answers: ItemAnswers<Shown>,
): Promise<Shown[]> {
  const firsts = firstsOf(context.input, answers);
  const shown = await shownOf(context, [...new Set(firsts)], answers);
  return firsts.map((index) => shown.get(index)!);
}

/** Of each item the first one that has its key, itself as a rule. @throws Refused where one with the key is another item */
function firstsOf(items: readonly Item[], answers: Blaming): number[] {
  const known = new Map<string, number>();
  return items.map(({ keyed }, index) => {
    if (keyed === null) return index;
    const first = known.get(keyed.key) ?? index;
    known.set(keyed.key, first);
    refuseOther(items[first]!, keyed.fingerprint, index, answers);
    return first;
  });
}

/** What is shown of items with keys of their own, by their places. */
async function shownOf<Shown>(
  context: OperationContext<readonly Item[]>,
  wanted: readonly number[],
  answers: ItemAnswers<Shown>,
): Promise<Map<number, Shown>> {
  const shown = await replaysOf(context, wanted, answers);
  for (;;) {
    const open = wanted.filter((index) => !shown.has(index));
    if (open.length === 0) return shown;
    const sent = await sendOpen(context, open, answers);
    // Others with their keys may have been accepted meanwhile, and taken the money.
    const found = sent instanceof Refused ? await replaysOf(context, open, answers) : sent;
    if (sent instanceof Refused && found.size === 0) throw sent;
    for (const [index, one] of found) shown.set(index, one);
  }
}

/** What was answered of those that were sent before under their key. @throws Refused while that is under way */
async function replaysOf<Shown>(
  context: OperationContext<readonly Item[]>,
  wanted: readonly number[],
  answers: ItemAnswers<Shown>,
): Promise<Map<number, Shown>> {
  const shown = new Map<number, Shown>();
  for (const index of wanted) {
    const replay = await blaming(index, answers, findReplay(context, context.input[index]!.keyed));
    if (replay !== null) shown.set(index, answers.shownIn(replay.body));
  }
  return shown;
}

/** @returns what is shown of each; or why nothing of them was accepted, which may be others with their keys */
async function sendOpen<Shown>(
  context: OperationContext<readonly Item[]>,
  open: readonly number[],
  answers: ItemAnswers<Shown>,
): Promise<Map<number, Shown> | Refused> {
  const { services, caller } = context;
  const plans = await planEach(context, open, answers);
  const whole = { ...plans[0]!, messages: plans.flatMap(({ messages }) => messages) };
  const refusal = paymentRefusal(whole) ?? (await messageQuotaRefusal(services.sql, caller.accountId, whole));
  if (refusal !== null) return refusal;

  const messages = await messagesOf(context, open, plans);
  const shown = new Map(open.map((index, place) => [index, answers.show(messages[place]!)]));
  try {
    await accept(context, acceptingOf(context, whole, messages, claimsOf(context, shown, answers)));
    return shown;
  } catch (error) {
    if (!isOfAnother(error)) throw error;
    if (!(error instanceof KeyTakenError)) return error as Refused;
    const taken = open.find((index) => context.input[index]!.keyed?.key === error.key)!;
    return answers.blamed(new Refused({ reason: 'idempotency_in_progress' }, 'idx'), taken);
  }
}

async function planEach(
  context: OperationContext<readonly Item[]>,
  open: readonly number[],
  answers: Blaming,
): Promise<Plan[]> {
  const plans: Plan[] = [];
  for (const index of open) {
    const { input } = context.input[index]!;
    plans.push(await blaming(index, answers, planMessages({ ...context, input })));
  }
  return plans;
}

/** The messages of all items, made at one time. */
async function messagesOf(
  context: OperationContext<readonly Item[]>,
  open: readonly number[],
  plans: readonly Plan[],
): Promise<NewMessage[]> {
  const { now } = plans[0]!.terms;
  const messages: NewMessage[] = [];
  for (const [place, index] of open.entries()) {
    const { input } = context.input[index]!;
    const plan = plans[place]!;
    const planned = { ...plan, terms: { ...plan.terms, now }, batched: true };
    messages.push(...(await newMessages({ ...context, input }, planned)));
  }
  return messages;
}

/** The claims of the items' keys. */
function claimsOf<Shown>(
  { input: items }: OperationContext<readonly Item[]>,
  shown: ReadonlyMap<number, Shown>,
  { bodyOf }: ItemAnswers<Shown>,
): KeyClaim[] {
  return [...shown].flatMap(([index, one]): KeyClaim[] => {
    const { keyed } = items[index]!;
    if (keyed === null) return [];
    const { key, fingerprint } = keyed;
    return [{ key, fingerprint, acceptedBody: bodyOf(one) }];
  });
}

function refuseOther(first: Item, fingerprint: Buffer, index: number, { blamed }: Blaming): void {
  if (first.keyed!.fingerprint.equals(fingerprint)) return;
  throw blamed(new Refused({ reason: 'idempotency_other_content' }, 'idx'), index);
}

async function blaming<T>(index: number, { blamed }: Blaming, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw error instanceof Refused ? blamed(error, index) : error;
  }
}
