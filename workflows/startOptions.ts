import { TypedSearchAttributes } from '@temporalio/common';
import type { StartableMessage } from '../domain/startable.ts';
import type {
  BatchInput,
  EmailInput,
  GatheredInput,
  LookupInput,
  MessageInput,
  ResendInput,
} from './contracts.ts';
import { ACCEPTS_QUEUE, MESSAGES_QUEUE, SEARCH_ATTRIBUTES } from './contracts.ts';

/**
 * Task priority, which the activities of a workflow inherit: priority messages before all others, and whoever waits for
 * an answer before the many messages of a batch, whose caller has it already. Accounts take turns among equals.
 */
function taskPriority(of: { accountId: string; priority: boolean; batched: boolean }) {
  return { priorityKey: (of.priority ? 1 : 3) + (of.batched ? 1 : 0), fairnessKey: of.accountId };
}

// Every start is repeatable: a second one finds the running workflow, and none is run again once it has ended.
const ONCE = {
  workflowIdConflictPolicy: 'USE_EXISTING',
  workflowIdReusePolicy: 'REJECT_DUPLICATE',
  // A task lost with its worker goes to another one soon enough for the caller to get its answer: the API waits 8 s.
  workflowTaskTimeout: '4s',
} as const;

// Nobody waits: better late than begun again and again by a server that is behind.
const PATIENT = { workflowTaskTimeout: '10s' } as const;

// One that was ended by hand before it was done may be started again: all it does is safe to repeat.
const AGAIN = { workflowIdReusePolicy: 'ALLOW_DUPLICATE_FAILED_ONLY' } as const;
const UNTIL_DONE = { ...ONCE, ...AGAIN } as const;

/** As staff read it in the Temporal UI. */
const CHANNEL_NAMES = { sms: 'SMS', mms: 'MMS', vms: 'Call' } as const;

/**
 * How the `message` workflow is started, whoever starts it: the send, the batch, or a cancel that comes first.
 * The workflow's id is the message's. Nothing in here is personal data.
 *
 * @param accepted true when the charge is already made
 * @param lastCallMs where a caller waits for the charge: how long the call before took, null when nobody knows
 */
export function messageStart(message: StartableMessage, accepted: boolean, lastCallMs: number | null = null) {
  const { id, channel, accountId, requestId, batched, route, sendAt, giveUpAt, priority } = message;
  const input: MessageInput = { accountId, requestId, route, sendAt, giveUpAt, priority, accepted };
  // What sleeps submits within its task when its time has come: many at once would be in the way.
  const awaited = !accepted && sendAt === null;
  return {
    ...ONCE,
    ...(accepted ? PATIENT : {}),
    workflowId: id,
    taskQueue: awaited ? ACCEPTS_QUEUE : MESSAGES_QUEUE,
    args: [awaited ? { ...input, submitsAtOnce: true, lastCallMs } : input] as [MessageInput],
    typedSearchAttributes: new TypedSearchAttributes([
      { key: SEARCH_ATTRIBUTES.account, value: accountId },
      { key: SEARCH_ATTRIBUTES.status, value: sendAt === null ? 'queued' : 'scheduled' },
      { key: SEARCH_ATTRIBUTES.route, value: route },
      { key: SEARCH_ATTRIBUTES.request, value: requestId },
      ...(sendAt === null ? [] : [{ key: SEARCH_ATTRIBUTES.sendTime, value: new Date(sendAt) }]),
    ]),
    staticSummary: `${priority ? 'Priority ' : ''}${CHANNEL_NAMES[channel]} by ${route}, ${sendAt === null ? 'at once' : 'scheduled'}`,
    priority: taskPriority({ accountId, priority, batched }),
  };
}

/**
 * How the workflow of an accepted message is started again that was lost: terminated, failed, timed out or missing. It does
 * nothing anew that the database knows to be done: what was charged stays charged, what an SMSC may have is not submitted.
 * @param isOver whether its status is final, so that only its webhook events are left
 */
export function messageRestart(message: StartableMessage, isOver = false) {
  const start = messageStart(message, true);
  const [input] = start.args;
  return { ...start, args: [isOver ? { ...input, isOver } : input] as [MessageInput], ...AGAIN };
}

/**
 * How the workflow of something that is over is run once more, to deliver the webhook events that are pending, or of a message that
 * is sent, to wait for its report: also where it completed, in the eyes of a Temporal or a database that was restored.
 */
export const TO_NOTIFY = { workflowIdReusePolicy: 'ALLOW_DUPLICATE' } as const;

/**
 * How the completed workflow of a click, a reply or a resend is run once more, where the database has it as open: that was restored. What is
 * done none of them does again.
 */
export const TO_REPEAT = { workflowIdReusePolicy: 'ALLOW_DUPLICATE' } as const;

/** How the `batch` workflow of a request with several recipients is started; its id is the request's. */
export function batchStart(batch: BatchInput & { priority: boolean }) {
  const { accountId, requestId, recipients, priority } = batch;
  const input: BatchInput = { accountId, requestId, recipients };
  return {
    ...ONCE,
    workflowId: requestId,
    taskQueue: ACCEPTS_QUEUE,
    args: [input] as [BatchInput],
    typedSearchAttributes: new TypedSearchAttributes([
      { key: SEARCH_ATTRIBUTES.account, value: accountId },
      { key: SEARCH_ATTRIBUTES.request, value: requestId },
    ]),
    staticSummary: `${priority ? 'Priority batch' : 'Batch'} for ${recipients} recipients`,
    priority: taskPriority({ accountId, priority, batched: false }),
  };
}

/** How the lost `batch` workflow of a request is started again: it starts the messages that have no workflow. */
export function batchRestart(batch: BatchInput & { priority: boolean }) {
  return { ...batchStart(batch), ...AGAIN };
}

/**
 * How the `gathered` workflow of requests of one message each is started. It takes its turn beside the accounts, as its account where they
 * are of one, else as one of its own, and with priority where one of them has it.
 */
export function gatheredStart(
  id: string,
  requests: readonly { requestId: string; accountId: string; priority: boolean }[],
  lastCallMs: number | null,
) {
  const input: GatheredInput = { requestIds: requests.map(({ requestId }) => requestId), lastCallMs };
  const accounts = new Set(requests.map(({ accountId }) => accountId));
  // Null where they are of several.
  const accountId = accounts.size === 1 ? requests[0]!.accountId : null;
  const priority = requests.some((request) => request.priority);
  return {
    ...ONCE,
    workflowId: id,
    taskQueue: ACCEPTS_QUEUE,
    args: [input] as [GatheredInput],
    typedSearchAttributes: new TypedSearchAttributes(
      accountId === null ? [] : [{ key: SEARCH_ATTRIBUTES.account, value: accountId }],
    ),
    staticSummary:
      `${requests.length} single messages accepted together` +
      (accountId === null ? `, of ${accounts.size} accounts` : ''),
    priority: taskPriority({ accountId: accountId ?? 'gathered', priority, batched: false }),
  };
}

/**
 * How the `click` workflow is started; its id is the click's (`clk_…`). Nobody waits for it, so everything else goes before
 * it.
 */
export function clickStart({ id, accountId }: { id: string; accountId: string }) {
  return {
    ...UNTIL_DONE,
    workflowId: id,
    taskQueue: MESSAGES_QUEUE,
    args: [] as [],
    typedSearchAttributes: new TypedSearchAttributes([{ key: SEARCH_ATTRIBUTES.account, value: accountId }]),
    staticSummary: 'Click on a tracked link',
    priority: { priorityKey: 5, fairnessKey: accountId },
  };
}

/**
 * How the `inbound` workflow of a stored reply is started; its id is the reply's (`in_…`). Whose it is, the workflow finds
 * out.
 */
export function inboundStart(id: string) {
  return {
    ...UNTIL_DONE,
    workflowId: id,
    taskQueue: MESSAGES_QUEUE,
    args: [] as [],
    staticSummary: 'Reply from a phone',
    priority: { priorityKey: 3, fairnessKey: 'inbound' },
  };
}

/**
 * How the `domain` workflow is started, which delivers the pending events of a sender domain; its id is the domain's (`dom_…`). It is run
 * whenever there is one.
 */
export function domainStart({ id, accountId }: { id: string; accountId: string }) {
  return {
    ...ONCE,
    ...TO_NOTIFY,
    workflowId: id,
    taskQueue: MESSAGES_QUEUE,
    args: [] as [],
    typedSearchAttributes: new TypedSearchAttributes([{ key: SEARCH_ATTRIBUTES.account, value: accountId }]),
    staticSummary: 'Sender domain verified, or lost',
    priority: { priorityKey: 5, fairnessKey: accountId },
  };
}

/**
 * How the `lookup` workflow is started; its id is the look-up's (`hlr_…`). It goes before all else: its caller waits for
 * the provider's answer, and is refunded when that comes too late.
 */
export function lookupStart({ id, accountId, route }: { id: string; accountId: string; route: string }) {
  const input: LookupInput = { route };
  return {
    ...ONCE,
    workflowId: id,
    taskQueue: MESSAGES_QUEUE,
    args: [input] as [LookupInput],
    typedSearchAttributes: new TypedSearchAttributes([
      { key: SEARCH_ATTRIBUTES.account, value: accountId },
      { key: SEARCH_ATTRIBUTES.route, value: route },
    ]),
    staticSummary: `Number look-up by ${route}`,
    priority: taskPriority({ accountId, priority: true, batched: false }),
  };
}

/** How the `resend` workflow of a webhook event is started; its id is the event's with the round. */
export function resendStart({ eventId, accountId, round }: ResendInput & { accountId: string }) {
  const input: ResendInput = { eventId, round };
  return {
    ...UNTIL_DONE,
    workflowId: `${eventId}-${round}`,
    taskQueue: MESSAGES_QUEUE,
    args: [input] as [ResendInput],
    typedSearchAttributes: new TypedSearchAttributes([{ key: SEARCH_ATTRIBUTES.account, value: accountId }]),
    staticSummary: 'Webhook event delivered again',
    // Behind everything that is delivered for the first time.
    priority: { priorityKey: 5, fairnessKey: accountId },
  };
}

/** An e-mail, as far as its workflow is started with it. */
export interface StartableEmail extends Omit<EmailInput, 'accepted' | 'stage'> {
  id: string;
}

/** How the `email` workflow is started; its id is the e-mail's (`em_…`). @param accepted true when the charge is already made */
export function emailStart({ id, ...email }: StartableEmail, accepted: boolean) {
  const { accountId, requestId, route } = email;
  return {
    ...ONCE,
    ...(accepted ? PATIENT : {}),
    workflowId: id,
    taskQueue: accepted ? MESSAGES_QUEUE : ACCEPTS_QUEUE,
    args: [{ ...email, accepted }] as [EmailInput],
    typedSearchAttributes: new TypedSearchAttributes([
      { key: SEARCH_ATTRIBUTES.account, value: accountId },
      { key: SEARCH_ATTRIBUTES.status, value: 'queued' },
      { key: SEARCH_ATTRIBUTES.route, value: route },
      { key: SEARCH_ATTRIBUTES.request, value: requestId },
    ]),
    staticSummary: `E-mail by ${route}`,
    priority: taskPriority({ accountId, priority: false, batched: false }),
  };
}

/** How the lost workflow of an accepted e-mail is started again: what a provider has is not handed over again. */
export function emailRestart(email: StartableEmail) {
  return { ...emailStart(email, true), ...AGAIN };
}

/**
 * How events are brought to an e-mail's workflow, with a signal: one that has ended runs once more, to deliver them and nothing
 * else.
 */
export function emailLateStart(email: StartableEmail) {
  const start = emailStart(email, true);
  const input: EmailInput = { ...start.args[0], stage: 'late' };
  return { ...start, ...TO_NOTIFY, args: [input] as [EmailInput] };
}
