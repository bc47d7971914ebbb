import { ApplicationFailure } from '@temporalio/activity';
import { ApplicationFailureCategory } from '@temporalio/common';
import type { ClickSnapshot } from '../db/links/clicks.ts';
import type { Database } from '../db/connection.ts';
import {
  eventLink,
  eventMessage,
  eventReply,
  exhaustEvent,
  loadEvent,
  logAttempt,
  type StatusSnapshot,
  type WebhookEvent,
} from '../db/webhooks/webhooks.ts';
import { attemptsBefore, endResend } from '../db/webhooks/webhookResends.ts';
import { inboundRecord } from '../domain/inbound.ts';
import { linkRecord } from '../domain/links.ts';
import { type MessageRow, messageRecord } from '../domain/records.ts';
import { addIds } from '../telemetry/ids.ts';
import { countEvent, observeAttempt } from '../telemetry/reactionMetrics.ts';
import { FAILURE, type AttemptLeft, type Told } from '../workflows/contracts.ts';
import type { Delivery, Outgoing } from './outgoing.ts';
import type { QuickLane } from './quickLane.ts';
import { unknownResend } from './failures.ts';
import { signaturesOf } from './signatures.ts';

const ATTEMPTS = 3;
// After the first and after the second failed attempt: at 0 s, 2 s and 10 s in all (v2.3.0, Events).
const NEXT_ATTEMPT_MS = [2_000, 8_000];

/** What telling customers needs. */
export interface Telling {
  sql: Database;
  outgoing: Outgoing;
  secretsKey: Buffer;
  /** Where short links lead, for events that name a link. */
  shortUrl: string;
  /** Receivers that answered quickly the last time, by origin. */
  quick: QuickLane;
}

/** Telling customers; run on the webhooks' task queue. */
export function webhookActivities(telling: Telling) {
  const { sql } = telling;
  return {
    /**
     * Makes one delivery attempt and logs it.
     * @throws ApplicationFailure `WebhookAttemptFailed` with the delay until the next attempt, or `WebhookExhausted`,
     *   final, after the third
     */
    async deliverWebhook(eventId: string): Promise<void> {
      const event = await loadEvent(sql, eventId);
      if (!event || event.state !== 'pending') return;
      nameInLogs(event);
      if (!event.url || !event.secret || event.attempts >= ATTEMPTS) return exhaust(sql, eventId);

      const attempt = event.attempts + 1;
      const { delivered, statusCode } = await tell(telling, event, event.url, attempt);
      if (!delivered) throw failure(attempt, statusCode);
    },

    /**
     * The same for an event that is delivered again: attempts are counted anew, and numbered on.
     * @param round which of its further deliveries
     * @throws ApplicationFailure as deliverWebhook; `UnknownResend`, for good
     */
    async resendWebhook(eventId: string, round: number): Promise<void> {
      const before = await attemptsBefore(sql, eventId, round);
      if (before === undefined) throw unknownResend(eventId, round);
      const event = await loadEvent(sql, eventId);
      if (before === null || !event) return;
      const tried = event.attempts - before;
      if (!event.url || !event.secret || tried >= ATTEMPTS) {
        return endResend(sql, eventId, round, 'exhausted');
      }
      const { delivered, ...result } = await post(telling, event, event.url);
      // The event keeps its state until a round ends well.
      await logAttempt(sql, { eventId, attempt: event.attempts + 1, url: event.url, ...result }, 'pending');
      observeAttempt(result.statusCode, result.durationMs);
      if (delivered) return endResend(sql, eventId, round, 'delivered');
      if (tried + 1 >= ATTEMPTS) await endResend(sql, eventId, round, 'exhausted');
      throw failure(tried + 1, result.statusCode);
    },
  };
}

/** Telling customers within a workflow task; run where workflows run. */
export function quickWebhookActivities(telling: Telling) {
  return {
    /** As `tellOnce`. */
    notifyInTask: async (eventId: string): Promise<AttemptLeft | null> =>
      tellOnce(telling, await loadEvent(telling.sql, eventId)),
  };
}

/**
 * Tells all that is to be told of a message, in their order, each once, up to the first of which something is left; nothing
 * while its workflow has others to tell before.
 * @returns what is left of each that was told
 */
export async function tellInTurn(telling: Telling, events: readonly string[]): Promise<Told> {
  const told: Told = [];
  for (const id of events) {
    const event = await loadEvent(telling.sql, id);
    if (event?.after && !events.includes(event.after)) break;
    const left = await tellOnce(telling, event);
    told.push(left);
    if (left !== null) break;
  }
  return told;
}

/**
 * Makes the first attempt, and only that, when the receiver is known to answer quickly; logs it like any other.
 * @returns null when nothing is left to do
 */
async function tellOnce(telling: Telling, event: WebhookEvent | null): Promise<AttemptLeft | null> {
  if (!event || event.state !== 'pending') return null;
  nameInLogs(event);
  if (event.attempts > 0) return { nextInMs: NEXT_ATTEMPT_MS[event.attempts - 1] ?? 0 };
  const leave = event.url && event.secret ? telling.quick.enter(originOf(event.url)) : null;
  if (leave === null) return { nextInMs: 0 };

  try {
    const { delivered } = await tell(telling, event, event.url!, 1);
    return delivered ? null : { nextInMs: NEXT_ATTEMPT_MS[0]! };
  } finally {
    leave();
  }
}

function nameInLogs({ accountId, subjectKind, subjectId }: WebhookEvent): void {
  addIds({ accountId, ...(subjectKind === 'message' ? { messageId: subjectId } : {}) });
}

function originOf(url: string): string {
  return new URL(url).origin;
}

type Attempt = Delivery & { delivered: boolean };

/** One attempt, logged with what it makes of the event. */
async function tell(telling: Telling, event: WebhookEvent, url: string, attempt: number): Promise<Attempt> {
  const { delivered, ...result } = await post(telling, event, url);
  const state = delivered ? 'delivered' : attempt >= ATTEMPTS ? 'exhausted' : 'pending';
  await logAttempt(telling.sql, { eventId: event.id, attempt, url, ...result }, state);
  observeAttempt(result.statusCode, result.durationMs);
  if (state !== 'pending') countEvent(state);
  telling.quick.learn(originOf(url), { ms: result.durationMs, well: delivered });
  return { ...result, delivered };
}

async function post(
  { sql, outgoing, secretsKey, shortUrl }: Telling,
  event: WebhookEvent,
  url: string,
): Promise<Attempt> {
  const body = JSON.stringify(await envelopeOf(sql, event, shortUrl));
  const headers = signaturesOf(event, secretsKey, body, Date.now());
  const result = await outgoing.post(
    url,
    { 'content-type': 'application/json', 'user-agent': 'goniec-webhooks/1', ...headers },
    body,
  );
  const delivered = result.statusCode !== null && result.statusCode >= 200 && result.statusCode < 300;
  return { ...result, delivered };
}

/** What the workflow does about an event that could not be delivered. */
export function webhookClosingActivities(sql: Database) {
  return {
    /** Marks an event as exhausted, also when its last attempt was lost. */
    closeWebhook: (eventId: string): Promise<void> => exhaust(sql, eventId),

    /** Ends a further delivery that nobody took, also when its last attempt was lost. */
    closeResend: (eventId: string, round: number): Promise<void> =>
      endResend(sql, eventId, round, 'exhausted'),
  };
}

async function exhaust(sql: Database, eventId: string): Promise<void> {
  if (await exhaustEvent(sql, eventId)) countEvent('exhausted');
}

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
    case 'inbound': {
      const reply = await eventReply(sql, event.subjectId);
      return { inbound: inboundRecord(reply), opt_out: reply.opt_out };
    }
  }
}

function asItWas(snapshot: StatusSnapshot): Partial<MessageRow> {
  return {
    status: snapshot.status,
    error_code: snapshot.error_code,
    delivered_at: snapshot.delivered_at === null ? null : new Date(snapshot.delivered_at),
    updated_at: new Date(snapshot.updated_at),
  };
}

function failure(attempt: number, statusCode: number | null): ApplicationFailure {
  const message = `attempt ${attempt} of ${ATTEMPTS} failed: ${statusCode ?? 'no answer'}`;
  const nextRetryDelay = NEXT_ATTEMPT_MS[attempt - 1];
  return nextRetryDelay === undefined
    ? ApplicationFailure.nonRetryable(message, FAILURE.webhookExhausted)
    : ApplicationFailure.create({
        message,
        type: FAILURE.webhookAttemptFailed,
        nextRetryDelay,
        category: ApplicationFailureCategory.BENIGN,
      });
}
