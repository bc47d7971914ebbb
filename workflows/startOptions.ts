import { TypedSearchAttributes } from '@temporalio/common';
import type { StartableLookup } from '../domain/submission.ts';
import type { StartableMessage } from '../domain/statuses.ts';
import type { EmailInput, LookupInput, MessageInput } from './contracts.ts';
import { MESSAGES_QUEUE, SEARCH_ATTRIBUTES } from './contracts.ts';

/**
 * Task priority, which the activities of a workflow inherit: priority messages before all others, and single ones
 * before the many of one request. Accounts take turns among equals.
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

/** As staff read it in the Temporal UI. */
const CHANNEL_NAMES = { sms: 'SMS', mms: 'MMS', vms: 'Call' } as const;

/**
 * How the `message` workflow of an accepted message is started; its id is the message's. Nothing in here is personal data.
 */
export function messageStart(message: StartableMessage) {
  const { id, channel, accountId, requestId, batched, route, sendAt, giveUpAt, priority } = message;
  const input: MessageInput = { accountId, requestId, route, sendAt, giveUpAt, priority };
  return {
    ...ONCE,
    ...PATIENT,
    workflowId: id,
    taskQueue: MESSAGES_QUEUE,
    args: [input] as [MessageInput],
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
 */
export function messageRestart(message: StartableMessage) {
  return { ...messageStart(message), ...AGAIN };
}

/**
 * How a workflow is run once more that has completed, in the eyes of a Temporal or a database that was restored: to wait for the report of
 * a message that is sent, to settle a reply, to deliver what is pending. What is done none of them does again.
 */
export const TO_REPEAT = { workflowIdReusePolicy: 'ALLOW_DUPLICATE' } as const;

// Run whenever the database has something open, as it may after it was restored: what is done none of these does again.
const WHENEVER = { ...ONCE, ...TO_REPEAT } as const;

/**
 * How the `inbound` workflow of a stored reply is started; its id is the reply's (`in_…`). Whose it is, the workflow finds
 * out.
 */
export function inboundStart(id: string) {
  return {
    ...WHENEVER,
    workflowId: id,
    taskQueue: MESSAGES_QUEUE,
    args: [] as [],
    staticSummary: 'Reply from a phone',
    priority: { priorityKey: 3, fairnessKey: 'inbound' },
  };
}

/** How the `notify` workflow is started, as often as there is something to deliver; its id is that of a webhook event (`evt_…`). */
export function notifyStart({ id, accountId }: { id: string; accountId: string }) {
  return {
    ...WHENEVER,
    workflowId: id,
    taskQueue: MESSAGES_QUEUE,
    args: [] as [],
    typedSearchAttributes: new TypedSearchAttributes([{ key: SEARCH_ATTRIBUTES.account, value: accountId }]),
    staticSummary: 'Webhook event of a link or a sender domain, or one left over',
    priority: { priorityKey: 5, fairnessKey: accountId },
  };
}

/**
 * How the `lookup` workflow is started; its id is the look-up's (`hlr_…`). It goes before all else: its caller waits for
 * the provider's answer, and is refunded when that comes too late.
 */
export function lookupStart({ id, accountId, route }: StartableLookup) {
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

/** How the `resend` workflow of a webhook event is started; its id is the event's with the round (`evt_…-1`). */
export function resendStart({ id, accountId }: { id: string; accountId: string }) {
  return {
    ...WHENEVER,
    workflowId: id,
    taskQueue: MESSAGES_QUEUE,
    args: [] as [],
    typedSearchAttributes: new TypedSearchAttributes([{ key: SEARCH_ATTRIBUTES.account, value: accountId }]),
    staticSummary: 'Webhook event delivered again',
    // Behind everything that is delivered for the first time.
    priority: { priorityKey: 5, fairnessKey: accountId },
  };
}

/** An e-mail, as far as its workflow is started with it. */
export interface StartableEmail extends Omit<EmailInput, 'stage'> {
  id: string;
}

/** How the `email` workflow of an accepted e-mail is started; its id is the e-mail's (`em_…`). */
export function emailStart({ id, ...email }: StartableEmail) {
  const { accountId, requestId, route } = email;
  return {
    ...ONCE,
    ...PATIENT,
    workflowId: id,
    taskQueue: MESSAGES_QUEUE,
    args: [email] as [EmailInput],
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
  return { ...emailStart(email), ...AGAIN };
}

/**
 * How events are brought to an e-mail's workflow, with a signal: one that has ended runs once more, to deliver them and nothing
 * else.
 */
export function emailLateStart(email: StartableEmail) {
  const start = emailStart(email);
  const input: EmailInput = { ...start.args[0], stage: 'late' };
  return { ...start, ...TO_REPEAT, args: [input] as [EmailInput] };
}
