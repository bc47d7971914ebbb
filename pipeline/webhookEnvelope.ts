import type { Database } from '../db/connection.ts';
import { readNotifiedEvent } from '../db/emails/events.ts';
import type { ClickSnapshot } from '../db/links/clicks.ts';
import {
  eventIncoming,
  eventLink,
  eventMessage,
  eventReply,
  type EmailEventSnapshot,
  eventReported,
  type StatusSnapshot,
  type WebhookEvent,
} from '../db/webhooks/webhooks.ts';
import { deliveryReportEvent, incomingSmsEvent } from '../domain/earlierRecords.ts';
import { emailEvent } from '../domain/email/records.ts';
import { inboundRecord } from '../domain/inbound.ts';
import { linkRecord } from '../domain/links.ts';
import { type MessageRow, messageRecord } from '../domain/records.ts';

/** The body of an event, in the form of its interface: the same on every attempt. */
export async function bodyOf(sql: Database, event: WebhookEvent, shortUrl: string): Promise<object> {
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
