import { ACCEPTED_STATUSES, FINAL_STATUSES } from '../domain/statuses.ts';
import { counter, histogram, WAIT_SECONDS } from './metrics.ts';
import { recordEnded } from './tracing.ts';

const REQUESTS = [...ACCEPTED_STATUSES, 'insufficient_funds', 'abandoned', 'unresolved'] as const;
const ENDS: ReadonlySet<string> = new Set(FINAL_STATUSES);
const EVENT_OUTCOMES = ['delivered', 'exhausted'] as const;
// Not failures: the part will be retried.
const TAKEN = new Set(['accepted', 'throttled', 'later']);

type Request = (typeof REQUESTS)[number];

const requested = counter(
  'goniec_messages_requested_total',
  'Messages of valid requests: accepted as queued or scheduled, rejected (blacklist), refused for want of funds, abandoned (502, 504), unresolved (nobody knows).',
  ['outcome'],
  REQUESTS.map((outcome) => ({ outcome })),
);
const ended = counter(
  'goniec_messages_ended_total',
  'Messages that reached their final status, except those rejected or refused at once.',
  ['status'],
  FINAL_STATUSES.map((status) => ({ status })),
);
const submitDelay = histogram(
  'goniec_message_submit_delay_seconds',
  'From the acceptance (or the send time, where there is one) until the provider had all parts.',
  [],
  WAIT_SECONDS,
);
const deliveryDelay = histogram(
  'goniec_message_delivery_delay_seconds',
  'From the acceptance (or the send time, where there is one) until all parts were reported delivered.',
  [],
  WAIT_SECONDS,
);
const submits = histogram(
  'goniec_submit_duration_seconds',
  "From handing parts to a route until the provider's answer, or until there was none in time.",
  ['route', 'answer'],
);
const attempts = histogram(
  'goniec_webhook_attempt_duration_seconds',
  "One call of a customer's webhook: delivered (2xx), refused (any other status) or no answer.",
  ['outcome'],
);
const events = counter(
  'goniec_webhook_events_total',
  'Webhook events that were delivered, or given up after their last attempt (exhausted).',
  ['outcome'],
  EVENT_OUTCOMES.map((outcome) => ({ outcome })),
);

const reports = counter('goniec_delivery_reports_total', 'Delivery reports that came, by their state.', [
  'route',
  'state',
]);
/** Each event is counted once it is applied to its e-mail. */
export const emailEventCounter = counter(
  'goniec_email_events_total',
  'What providers reported of e-mails, by kind, as it was applied.',
  ['route', 'kind'],
);
/** `robot` is `true` or `false`. */
export const clickCounter = counter(
  'goniec_link_clicks_total',
  'Visits to tracked links, by whether a program made them.',
  ['robot'],
);
/** `outcome` is `matched` or `unmatched`. */
export const replyCounter = counter(
  'goniec_replies_total',
  "Replies from phones that were looked at: whose they are was found (matched), or they are nobody's.",
  ['outcome'],
);

export function countRequested(outcome: Request, messages = 1): void {
  requested.inc({ outcome }, messages);
}

/** Counts messages in a final status; others are ignored. */
export function countEnd(status: string, messages = 1): void {
  if (ENDS.has(status) && messages > 0) ended.inc({ status }, messages);
}

/** @param seconds since the message was due; null: it had been sent before */
export function observeSent(seconds: number | null): void {
  if (seconds !== null) submitDelay.observe(Math.max(seconds, 0));
}

/** @param seconds since the message was due */
export function observeDelivered(seconds: number): void {
  deliveryDelay.observe(Math.max(seconds, 0));
}

/** @param answer the kind of a `SubmitAnswer` */
export function observeSubmit(route: string, answer: string, seconds: number): void {
  submits.observe({ route, answer }, seconds);
  const failure = TAKEN.has(answer) ? undefined : answer;
  recordEnded('submit', seconds, { 'goniec.route': route, 'goniec.answer': answer }, { failure });
}

/** @param found report states, of a closed list */
export function countReports(route: string, found: readonly { state: string }[]): void {
  for (const { state } of found) reports.inc({ route, state });
}

/** Counts one attempt. @param statusCode null without an answer */
export function observeAttempt(statusCode: number | null, durationMs: number): void {
  const outcome =
    statusCode === null ? 'no_answer' : statusCode >= 200 && statusCode < 300 ? 'delivered' : 'refused';
  attempts.observe({ outcome }, durationMs / 1000);
  const status = statusCode === null ? {} : { 'http.response.status_code': statusCode };
  const failure = outcome === 'delivered' ? undefined : outcome;
  recordEnded('webhook attempt', durationMs / 1000, { 'goniec.outcome': outcome, ...status }, { failure });
}

export function countEvent(outcome: (typeof EVENT_OUTCOMES)[number]): void {
  events.inc({ outcome });
}
