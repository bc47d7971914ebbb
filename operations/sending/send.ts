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
import { accept } from './accept.ts';
import {
  areSame,
  claimsOf,
  findReplay,
  isConcurrentConflict,
  type IdempotencyKey,
  type Keyed,
  type RequestContent,
  sendOnce,
  type Sent,
} from './idempotency.ts';
import { messageQuotaRefusal, newMessages, refuseLinksBeyond } from './newMessages.ts';
import { contentOf, isAffordable, type Plan, planMessages, totalCost } from './plan.ts';
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
  /** The verification whose code takes the place of the text's asterisks, and how long it is valid, in milliseconds. SMS only. */
  code?: { of: string; validMs: number } | undefined;
  interface?: Interface | undefined;
  /** Client's message id in the earlier interface (v1.2.0, POST /v1/sms); at most `IDX_MAX` characters. */
  idx?: string | undefined;
}

const LINK_ATTEMPTS = 10;

/** Response and idempotency of a send, as its interface defines them. */
interface ResponseBuilder<Body> {
  /** Stored with the key for replays. */
  bodyOf: (messages: readonly NewMessage[]) => Body;
  /** From `Idempotency-Key` or a field with that role. */
  keys: readonly IdempotencyKey[];
}

/** Sends a message to each recipient, all or none (v2.3.0, Send). @throws Refused */
export async function send<Body>(
  context: OperationContext<SendInput>,
  answering: ResponseBuilder<Body>,
): Promise<Sent<Body>> {
  const { keys } = answering;
  return await sendOnce(context, { keys, content: contentOf(context) }, () => sendNew(context, answering));
}

async function sendNew<Body>(
  context: OperationContext<SendInput>,
  { keys, bodyOf }: ResponseBuilder<Body>,
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
    const claims = await claimsOf(services, { keys, content: contentOf(context, plan) }, body);
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

export function paymentRefusal(plan: Plan): Refused | null {
  if (plan.terms.overdue) return new Refused({ reason: 'statement_overdue' });
  if (isAffordable(plan)) return null;
  countRequested('insufficient_funds', plan.messages.length);
  return new Refused({ reason: 'insufficient_funds' });
}

export interface Item {
  input: SendInput & { to: string; literal: true };
  keys: readonly IdempotencyKey[];
}

export interface ItemAnswers<Shown> {
  /** Of the request as a whole. */
  keys: readonly IdempotencyKey[];
  /** Stored with an item's key for replays. */
  bodyOf: (shown: Shown) => unknown;
  shownIn: (body: unknown) => Shown;
  show: (message: NewMessage) => Shown;
  /** Rewrites a refusal so that it names the item. */
  blamed: (error: Refused, index: number) => Refused;
}

type ItemsContext = OperationContext<readonly Item[]>;

/**
 * Sends items together (v1.2.0, POST /v1/sms/bulk, individual texts): those sent before under their key are
 * replayed, the others are accepted all or none. Items with one key are one message.
 * @returns the view of each message, in input order
 * @throws Refused
 */
export async function sendItems<Shown>(
  context: ItemsContext,
  answers: ItemAnswers<Shown>,
): Promise<Sent<Shown[]>> {
  const contents = context.input.map((_, index) => contentOf(contextOf(context, index)));
  const written = contents.map((one) => one.written);
  const resolve = () =>
    inTurn(contents.keys(), (index) => blaming(index, answers, contents[index]!.resolve()));
  const whole = { keys: answers.keys, content: { written, resolve } };
  return await sendOnce(context, whole, async () => {
    const wanted = await distinctOf(context, answers);
    const shown = await shownOf(context, wanted, answers, whole);
    return wanted.map((index) => shown.get(index)!);
  });
}

function contextOf(context: ItemsContext, index: number): OperationContext<SendInput> {
  return { ...context, input: context.input[index]!.input };
}

/** Indexes of items, one for each key. @throws Refused if items with one key differ */
async function distinctOf<Shown>(context: ItemsContext, answers: ItemAnswers<Shown>): Promise<number[]> {
  const firsts = new Map<string, number>();
  const distinct: number[] = [];
  for (const [index, { keys }] of context.input.entries()) {
    const first = keys.flatMap(({ key }) => firsts.get(key) ?? [])[0];
    for (const { key } of keys) firsts.set(key, first ?? index);
    if (first === undefined) {
      distinct.push(index);
      continue;
    }
    const [one, other] = [first, index].map((at) => contentOf(contextOf(context, at))) as [
      RequestContent,
      RequestContent,
    ];
    if (!(await blaming(index, answers, areSame(one, other))))
      throw answers.blamed(new Refused({ reason: 'idempotency_other_content' }, 'idx'), index);
  }
  return distinct;
}

async function shownOf<Shown>(
  context: ItemsContext,
  wanted: readonly number[],
  answers: ItemAnswers<Shown>,
  whole: Keyed,
): Promise<Map<number, Shown>> {
  const shown = await replaysOf(context, wanted, answers);
  for (;;) {
    const open = wanted.filter((index) => !shown.has(index));
    if (open.length === 0) return shown;
    const claimsOfWhole = (sent: ReadonlyMap<number, Shown>) =>
      claimsOf(
        context.services,
        whole,
        wanted.map((index) => shown.get(index) ?? sent.get(index)!),
      );
    const sent = await sendOpen(context, open, answers, claimsOfWhole);
    // A concurrent request with the same keys may have been accepted meanwhile and taken the money.
    const found = sent instanceof Refused ? await replaysOf(context, open, answers) : sent;
    if (sent instanceof Refused && found.size === 0) throw sent;
    for (const [index, one] of found) shown.set(index, one);
  }
}

/** Views of items already sent under their key. @throws Refused while one is in progress */
async function replaysOf<Shown>(
  context: ItemsContext,
  wanted: readonly number[],
  answers: ItemAnswers<Shown>,
): Promise<Map<number, Shown>> {
  const shown = new Map<number, Shown>();
  for (const index of wanted) {
    const { keys } = context.input[index]!;
    const keyed = { keys, content: contentOf(contextOf(context, index)) };
    const replay = await blaming(index, answers, findReplay(context, keyed));
    if (replay !== null) shown.set(index, answers.shownIn(replay.body));
  }
  return shown;
}

/** @returns the views; a refusal if nothing was accepted, possibly because of a concurrent request with the same keys */
async function sendOpen<Shown>(
  context: ItemsContext,
  open: readonly number[],
  answers: ItemAnswers<Shown>,
  claimsOfWhole: (shown: ReadonlyMap<number, Shown>) => Promise<KeyClaim[]>,
): Promise<Map<number, Shown> | Refused> {
  const { services, caller } = context;
  const plans = await inTurn(open, (index) =>
    blaming(index, answers, planMessages(contextOf(context, index))),
  );
  const together = { ...plans[0]!, messages: plans.flatMap(({ messages }) => messages) };
  const refusal =
    paymentRefusal(together) ?? (await messageQuotaRefusal(services.sql, caller.accountId, together));
  if (refusal !== null) return refusal;

  const messages = await messagesOf(context, open, plans);
  const shown = new Map(open.map((index, place) => [index, answers.show(messages[place]!)]));
  const claims = await inTurn(open.entries(), ([place, index]) => {
    const content = contentOf(contextOf(context, index), plans[place]);
    return claimsOf(
      services,
      { keys: context.input[index]!.keys, content },
      answers.bodyOf(shown.get(index)!),
    );
  });
  const all = [...claims.flat(), ...(await claimsOfWhole(shown))];
  try {
    await accept(context, acceptingOf(context, together, messages, all));
    return shown;
  } catch (error) {
    if (!isConcurrentConflict(error)) throw error;
    if (!(error instanceof KeyTakenError)) return error as Refused;
    const taken = open.find((index) => context.input[index]!.keys.some(({ key }) => key === error.key));
    if (taken === undefined) throw error;
    return answers.blamed(new Refused({ reason: 'idempotency_in_progress' }, 'idx'), taken);
  }
}

/** All messages of a bulk get the same creation time. */
async function messagesOf(
  context: ItemsContext,
  open: readonly number[],
  plans: readonly Plan[],
): Promise<NewMessage[]> {
  const { now } = plans[0]!.terms;
  const messages = await inTurn(open.entries(), ([place, index]) => {
    const plan = plans[place]!;
    return newMessages(contextOf(context, index), { ...plan, terms: { ...plan.terms, now }, batched: true });
  });
  return messages.flat();
}

async function inTurn<T, R>(items: Iterable<T>, work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  for (const item of items) results.push(await work(item));
  return results;
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
