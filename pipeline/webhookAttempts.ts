import type { Database } from '../db/connection.ts';
import { exhaustEvent, loadEvent, logAttempt, type WebhookEvent } from '../db/webhooks/webhooks.ts';
import { attemptsOf, isEarlierEvent, pauseAfterAttempt } from '../domain/webhooks.ts';
import { addIds } from '../telemetry/ids.ts';
import { countEvent, observeAttempt } from '../telemetry/messageMetrics.ts';
import type { AttemptLeft, Notified } from '../workflows/contracts.ts';
import type { Delivery, Outgoing } from './outgoingHttp.ts';
import type { QuickLane } from './quickLane.ts';
import { signaturesOf } from './signatures.ts';
import { bodyOf } from './webhookEnvelope.ts';

/** What notifying receivers needs. */
export interface Notifying {
  sql: Database;
  outgoing: Outgoing;
  secretsKey: Buffer;
  /** Where short links lead, for events that name a link. */
  shortUrl: string;
  /** Receivers that answered quickly the last time, by origin. */
  quick: QuickLane;
}

/**
 * Makes the first attempts at all events of a message, in their order, each once, up to the first of which something is left; none
 * while its workflow has others to deliver before.
 * @returns what is left of each that was tried
 */
export async function notifyInOrder(notifying: Notifying, events: readonly string[]): Promise<Notified> {
  const notified: Notified = [];
  for (const id of events) {
    const event = await loadEvent(notifying.sql, id);
    if (event?.after && !events.includes(event.after)) break;
    const left = await notifyOnce(notifying, event);
    notified.push(left);
    if (left !== null) break;
  }
  return notified;
}

/**
 * Makes the first attempt, and only that, when the receiver is known to answer quickly; logs it like any other.
 * @returns null when nothing is left to do
 */
export async function notifyOnce(
  notifying: Notifying,
  event: WebhookEvent | null,
): Promise<AttemptLeft | null> {
  if (!event || event.state !== 'pending') return null;
  nameInLogs(event);
  if (event.attempts > 0) return { nextInMs: pauseAfter(event, event.attempts) ?? 0 };
  const leave = event.url && event.secret ? notifying.quick.enter(originOf(event.url)) : null;
  if (leave === null) return { nextInMs: 0 };

  try {
    const { delivered } = await attempt(notifying, event, event.url!, 1);
    const pause = delivered ? null : pauseAfter(event, 1);
    return pause === null ? null : { nextInMs: pause };
  } finally {
    leave();
  }
}

/** Names what an event is about in the log of this step. */
export function nameInLogs({ accountId, subjectKind, subjectId }: WebhookEvent): void {
  addIds({ accountId, ...(subjectKind === 'message' ? { messageId: subjectId } : {}) });
}

/** As `pauseAfterAttempt`, by how often the event is tried. */
export function pauseAfter({ type }: WebhookEvent, number: number): number | null {
  return pauseAfterAttempt(number, attemptsOf(type));
}

function originOf(url: string): string {
  return new URL(url).origin;
}

/** How an attempt went. */
export type Attempt = Delivery & { delivered: boolean };

/** Makes an attempt, and logs it with what it makes of the event. @param number which of the event's, from 1 */
export async function attempt(
  notifying: Notifying,
  event: WebhookEvent,
  url: string,
  number: number,
): Promise<Attempt> {
  const { delivered, ...result } = await post(notifying, event, url);
  const state = delivered ? 'delivered' : number >= attemptsOf(event.type) ? 'exhausted' : 'pending';
  await logAttempt(notifying.sql, { eventId: event.id, attempt: number, url, ...result }, state);
  observeAttempt(result.statusCode, result.durationMs);
  if (state !== 'pending') countEvent(state);
  notifying.quick.learn(originOf(url), { ms: result.durationMs, well: delivered });
  return { ...result, delivered };
}

/** Posts an event, signed; logs nothing. */
export async function post(
  { sql, outgoing, secretsKey, shortUrl }: Notifying,
  event: WebhookEvent,
  url: string,
): Promise<Attempt> {
  const body = JSON.stringify(await bodyOf(sql, event, shortUrl));
  const headers = signaturesOf(event, secretsKey, body, Date.now());
  const result = await outgoing.post(
    url,
    { 'content-type': 'application/json', 'user-agent': userAgentOf(event), ...headers },
    body,
  );
  const delivered = result.statusCode !== null && result.statusCode >= 200 && result.statusCode < 300;
  return { ...result, delivered };
}

// v1.2.0, Events, names its own.
function userAgentOf({ type }: WebhookEvent): string {
  return isEarlierEvent(type) ? 'Service-Webhook/1.0' : 'goniec-webhooks/1';
}

/** Ends an event that no attempt delivered. */
export async function exhaust(sql: Database, eventId: string): Promise<void> {
  if (await exhaustEvent(sql, eventId)) countEvent('exhausted');
}
