import { createHmac } from 'node:crypto';
import { decrypt } from '../db/installation.ts';
import {
  type EmailEventSnapshot,
  eventIncoming,
  eventLink,
  eventMessage,
  eventReply,
  eventReported,
  endDelivery,
  loadEvent,
  logAttempt,
  type StatusSnapshot,
  type WebhookEvent,
} from '../db/webhooks/webhooks.ts';
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
import { readNotifiedEvent } from '../db/emails/events.ts';
import type { ClickSnapshot } from '../db/links/links.ts';
import { deliveryReportEvent, incomingSmsEvent } from '../domain/earlier.ts';
import { emailEvent } from '../domain/email/dns.ts';
import { inboundRecord } from '../domain/incoming.ts';
import { linkRecord } from '../domain/links.ts';
import { messageRecord, type MessageRow } from '../domain/records.ts';
import { addIds } from '../telemetry/ids.ts';
import { countEvent, observeAttempt } from '../telemetry/messageMetrics.ts';
import type { Delivery, Outgoing } from './outgoingHttp.ts';
import type { QuickLane } from './quickLane.ts';

/**
 * The signature headers of one attempt. `X-Service-Signature` has one signature and nothing else, as receivers written
 * from the interface's document read it (v2.3.0, Events), always by the secret that the account was shown last.
 *
 * @param now epoch milliseconds
 */
function signaturesOf(
  {
    accountId,
    type,
    secret,
    secretBefore,
  }: Pick<WebhookEvent, 'accountId' | 'type' | 'secret' | 'secretBefore'>,
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

/**
 * The signature of a webhook call (v2.3.0, Events), as its header has it.
 * @param t Unix time in seconds
 */
export function sign(body: string, secret: string, t: number): string {
  return signatureOf(t, createHmac('sha256', secret).update(signedText(t, body)).digest('hex'));
}

/** The same of the earlier interface (v1.2.0, Events). */
function signEarlier(body: string, secret: string, t: number): string {
  return earlierSignatureOf(t, createHmac('sha256', secret).update(earlierSignedText(t, body)).digest('hex'));
}

/** The body of an event, in the form of its interface: the same on every attempt. */
async function bodyOf(sql: Database, event: WebhookEvent, shortUrl: string): Promise<object> {
  switch (event.type) {
    case 'delivery_report':
      return await deliveryReportOf(sql, event);
    case 'incoming_sms': {
      const { inboundNumber, ...reply } = await eventIncoming(sql, event.subjectId);
      return incomingSmsEvent(reply, inboundNumber);
    }
    case 'email_event':
      return emailEvent(await readNotifiedEvent(sql, event.subjectId, event.snapshot as EmailEventSnapshot));
    default:
      return await envelopeOf(sql, event, shortUrl);
  }
}

async function deliveryReportOf(sql: Database, event: WebhookEvent): Promise<object> {
  const { status, error_code: errorCode, updated_at: updatedAt } = event.snapshot as StatusSnapshot;
  const message = await eventReported(sql, event.subjectId);
  return deliveryReportEvent({ ...message, status, errorCode, updatedAt: new Date(updatedAt) });
}

/** The envelope of an event (v2.3.0, Events). */
async function envelopeOf(sql: Database, event: WebhookEvent, shortUrl: string): Promise<object> {
  return {
    id: event.id,
    type: event.type,
    created_at: event.createdAt.toISOString(),
    data: await dataOf(sql, event, shortUrl),
  };
}

/** What an event is about, by its subject (v2.3.0, Events). */
async function dataOf(sql: Database, event: WebhookEvent, shortUrl: string): Promise<object> {
  switch (event.subjectKind) {
    case 'message': {
      const message = await eventMessage(sql, event.subjectId);
      return { message: messageRecord({ ...message, ...asItWas(event.snapshot as StatusSnapshot) }) };
    }
    case 'link': {
      const click = event.snapshot as ClickSnapshot;
      const link = await eventLink(sql, event.subjectId, click);
      return {
        link: linkRecord(link, shortUrl),
        clicked_at: new Date(click.clicked_at).toISOString(),
        robot: click.robot,
      };
    }
    case 'inbound':
    case 'inbound_v1': {
      const reply = await eventReply(sql, event.subjectId);
      return { inbound: inboundRecord(reply), opt_out: reply.optOut };
    }
    case 'email':
      throw new Error(`${event.type} of an e-mail is no event of the current interface`);
    // It may be gone meanwhile.
    case 'domain':
      return event.snapshot;
  }
}

function asItWas(snapshot: StatusSnapshot): Partial<MessageRow> {
  return {
    status: snapshot.status,
    errorCode: snapshot.error_code,
    deliveredAt: snapshot.delivered_at === null ? null : new Date(snapshot.delivered_at),
    updatedAt: new Date(snapshot.updated_at),
  };
}

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
 * Makes the first attempts at new events of a message, in their order, as far as {@link notifyIfQuick} delivers them: before its workflow
 * learns of them, which spares it a step for each, and Temporal a state transition. None while its workflow has others to deliver before.
 * @returns those that are left to the workflow
 */
export async function notifyFirst(notifying: Notifying, events: readonly string[]): Promise<string[]> {
  for (const [index, id] of events.entries()) {
    try {
      const event = await loadEvent(notifying.sql, id);
      const isNext = !event?.after || events.includes(event.after);
      if (!isNext || (await firstAttempt(notifying, event)) !== null) return events.slice(index);
    } catch {
      // What fails here fails in the workflow's own attempt, and is seen there; what the workflow is to learn must not be lost with it.
      return events.slice(index);
    }
  }
  return [];
}

/**
 * Makes the first attempt of a delivery, and only that, when the receiver is known to answer quickly.
 * @returns after how many milliseconds the next attempt is due; null when there is none
 */
export async function notifyIfQuick(notifying: Notifying, delivery: string): Promise<number | null> {
  return await firstAttempt(notifying, await loadEvent(notifying.sql, delivery));
}

async function firstAttempt(notifying: Notifying, event: WebhookEvent | null): Promise<number | null> {
  if (event?.state !== 'pending') return null;
  nameInLogs(event);
  if (event.attempts > 0) return pauseAfter(event, event.attempts);
  const leave = event.url && event.secret ? notifying.quick.enter(originOf(event.url)) : null;
  if (leave === null) return 0;
  try {
    const { state, nextInMs } = await attempt(notifying, event);
    return state === 'pending' ? nextInMs : null;
  } finally {
    leave();
  }
}

/** Names what an event is about in the log of this step. */
export function nameInLogs({ accountId, subjectKind, subjectId }: WebhookEvent): void {
  addIds({ accountId, ...(subjectKind === 'message' ? { messageId: subjectId } : {}) });
}

function pauseAfter({ type }: WebhookEvent, attempts: number): number {
  return pauseAfterAttempt(attempts, attemptsOf(type)) ?? 0;
}

function originOf(url: string): string {
  return new URL(url).origin;
}

/** What a delivery ends as. */
export type Ended = 'delivered' | 'exhausted';

/** What an attempt came to; `pending`: another one is due after so long. */
interface Attempted {
  state: Ended | 'pending';
  nextInMs: number;
  statusCode: number | null;
}

/**
 * Makes the next attempt of a pending delivery, and logs it with what it makes of the event. One that has no attempt left, or whose account
 * has no webhook any more, ends without one.
 */
export async function attempt(notifying: Notifying, event: WebhookEvent): Promise<Attempted> {
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
  quick.learn(originOf(url), { ms: result.durationMs, well: delivered });
  return { state, nextInMs: pauseAfter(event, attempts + 1), statusCode: result.statusCode };
}

/** An event counts once, however often it is delivered again. */
function countEnd({ round }: WebhookEvent, state: Ended): void {
  if (round === 0) countEvent(state);
}

/** Posts an event, signed; logs nothing. */
async function post(
  { sql, outgoing, secretsKey, shortUrl }: Notifying,
  event: WebhookEvent,
  url: string,
): Promise<Delivery & { delivered: boolean }> {
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
