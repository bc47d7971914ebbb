import type { Outcome } from '../domain/incoming.ts';
import type { FinalStatus } from '../domain/statuses.ts';
import { defineSignal, defineUpdate, type LocalActivityOptions } from '@temporalio/workflow';
import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';

/** Workflow tasks and their local activities, and the regular work. */
export const MESSAGES_QUEUE = 'messages';
/** Webhook deliveries: a slow receiver must not hold up messages. */
export const WEBHOOKS_QUEUE = 'webhooks';
export const routeQueue = (route: string): string => `route-${route}`;
/** Apart from submits, which they must not delay. No route name makes this equal to another route's {@link routeQueue}. */
export const lookupQueue = (route: string): string => `lookups-${route}`;

/** Of local activities that are one database transaction each, idempotent: retried until the database answers. */
export const LOCAL_ACTIVITY: LocalActivityOptions = {
  startToCloseTimeout: '10s',
  retry: { initialInterval: '100ms', maximumInterval: '5s' },
};

/** Input of the `message` workflow, whose id is the message's. Never personal data. */
export interface MessageInput {
  accountId: string;
  requestId: string;
  route: string;
  /** Epoch milliseconds; null: immediately. */
  sendAt: number | null;
  /** When the wait for a delivery report ends, epoch milliseconds. */
  giveUpAt: number;
  priority: boolean;
}

/** Result of a submission; `events`: ids of the webhook events it caused, oldest first. */
export interface SubmissionOutcome {
  status: 'sent' | 'unanswered' | FinalStatus;
  events: string[];
}

/** Another route has the message now. */
export interface MovedOn {
  status: 'moved';
  route: string;
}

/** Not submitted: the account is suspended. */
export interface PausedSubmission {
  status: 'paused';
}

export interface Released {
  /** The route to submit by; null: the database has no such message. */
  route: string | null;
  /** Still scheduled, and its account suspended. */
  paused?: true;
  /** Cancelled: its account is closed. */
  cancelled?: true;
}

export interface SubmissionRound {
  /** How often the message has moved to another route. */
  moves: number;
}

/** From delivery reports or late answers. `sent`: only after an unanswered submit; `held`: rejected late, to be submitted again. */
export interface MessageOutcome {
  status: 'sent' | Outcome | 'held';
  events: string[];
}

/** Input of the `lookup` workflow, whose id is the look-up's (`hlr_…`). */
export interface LookupInput {
  route: string;
}

/** Input of the `email` workflow, whose id is the e-mail's (`em_…`). */
export interface EmailInput {
  accountId: string;
  requestId: string;
  route: string;
  /** When the wait for events ends, epoch milliseconds. */
  giveUpAt: number;
  /** `following`: handed over already; `late`: ended, delivers late events only. Absent: from the beginning. */
  stage?: 'following' | 'late';
}

export type HandedOver = { status: 'sent' | 'unanswered' | 'failed' } | MovedOn;

/** The account that a reply belongs to (null: none), and its pending webhook events. */
export interface SettledReply {
  accountId: string | null;
  events: string[];
}

export interface InboundResult {
  matched: boolean;
}

export interface NotifyResult {
  events: number;
}

export interface DomainsLookedAt {
  looked: number;
  /** Verified by this run. */
  verified: number;
  /** Lost on at least one route by this run. */
  lost: number;
}

export interface Tally {
  looked: number;
  repaired: number;
  /** New findings for staff (table `findings`). */
  reported: number;
}

/** Cancels a scheduled message (v2.3.0: at least 30 s before its send time). Fails with `FAILURE.notCancellable`. */
export const cancelUpdate = defineUpdate<void>('cancel');
/** For staff: submits an unanswered message again, although the SMSC may have it. Fails with `FAILURE.notUnanswered`. */
export const resubmitUpdate = defineUpdate<void>('resubmit');
/** For staff: fails and refunds an unanswered message. Fails with `FAILURE.notUnanswered`. */
export const giveUpUpdate = defineUpdate<void>('giveUp');
/** For staff: cancels a scheduled message, to the last second; ignored afterwards. */
export const cancelSignal = defineSignal('cancelMessage');
/** The account is active again. */
export const resumeSignal = defineSignal('resume');
/** What the parts' reports amount to. An update: one state transition for Temporal, a signal costs three. Idempotent by update id. */
export const outcomeUpdate = defineUpdate<void, [MessageOutcome]>('outcome');

/** Progress of a payment, whose workflow has its id. */
export interface PaymentProgress {
  /** For staff: what it waits for, or how it ended. */
  details: string;
  /** When to look at the processor again, epoch milliseconds; null: it has ended. */
  lookAt: number | null;
}

export interface RefundInput {
  /** Idempotency key at the processor. */
  id: string;
  grossGrosze: number;
}

/** Something happened to a payment at its processor, which has to be read there; with the processor's reference, if it says one. */
export const lookSignal = defineSignal<[string | null]>('look');
/** For staff: gives money back. Fails with `FAILURE.paymentRefused`. */
export const refundUpdate = defineUpdate<void, [RefundInput]>('refund');

/** Progress of a bulk, whose workflow has its id. */
export interface BulkProgress {
  /** For staff: how many of how many, and what came of them. */
  details: string;
  ended: boolean;
}

/** Ids of an e-mail's webhook events to deliver. */
export const emailEventsSignal = defineSignal<[string[]]>('emailEvents');

export const FAILURE = {
  notCancellable: 'NotCancellable',
  notUnanswered: 'NotUnanswered',
  unknownMessage: 'UnknownMessage',
  unknownEmail: 'UnknownEmail',
  unknownReply: 'UnknownReply',
  unknownPayment: 'UnknownPayment',
  paymentRefused: 'PaymentRefused',
  unusableArgument: 'UnusableArgument',
  throttled: 'Throttled',
  routeUnavailable: 'RouteUnavailable',
  webhookAttemptFailed: 'WebhookAttemptFailed',
} as const;

/** Search attributes for staff in the Temporal UI; registered by `npm run migrate` and the embedded server's start. */
export const SEARCH_ATTRIBUTES = {
  account: defineSearchAttributeKey('Account', SearchAttributeType.KEYWORD),
  status: defineSearchAttributeKey('MessageStatus', SearchAttributeType.KEYWORD),
  route: defineSearchAttributeKey('Route', SearchAttributeType.KEYWORD),
  request: defineSearchAttributeKey('Request', SearchAttributeType.KEYWORD),
  sendTime: defineSearchAttributeKey('SendTime', SearchAttributeType.DATETIME),
} as const;
