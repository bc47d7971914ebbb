import {
  deliveryReportEvent,
  incomingSmsEvent,
  type IncomingRow,
  type ReportedRow,
} from '../../domain/earlier.ts';
import { emailEvent } from '../../domain/email/dns.ts';
import { type InboundRow, inboundRecord } from '../../domain/incoming.ts';
import { linkRecord, type TrackedLinkRow } from '../../domain/links.ts';
import { messageRecord, type MessageRow } from '../../domain/records.ts';
import { verificationRecord } from '../../domain/verifications.ts';
import type { Sql } from '../connection.ts';
import { readNotifiedEvent } from '../emails/events.ts';
import type { ClickSnapshot } from '../links/links.ts';
import { readVerification } from '../verifications/verifications.ts';
import type { EmailEventSnapshot, StatusSnapshot, WebhookEvent } from './webhooks.ts';

type Event = Pick<
  WebhookEvent,
  'id' | 'accountId' | 'subjectKind' | 'subjectId' | 'type' | 'snapshot' | 'createdAt'
>;

/** The body of an event as it is posted (v2.3.0 and v1.2.0, Events): the same on every attempt, until personal data is erased. */
export async function eventBody(sql: Sql, event: Event, shortUrl: string): Promise<string> {
  return JSON.stringify(await contentOf(sql, event, shortUrl));
}

async function contentOf(sql: Sql, event: Event, shortUrl: string): Promise<object> {
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
      return {
        id: event.id,
        type: event.type,
        created_at: event.createdAt.toISOString(),
        data: await dataOf(sql, event, shortUrl),
      };
  }
}

async function deliveryReportOf(sql: Sql, event: Event): Promise<object> {
  const { status, error_code: errorCode, updated_at: updatedAt } = event.snapshot as StatusSnapshot;
  const message = await eventReported(sql, event.subjectId);
  return deliveryReportEvent({ ...message, status, errorCode, updatedAt: new Date(updatedAt) });
}

// v2.3.0, Events.
async function dataOf(sql: Sql, event: Event, shortUrl: string): Promise<object> {
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
    // From the snapshot: the domain may have been deleted, the balance moves.
    case 'test':
    case 'balance':
    case 'domain':
      return event.snapshot;
    case 'verification': {
      const verification = await readVerification(sql, event.accountId, event.subjectId);
      return { verification: verificationRecord(verification!) };
    }
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

/** The fields of a reported message that do not change after the event. */
async function eventReported(sql: Sql, messageId: string): Promise<Reported> {
  const [message] = await sql<Reported[]>`
    select id, recipient, idx, sent_key, submission from messages where id = ${messageId}`;
  if (!message) throw new Error(`message ${messageId} not found`);
  return message;
}

type Reported = Omit<ReportedRow, 'status' | 'errorCode' | 'updatedAt'>;

/** The reply of a v1.2.0 event, with the account's receiving number. An unmatched reply has its original text. */
async function eventIncoming(
  sql: Sql,
  inboundId: string,
): Promise<IncomingRow & { inboundNumber: string | null }> {
  const [reply] = await sql<(IncomingRow & { inboundNumber: string | null })[]>`
    select i.id, i.sender, i.receiver, coalesce(i.text, i.received_text) as text, i.received_at, a.inbound_number
      from inbound_messages i join accounts a on a.id = i.account_id where i.id = ${inboundId}`;
  if (!reply) throw new Error(`reply ${inboundId} not found`);
  return reply;
}

async function eventMessage(sql: Sql, messageId: string): Promise<MessageRow> {
  const [message] = await sql<MessageRow[]>`
    select id, channel, status, recipient, sender, text, content, parts, cost_grosze, priority, reference, send_at, expires_at,
           delivered_at, error_code, created_at, updated_at
      from messages where id = ${messageId}`;
  if (!message) throw new Error(`message ${messageId} not found`);
  return message;
}

async function eventLink(sql: Sql, token: string, snapshot: ClickSnapshot): Promise<TrackedLinkRow> {
  const [link] = await sql<Pick<TrackedLinkRow, 'token' | 'url' | 'recipient' | 'createdAt'>[]>`
    select token, url, recipient, created_at from tracked_links where token = ${token}`;
  if (!link) throw new Error(`link ${token} not found`);
  return {
    ...link,
    messageId: snapshot.message_id,
    clicks: snapshot.clicks,
    firstClickAt: new Date(snapshot.first_click_at),
    lastClickAt: new Date(snapshot.last_click_at),
  };
}

async function eventReply(sql: Sql, inboundId: string): Promise<InboundRow & { optOut: boolean }> {
  const [reply] = await sql<(InboundRow & { optOut: boolean })[]>`
    select id, sender, receiver, text, reply_to, matched_by, received_at, null as read_at, opt_out
      from inbound_messages where id = ${inboundId}`;
  if (!reply) throw new Error(`reply ${inboundId} not found`);
  return reply;
}
