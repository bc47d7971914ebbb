import { Counter, Histogram } from 'prom-client';
import { ANSWER_SECONDS, registry, startAtZero } from './registry.ts';
import { tracing } from './tracing.ts';

const EVENT_OUTCOMES = ['delivered', 'exhausted'] as const;

const attempts = new Histogram({
  name: 'goniec_webhook_attempt_duration_seconds',
  help: "One call of a customer's webhook: delivered (2xx), refused (any other status) or no answer.",
  labelNames: ['outcome'],
  buckets: ANSWER_SECONDS,
  registers: [registry],
});
const events = new Counter({
  name: 'goniec_webhook_events_total',
  help: 'Webhook events that were delivered, or given up after their last attempt (exhausted).',
  labelNames: ['outcome'],
  registers: [registry],
});
startAtZero(events, 'outcome', EVENT_OUTCOMES);
const clicks = new Counter({
  name: 'goniec_link_clicks_total',
  help: 'Visits to tracked links, by whether a program made them.',
  labelNames: ['robot'],
  registers: [registry],
});
const replies = new Counter({
  name: 'goniec_replies_total',
  help: "Replies from phones that were looked at: whose they are was found (matched), or they are nobody's.",
  labelNames: ['outcome'],
  registers: [registry],
});

/**
 * Counts one call of a webhook.
 * @param statusCode null without an answer
 */
export function observeAttempt(statusCode: number | null, durationMs: number): void {
  const outcome =
    statusCode === null ? 'no_answer' : statusCode >= 200 && statusCode < 300 ? 'delivered' : 'refused';
  attempts.observe({ outcome }, durationMs / 1000);
  const status = statusCode === null ? {} : { 'http.response.status_code': statusCode };
  const failure = outcome === 'delivered' ? undefined : outcome;
  tracing()?.ended('webhook attempt', durationMs / 1000, { 'goniec.outcome': outcome, ...status }, failure);
}

/** Counts an event that is to be delivered no more. */
export function countEvent(outcome: (typeof EVENT_OUTCOMES)[number]): void {
  events.inc({ outcome });
}

/** Counts a visit to a tracked link. */
export function countClick(robot: boolean): void {
  clicks.inc({ robot: String(robot) });
}

/** Counts a reply whose owner was looked for. */
export function countReply(matched: boolean): void {
  replies.inc({ outcome: matched ? 'matched' : 'unmatched' });
}
