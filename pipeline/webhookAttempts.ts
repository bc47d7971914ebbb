import { createHmac } from 'node:crypto';
import { decrypt } from '../db/installation.ts';
import {
  type EmailEventSnapshot,
  eventIncoming,
  eventLink,
  eventMessage,
  eventReply,
  eventReported,
  exhaustEvent,
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
import type { AttemptLeft, Notified } from '../workflows/contracts.ts';
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

/** How many of a worker's attempts are one account's at the most, so that a receiver that hangs keeps none of another's waiting. */
export interface WebhookPlaces {
  /** @returns what gives the place back; or, where the account has none left, after how many milliseconds to ask again */
  enter(accountId: string): { leave: () => void } | { againInMs: number };
}

// Nobody asks again sooner, and no attempt is taken for shorter: how long the first ones of a burst take, nobody knows.
const AGAIN_MIN_MS = 100;
// Behind the first minute of those that wait for a receiver that hangs, twenty ask in a second, however many they are: each time is work
// for the server, which others wait for. Not as seldom as places are free then: a receiver may work again, and those are to find out.
const NEAR_MS = 60_000;
const FAR_PACE_MS = 50;
// The first of those that wait asks again after this long at the latest: one place may be free although most are not.
const FIRST_MAX_MS = 1_000;

/** An account's attempts under way. */
interface UnderWay {
  /** When each began, the oldest first. */
  since: Set<{ at: number }>;
  /** How long the last one took that ended. */
  lastMs: number;
  /** When the last of those that wait asks again. */
  turn: number;
}

/**
 * @param each places of one account. Whoever finds none is told when its turn comes, as quickly as attempts come to their ends:
 *   however many wait, few ask at a time
 */
export function createWebhookPlaces(each: number): WebhookPlaces {
  const accounts = new Map<string, UnderWay>();

  function begin(accountId: string, account: UnderWay, now: number): { leave: () => void } {
    const attempt = { at: now };
    account.since.add(attempt);
    return {
      leave() {
        if (!account.since.delete(attempt)) return;
        account.lastMs = Date.now() - attempt.at;
        // It works again: whoever comes now waits for nobody's turn of before.
        if (account.since.size < each / 2) account.turn = 0;
        if (account.since.size === 0) accounts.delete(accountId);
      },
    };
  }

  return {
    enter(accountId) {
      const now = Date.now();
      const account = accounts.get(accountId) ?? { since: new Set(), lastMs: 0, turn: 0 };
      accounts.set(accountId, account);
      if (account.since.size < each) return begin(accountId, account, now);
      const [oldest] = account.since;
      const takesMs = Math.max(account.lastMs, now - oldest!.at, AGAIN_MIN_MS);
      const first = now + Math.min(takesMs, FIRST_MAX_MS);
      const before = Math.max(account.turn, first);
      const freeAgainMs = takesMs / each;
      account.turn = before + (before < now + NEAR_MS ? freeAgainMs : Math.min(freeAgainMs, FAR_PACE_MS));
      return { againInMs: Math.ceil(account.turn - now) };
    },
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
type Attempt = Delivery & { delivered: boolean };

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
