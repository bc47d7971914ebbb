import { createHmac } from 'node:crypto';
import { decrypt } from '../db/installation.ts';
import { eventBody } from '../db/webhooks/eventBody.ts';
import { endDelivery, loadEvent, logAttempt, type WebhookEvent } from '../db/webhooks/webhooks.ts';
import {
  attemptsOf,
  earlierSignatureOf,
  earlierSignedText,
  isEarlierEvent,
  pauseAfterAttempt,
  PREVIOUS_SIGNATURE_HEADER,
  SIGNATURE_HEADER,
  signatureOf,
  signedText,
} from '../domain/webhooks.ts';
import type { Database } from '../db/connection.ts';
import { addIds } from '../telemetry/ids.ts';
import { countEvent, observeAttempt } from '../telemetry/messageMetrics.ts';
import { type Delivery, headerLines, type Outgoing } from './outgoingHttp.ts';
import type { QuickLane } from './quickLane.ts';

// `X-Service-Signature` has exactly one signature, by the latest secret: receivers parse it as documented (v2.3.0, Events).
function signaturesOf(
  { accountId, type, secret, secretBefore }: WebhookEvent,
  secretsKey: Buffer,
  body: string,
  now: number,
): Record<string, string> {
  if (secret === null) throw new Error('an account with a webhook has a secret');
  const t = Math.floor(now / 1000);
  const signBy = isEarlierEvent(type) ? signEarlier : sign;
  const signed = (stored: Buffer): string => signBy(body, decrypt(secretsKey, accountId, stored), t);
  return {
    [SIGNATURE_HEADER]: signed(secret),
    ...(secretBefore === null ? {} : { [PREVIOUS_SIGNATURE_HEADER]: signed(secretBefore) }),
  };
}

/** The signature header of a webhook call (v2.3.0, Events). @param t Unix time in seconds */
export function sign(body: string, secret: string, t: number): string {
  return signatureOf(t, createHmac('sha256', secret).update(signedText(t, body)).digest('hex'));
}

// v1.2.0, Events.
function signEarlier(body: string, secret: string, t: number): string {
  return earlierSignatureOf(t, createHmac('sha256', secret).update(earlierSignedText(t, body)).digest('hex'));
}

export interface WebhookContext {
  sql: Database;
  outgoing: Outgoing;
  secretsKey: Buffer;
  shortUrl: string;
  /** Receivers whose last response was quick, by origin. */
  quick: QuickLane;
}

/**
 * Makes first attempts at a message's new events, in order, before its workflow learns of them: each one delivered saves it an activity.
 * Stops at a receiver that is not quick, and makes none while the workflow has earlier events to deliver.
 * @returns the events left to the workflow
 */
export async function notifyFirst(notifying: WebhookContext, events: readonly string[]): Promise<string[]> {
  for (const [index, id] of events.entries()) {
    try {
      const event = await loadEvent(notifying.sql, id);
      const isNext = !event?.after || events.includes(event.after);
      if (!isNext || (await firstAttempt(notifying, event)) !== null) return events.slice(index);
    } catch {
      // The workflow's own attempt will fail and report it; the outcome itself must still reach the workflow.
      return events.slice(index);
    }
  }
  return [];
}

/** Makes only the first attempt, and only if the receiver is known to be quick. @returns milliseconds until the next one; null: none */
export async function notifyIfQuick(notifying: WebhookContext, delivery: string): Promise<number | null> {
  return await firstAttempt(notifying, await loadEvent(notifying.sql, delivery));
}

async function firstAttempt(notifying: WebhookContext, event: WebhookEvent | null): Promise<number | null> {
  if (event?.state !== 'pending') return null;
  addEventIds(event);
  if (event.attempts > 0) return pauseAfter(event, event.attempts);
  const leave = event.url && event.secret ? notifying.quick.tryAcquire(originOf(event.url)) : null;
  if (leave === null) return 0;
  try {
    const { state, nextInMs } = await attempt(notifying, event);
    return state === 'pending' ? nextInMs : null;
  } finally {
    leave();
  }
}

/** Adds an event's ids to the log lines of this activity. */
export function addEventIds({ accountId, subjectKind, subjectId }: WebhookEvent): void {
  addIds({ accountId, ...(subjectKind === 'message' ? { messageId: subjectId } : {}) });
}

function pauseAfter({ type }: WebhookEvent, attempts: number): number {
  return pauseAfterAttempt(attempts, attemptsOf(type)) ?? 0;
}

function originOf(url: string): string {
  return new URL(url).origin;
}

export type Ended = 'delivered' | 'exhausted';

/** `pending`: the next attempt is due in `nextInMs`. */
interface Attempted {
  state: Ended | 'pending';
  nextInMs: number;
  statusCode: number | null;
}

/** Makes and logs the next attempt of a pending delivery. With no attempts left, or no webhook any more, the delivery is exhausted. */
export async function attempt(notifying: WebhookContext, event: WebhookEvent): Promise<Attempted> {
  const { sql, quick } = notifying;
  const { url, secret, attempts } = event;
  if (!url || !secret || attempts >= attemptsOf(event.type)) {
    await endDelivery(sql, event, 'exhausted');
    countEnd(event, 'exhausted');
    return { state: 'exhausted', nextInMs: 0, statusCode: null };
  }
  const { delivered, ...result } = await post(notifying, event, url);
  const state = delivered ? 'delivered' : attempts + 1 >= attemptsOf(event.type) ? 'exhausted' : 'pending';
  await logAttempt(sql, event, { url, ...result }, state);
  observeAttempt(result.statusCode, result.durationMs);
  if (state !== 'pending') countEnd(event, state);
  quick.record(originOf(url), { ms: result.durationMs, well: delivered });
  return { state, nextInMs: pauseAfter(event, attempts + 1), statusCode: result.statusCode };
}

// An event counts once, however often it is redelivered.
function countEnd({ round }: WebhookEvent, state: Ended): void {
  if (round === 0) countEvent(state);
}

async function post(
  { sql, outgoing, secretsKey, shortUrl }: WebhookContext,
  event: WebhookEvent,
  url: string,
): Promise<Delivery & { sentHeaders: string; delivered: boolean }> {
  const body = await eventBody(sql, event, shortUrl);
  const headers = {
    'Content-Type': 'application/json',
    'User-Agent': userAgentOf(event),
    ...signaturesOf(event, secretsKey, body, Date.now()),
  };
  const result = await outgoing.post(url, headers, body);
  const delivered = result.statusCode !== null && result.statusCode >= 200 && result.statusCode < 300;
  return { ...result, sentHeaders: headerLines(headers), delivered };
}

// v1.2.0, Events, prescribes its own.
function userAgentOf({ type }: WebhookEvent): string {
  return isEarlierEvent(type) ? 'Service-Webhook/1.0' : 'goniec-webhooks/1';
}
