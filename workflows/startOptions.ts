import { TypedSearchAttributes } from '@temporalio/common';
import type { StartableLookup } from '../domain/submission.ts';
import type { StartableMessage } from '../domain/statuses.ts';
import {
  type EmailInput,
  type LookupInput,
  MESSAGES_QUEUE,
  type MessageInput,
  SEARCH_ATTRIBUTES,
} from './contracts.ts';

/** Inherited by activities. Priority messages first, single messages before batches; accounts in round-robin by fairness key. */
function taskPriority(of: { accountId: string; priority: boolean; batched: boolean }) {
  return { priorityKey: (of.priority ? 1 : 3) + (of.batched ? 1 : 0), fairnessKey: of.accountId };
}

// Starts are idempotent: a repeated one finds the running workflow, and none runs again once it has ended.
const ONCE = {
  workflowIdConflictPolicy: 'USE_EXISTING',
  workflowIdReusePolicy: 'REJECT_DUPLICATE',
  // The caller of the API waits 8 s: a task lost with its worker has to be rescheduled well within that.
  workflowTaskTimeout: '4s',
} as const;

// No caller waits: a server under load had better finish late than restart the task again and again.
const NO_CALLER = { workflowTaskTimeout: '10s' } as const;

// A terminated or failed workflow may be started again: all steps are safe to repeat.
const RESTART = { workflowIdReusePolicy: 'ALLOW_DUPLICATE_FAILED_ONLY' } as const;

const CHANNEL_NAMES = { sms: 'SMS', mms: 'MMS', vms: 'Call' } as const;

/** Start options of the `message` workflow. No personal data. */
export function messageStart(message: StartableMessage) {
  const { id, channel, accountId, requestId, batched, route, sendAt, giveUpAt, priority } = message;
  const input: MessageInput = { accountId, requestId, route, sendAt, giveUpAt, priority };
  return {
    ...ONCE,
    ...NO_CALLER,
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

/** Start options for a lost `message` workflow: never charges twice, never submits parts that an SMSC may have. */
export function messageRestart(message: StartableMessage) {
  return { ...messageStart(message), ...RESTART };
}

/** Allows a completed workflow to run again after Temporal or the database was restored. Such a run does only what is still open. */
export const TO_REPEAT = { workflowIdReusePolicy: 'ALLOW_DUPLICATE' } as const;

// For workflows that only do what the database has as open.
const REPEATABLE = { ...ONCE, ...TO_REPEAT } as const;

/** Start options of the `inbound` workflow. @param id the reply's (`in_…`) */
export function inboundStart(id: string) {
  return {
    ...REPEATABLE,
    workflowId: id,
    taskQueue: MESSAGES_QUEUE,
    args: [] as [],
    staticSummary: 'Reply from a phone',
    priority: { priorityKey: 3, fairnessKey: 'inbound' },
  };
}

/** Start options of the `notify` workflow. @param id a webhook event's (`evt_…`) */
export function notifyStart({ id, accountId }: { id: string; accountId: string }) {
  return {
    ...REPEATABLE,
    workflowId: id,
    taskQueue: MESSAGES_QUEUE,
    args: [] as [],
    typedSearchAttributes: new TypedSearchAttributes([{ key: SEARCH_ATTRIBUTES.account, value: accountId }]),
    staticSummary: 'Webhook event of a link, a verification or a sender domain, or one left over',
    priority: { priorityKey: 5, fairnessKey: accountId },
  };
}

/** Start options of the `lookup` workflow (`hlr_…`). Highest priority: the caller waits, and a late answer is refunded. */
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

/** Start options of the `resend` workflow. @param id the event's with the round (`evt_…-1`) */
export function resendStart({ id, accountId }: { id: string; accountId: string }) {
  return {
    ...REPEATABLE,
    workflowId: id,
    taskQueue: MESSAGES_QUEUE,
    args: [] as [],
    typedSearchAttributes: new TypedSearchAttributes([{ key: SEARCH_ATTRIBUTES.account, value: accountId }]),
    staticSummary: 'Webhook event delivered again',
    // After first deliveries.
    priority: { priorityKey: 5, fairnessKey: accountId },
  };
}

/** Start options of the `topup` workflow (`pay_…`). One that has ended runs again when something happens to its payment. */
export function topupStart({ id, accountId }: { id: string; accountId: string }) {
  return {
    ...REPEATABLE,
    ...NO_CALLER,
    workflowId: id,
    taskQueue: MESSAGES_QUEUE,
    args: [] as [],
    typedSearchAttributes: new TypedSearchAttributes([{ key: SEARCH_ATTRIBUTES.account, value: accountId }]),
    staticSummary: 'Payment by a processor',
    priority: { priorityKey: 3, fairnessKey: accountId },
  };
}

/** Start options of the `bulk` workflow (`bulk_…`). After whatever customers wait for. */
export function bulkStart(id: string) {
  return {
    ...REPEATABLE,
    ...NO_CALLER,
    workflowId: id,
    taskQueue: MESSAGES_QUEUE,
    args: [] as [],
    staticSummary: 'An action of staff on many things',
    priority: { priorityKey: 5, fairnessKey: 'bulk' },
  };
}

export interface StartableEmail extends Omit<EmailInput, 'stage'> {
  id: string;
}

/** Start options of the `email` workflow (`em_…`). */
export function emailStart({ id, ...email }: StartableEmail) {
  const { accountId, requestId, route } = email;
  return {
    ...ONCE,
    ...NO_CALLER,
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

/** Start options for a lost `email` workflow. What a provider may have is not handed over again. */
export function emailRestart(email: StartableEmail) {
  return { ...emailStart(email), ...RESTART };
}

/** For a signal-with-start of late events: a workflow that has ended runs once more, only to deliver them. */
export function emailLateStart(email: StartableEmail) {
  const start = emailStart(email);
  const input: EmailInput = { ...start.args[0], stage: 'late' };
  return { ...start, ...TO_REPEAT, args: [input] as [EmailInput] };
}
