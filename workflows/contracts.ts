import type { Outcome } from '../domain/incoming.ts';
import type { FinalStatus } from '../domain/statuses.ts';
import { defineSignal, defineUpdate } from '@temporalio/workflow';
import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';

/** Workflow tasks, and the activities that belong to no provider and no receiver. */
export const MESSAGES_QUEUE = 'messages';
/** Webhook deliveries: their own queue, so that a slow receiver holds up nobody's messages. */
export const WEBHOOKS_QUEUE = 'webhooks';
/** Submits to one provider; its allowed rate is a property of this queue. */
export const routeQueue = (route: string): string => `route-${route}`;
/** Look-ups by one provider: their own queue, so that they take no submit's place. No route's name makes it another one's {@link routeQueue}. */
export const lookupQueue = (route: string): string => `lookups-${route}`;

/** Input of the `message` workflow; its id is the message's id. Instants and identifiers only, never personal data. */
export interface MessageInput {
  accountId: string;
  requestId: string;
  route: string;
  /** When to submit, epoch milliseconds; null means at once. */
  sendAt: number | null;
  /** When the wait for a delivery report ends, epoch milliseconds. */
  giveUpAt: number;
  priority: boolean;
}

/** What became of a submission; `events` are the webhook events it caused, oldest first. */
export interface SubmissionOutcome {
  status: 'sent' | 'unanswered' | FinalStatus;
  events: string[];
}

/** A submission that its route cannot make: another one has the message now. */
export interface MovedOn {
  status: 'moved';
  /** The route that has it. */
  route: string;
}

/** A submission that is not to be made before the message's account, which is suspended, is active again. */
export interface PausedSubmission {
  status: 'paused';
}

/** What the end of the wait for its send time came to. */
export interface Released {
  /** The route that the message is to take; null where the database knows no such message. */
  route: string | null;
  /** It is still scheduled, and waits for its account. */
  paused?: true;
  /** Its account is closed. */
  cancelled?: true;
}

/** What a submission is given beside its message. */
export interface SubmissionRound {
  /** How often the message has moved to another route so far. */
  moves: number;
}

/**
 * An outcome found by delivery reports or late answers. `sent` comes this way only for a submit that was unanswered before;
 * `held` says that the SMSC has not taken it, so that it is to be submitted again.
 */
export interface MessageOutcome {
  status: 'sent' | Outcome | 'held';
  events: string[];
}

/** Input of the `lookup` workflow; its id is the look-up's (`hlr_…`). */
export interface LookupInput {
  route: string;
}

/** Input of the `email` workflow; its id is the e-mail's (`em_…`). */
export interface EmailInput {
  accountId: string;
  requestId: string;
  route: string;
  /** When the wait for events ends, epoch milliseconds. */
  giveUpAt: number;
  /** `following`: the provider has it; `late`: it is over, and events that came since are delivered. Absent: from the beginning. */
  stage?: 'following' | 'late';
}

/** What a hand-over came to. */
export type HandedOver = { status: 'sent' | 'unanswered' | 'failed' } | MovedOn;

/** Final word of an `email` workflow. */
export interface EmailResult {
  status: string;
}

/** Final word of a `message` workflow, shown as its result in the Temporal UI. */
export interface MessageResult {
  status: string;
}

/** Whose a reply turned out to be (null: nobody's), with the webhook events that are still to be delivered. */
export interface SettledReply {
  accountId: string | null;
  events: string[];
}

/** Final word of an `inbound` workflow. */
export interface InboundResult {
  matched: boolean;
}

/** Final word of a `notify` workflow. */
export interface NotifyResult {
  /** How many events it delivered, or gave up. */
  events: number;
}

/** What a run over the sender domains came to. */
export interface DomainsLookedAt {
  looked: number;
  /** Verified now, and not before. */
  verified: number;
  /** Lost now, by a route at least. */
  lost: number;
}

/** What a step of the `reconciliation` workflow came to, in things it looked at. */
export interface Tally {
  looked: number;
  /** Put right. */
  repaired: number;
  /** Left to a person from now on: newly open in the table `findings`. */
  reported: number;
}

/** Cancels a scheduled message (v2.3.0: at least 30 s before its send time). Fails with `FAILURE.notCancellable`. */
export const cancelUpdate = defineUpdate<void>('cancel');
/**
 * For staff: submits a message again whose submit was left unanswered, although the SMSC may have it. Fails with
 * `FAILURE.notUnanswered`.
 */
export const resubmitUpdate = defineUpdate<void>('resubmit');
/** For staff: gives such a message up: it has failed and is refunded. Fails with `FAILURE.notUnanswered`. */
export const giveUpUpdate = defineUpdate<void>('giveUp');
/** For staff: cancels as long as the message is scheduled, to the last second; without effect afterwards. */
export const cancelSignal = defineSignal('cancelMessage');
/** The account is active again: what waits for that goes on. */
export const resumeSignal = defineSignal('resume');
/**
 * What the delivery reports of all parts come to. An update, as it costs Temporal one state transition and a signal three; asked again with
 * the same update id it is the same one.
 */
export const outcomeUpdate = defineUpdate<void, [MessageOutcome]>('outcome');

/** Webhook events of an e-mail, to be delivered; by their ids. */
export const emailEventsSignal = defineSignal<[string[]]>('emailEvents');

/** Types of failures that callers and retry policies tell apart. */
export const FAILURE = {
  notCancellable: 'NotCancellable',
  notUnanswered: 'NotUnanswered',
  unknownMessage: 'UnknownMessage',
  unknownEmail: 'UnknownEmail',
  unknownReply: 'UnknownReply',
  unusableArgument: 'UnusableArgument',
  throttled: 'Throttled',
  routeUnavailable: 'RouteUnavailable',
  webhookAttemptFailed: 'WebhookAttemptFailed',
} as const;

/** What staff search by in the Temporal UI; registered by `npm run migrate` and by the embedded server's start. */
export const SEARCH_ATTRIBUTES = {
  account: defineSearchAttributeKey('Account', SearchAttributeType.KEYWORD),
  status: defineSearchAttributeKey('MessageStatus', SearchAttributeType.KEYWORD),
  route: defineSearchAttributeKey('Route', SearchAttributeType.KEYWORD),
  request: defineSearchAttributeKey('Request', SearchAttributeType.KEYWORD),
  sendTime: defineSearchAttributeKey('SendTime', SearchAttributeType.DATETIME),
} as const;
