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
import {
  accept,
  findReplay,
  isConcurrentConflict,
  type IdempotencyClaim,
  sendOnce,
  type Sent,
} from './accept.ts';
import { messageQuotaRefusal, newMessages, refuseLinksBeyond } from './newMessages.ts';
import { isAffordable, type Plan, planMessages, totalCost } from './plan.ts';
import { type KeyClaim, KeyTakenError } from '../../db/messages/idempotency.ts';

/** Parameters of a send or its estimate (v2.3.0, Send), validated field by field. */
export interface SendInput {
  to: string | readonly string[];
  /** Limit of recipients; 500 by default (v2.3.0, Limits). */
  recipientsMax?: number | undefined;
  channel?: Channel | undefined;
  text?: string | undefined;
  /** Body of an MMS, instead of `text`. */
  smil?: string | undefined;
  subject?: string | undefined;
  /** Text-to-speech voice of a call; `ewa` by default. */
  voice?: Voice | undefined;
  /** Call attempts, 1 to 6; 1 by default. */
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
  /** The text has no placeholders and is sent as written. */
  literal?: boolean | undefined;
  /** Forces the SMS encoding; chosen by the text by default. */
  encoding?: Encoding | undefined;
  /** Converts the rendered text, contact values included, to GSM-7. */
  normalize?: boolean | undefined;
  /** Class 0 SMS: displayed immediately and not stored by the phone. */
  flash?: boolean | undefined;
  interface?: Interface | undefined;
  /** Client's message id in the earlier interface (v1.2.0, POST /v1/sms); at most `IDX_MAX` characters. */
  idx?: string | undefined;
}

const LINK_ATTEMPTS = 10;

/** Response and idempotency of a send, as its interface defines them. */
interface ResponseBuilder<Body> {
  /** Stored with the key for replays. */
  bodyOf: (messages: readonly NewMessage[]) => Body;
  /** From `Idempotency-Key` or a field with that role; null if absent. */
  keyed: IdempotencyClaim | null;
}

/** Sends a message to each recipient, all or none (v2.3.0, Send). @throws Refused */
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
      // Concurrent sends created the same links. Each conflict means another send has succeeded, so retrying makes progress.
      if (attempt >= LINK_ATTEMPTS)
        throw new Refused({ reason: 'send_abandoned', outage: 'timed_out' }, undefined, error);
    }
  }
}

export function acceptingOf(
  { caller }: Pick<OperationContext<unknown>, 'caller'>,
  plan: Plan,
  messages: readonly NewMessage[],
  claims: Accepting['claims'],
): Accepting {
  const costGrosze = plan.terms.mode === 'test' ? 0 : totalCost(plan.messages);
  return {
    messages,
    claims,
    limits: quotasOf(plan.terms.quotas),
    spending: spendingOf(caller, costGrosze),
    trace: currentTraceparent(),
  };
}

function paymentRefusal(plan: Plan): Refused | null {
  if (plan.terms.overdue) return new Refused({ reason: 'statement_overdue' });
  if (isAffordable(plan)) return null;
  countRequested('insufficient_funds', plan.messages.length);
  return new Refused({ reason: 'insufficient_funds' });
}

export interface Item {
  input: SendInput & { to: string; literal: true };
  keyed: IdempotencyClaim | null;
}

export interface ItemAnswers<Shown> {
  /** Stored with the key for replays. */
  bodyOf: (shown: Shown) => unknown;
  shownIn: (body: unknown) => Shown;
  show: (message: NewMessage) => Shown;
  /** Rewrites a refusal so that it names the item. */
  blamed: (error: Refused, index: number) => Refused;
}

type Blaming = Pick<ItemAnswers<never>, 'blamed'>;

/**
 * Sends items together (v1.2.0, POST /v1/sms/bulk, individual texts): those sent before under their key are
 * replayed, the others are accepted all or none.
 * @returns the view of each item, in input order
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

/** Index of the first item with the same key, for each item. @throws Refused if items with one key differ */
function firstsOf(items: readonly Item[], answers: Blaming): number[] {
  const known = new Map<string, number>();
  return items.map(({ keyed }, index) => {
    if (keyed === null) return index;
    const first = known.get(keyed.key) ?? index;
    known.set(keyed.key, first);
    if (!items[first]!.keyed!.fingerprint.equals(keyed.fingerprint))
      throw answers.blamed(new Refused({ reason: 'idempotency_other_content' }, 'idx'), index);
    return first;
  });
}

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
    // A concurrent request with the same keys may have been accepted meanwhile and taken the money.
    const found = sent instanceof Refused ? await replaysOf(context, open, answers) : sent;
    if (sent instanceof Refused && found.size === 0) throw sent;
    for (const [index, one] of found) shown.set(index, one);
  }
}

/** Views of items already sent under their key. @throws Refused while one is in progress */
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

/** @returns the views; a refusal if nothing was accepted, possibly because of a concurrent request with the same keys */
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
    if (!isConcurrentConflict(error)) throw error;
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

/** All messages of a bulk get the same creation time. */
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

async function blaming<T>(index: number, { blamed }: Blaming, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw error instanceof Refused ? blamed(error, index) : error;
  }
}
