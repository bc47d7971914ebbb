import { Counter, Histogram } from 'prom-client';
import { ACCEPTED_STATUSES, FINAL_STATUSES } from '../domain/statuses.ts';
import { ANSWER_SECONDS, registry, startAtZero, WAIT_SECONDS } from './registry.ts';
import { tracing } from './tracing.ts';

const REQUESTS = [...ACCEPTED_STATUSES, 'insufficient_funds', 'abandoned', 'unresolved'] as const;

/** What became of a message that somebody asked to send. */
export type Request = (typeof REQUESTS)[number];

const requested = new Counter({
  name: 'goniec_messages_requested_total',
  help: 'Messages of valid requests: accepted as queued or scheduled, rejected (blacklist), refused for want of funds, abandoned (502, 504), unresolved (nobody knows).',
  labelNames: ['outcome'],
  registers: [registry],
});
startAtZero(requested, 'outcome', REQUESTS);
const ended = new Counter({
  name: 'goniec_messages_ended_total',
  help: 'Messages that reached their final status, except those rejected or refused at once.',
  labelNames: ['status'],
  registers: [registry],
});
startAtZero(ended, 'status', FINAL_STATUSES);
const submitDelay = new Histogram({
  name: 'goniec_message_submit_delay_seconds',
  help: 'From the acceptance (or the send time, where there is one) until the provider had all parts.',
  buckets: WAIT_SECONDS,
  registers: [registry],
});
const deliveryDelay = new Histogram({
  name: 'goniec_message_delivery_delay_seconds',
  help: 'From the acceptance (or the send time, where there is one) until all parts were reported delivered.',
  buckets: WAIT_SECONDS,
  registers: [registry],
});
const submits = new Histogram({
  name: 'goniec_submit_duration_seconds',
  help: "From handing parts to a route until the provider's answer, or until there was none in time.",
  labelNames: ['route', 'answer'],
  buckets: ANSWER_SECONDS,
  registers: [registry],
});
const reports = new Counter({
  name: 'goniec_delivery_reports_total',
  help: 'Delivery reports that came, by their state.',
  labelNames: ['route', 'state'],
  registers: [registry],
});

/** Counts messages that were to be sent. */
export function countRequested(outcome: Request, messages = 1): void {
  requested.inc({ outcome }, messages);
}

const ENDS: ReadonlySet<string> = new Set(FINAL_STATUSES);

/** Counts messages that have ended; any other status is none of an end and is left out. */
export function countEnd(status: string, messages = 1): void {
  if (ENDS.has(status) && messages > 0) ended.inc({ status }, messages);
}

/** @param seconds since the message was due; null: it was not this time that it became sent */
export function observeSent(seconds: number | null): void {
  if (seconds !== null) submitDelay.observe(Math.max(seconds, 0));
}

/** @param seconds since the message was due */
export function observeDelivered(seconds: number): void {
  deliveryDelay.observe(Math.max(seconds, 0));
}

// A part that is to come later is no fault.
const TAKEN = new Set(['accepted', 'throttled', 'later']);

/** @param answer the kind of a `SubmitAnswer` */
export function observeSubmit(route: string, answer: string, seconds: number): void {
  submits.observe({ route, answer }, seconds);
  const failure = TAKEN.has(answer) ? undefined : answer;
  tracing()?.ended('submit', seconds, { 'goniec.route': route, 'goniec.answer': answer }, failure);
}

/** @param found the states of one delivery's reports, of a closed list */
export function countReports(route: string, found: readonly { state: string }[]): void {
  for (const { state } of found) reports.inc({ route, state });
}
