import { z } from 'zod';
import { readFacts, readHistory, readMessage, readMessages } from '../../db/messages/history.ts';
import { linksOfMessage } from '../../db/links/links.ts';
import { comparableInstant } from '../../domain/calendar.ts';
import { isId } from '../../domain/ids.ts';
import { linkRecord, withoutOptOutTokens } from '../../domain/links.ts';
import { type MessageRecord, messageRecord, type MessageRow } from '../../domain/records.ts';
import { MESSAGE_STATUSES } from '../../domain/statuses.ts';
import type { Caller, Services } from '../../operations/context.ts';
import { endpoint } from '../http/endpoint.ts';
import {
  documented,
  EXAMPLE_INSTANT,
  grosze,
  instant,
  lenientPathId,
  msisdn,
  reference,
  timestamp,
} from '../fields.ts';
import { trackedLinkSchema } from '../links.ts';
import { cursorAfter, idCursor, pageOf, pageSchema, pageSize } from '../paging.ts';
import { messageSchema } from './schema.ts';
import { Refused } from '../../domain/refusals.ts';
import { PUBLIC_EVENT_TYPES, type PublicEvent, publicTimeline } from '../../domain/timeline.ts';
import { cancel } from '../../operations/cancel.ts';

const messageWithLinksSchema = messageSchema
  .extend({
    links: documented(
      z.array(trackedLinkSchema),
      'The tracked links of the text; none where it was rejected from the start, as nobody is sent them.',
      [],
    ),
  })
  .meta({ id: 'MessageWithLinks', description: 'A message with its tracked links.' });

/** GET /v1/messages (v2.3.0, History and status). */
export const listMessages = endpoint({
  method: 'GET',
  path: '/v1/messages',
  scope: 'read',
  id: 'listMessages',
  summary: 'Lists messages, newest first.',
  description: 'Messages of the account, newest first.',
  query: z.strictObject({
    limit: pageSize,
    status: z.enum(MESSAGE_STATUSES).optional().describe('Only messages in this status.'),
    reference: reference.optional().describe('Only with exactly this reference.'),
    to: msisdn.optional().describe('Only to this number.'),
    since: documented(instant.optional(), 'Only what was accepted then or later.', '2026-11-01T00:00:00Z'),
    until: documented(instant.optional(), 'Only what was accepted before.', '2026-12-01T00:00:00Z'),
    cursor: idCursor('msg', 'message-cursor').optional(),
  }),
  responses: { 200: pageSchema(messageSchema) },
  async handle({ services, caller, query }) {
    const filter = {
      status: query.status ?? null,
      reference: query.reference ?? null,
      recipient: query.to ?? null,
      since: query.since === undefined ? null : comparableInstant(query.since),
      until: query.until === undefined ? null : comparableInstant(query.until),
      before: query.cursor ?? null,
    };
    const found = await readHistory(services.sql, caller.accountId, filter, query.limit + 1);
    const { page, last } = pageOf(found, query.limit);
    return {
      status: 200,
      body: {
        data: page.map((row) => shownTo(caller, row)),
        next_cursor: last === undefined ? null : cursorAfter(last.id),
      },
    };
  },
});

export const getMessage = endpoint({
  method: 'GET',
  path: '/v1/messages/:id',
  scope: 'read',
  id: 'getMessage',
  summary: 'Shows one message.',
  description: 'One message, with its tracked links.',
  params: z.strictObject({ id: lenientPathId('msg') }),
  responses: { 200: messageWithLinksSchema },
  async handle({ services, caller, params }) {
    const message = isId('msg', params.id)
      ? await readMessage(services.sql, caller.accountId, params.id)
      : null;
    if (message === null) throw new Refused({ reason: 'message_unknown' });
    const links = await linksOfMessage(services.sql, caller.accountId, message.id);
    return {
      status: 200,
      body: { ...shownTo(caller, message), links: links.map((link) => linkRecord(link, services.shortUrl)) },
    };
  },
});

/** Messages of the account as they are now, by their ids. */
export async function messagesNow(
  { services, caller }: { services: Pick<Services, 'sql'>; caller: Caller },
  ids: readonly string[],
): Promise<ReadonlyMap<string, MessageRecord>> {
  const rows = await readMessages(services.sql, caller.accountId, ids);
  return new Map(rows.map((row) => [row.id, shownTo(caller, row)]));
}

/** A key that only reads must not be able to opt a recipient out. */
function shownTo({ readOnly }: Pick<Caller, 'readOnly'>, row: MessageRow): MessageRecord {
  const record = messageRecord(row);
  return readOnly ? { ...record, text: withoutOptOutTokens(record.text) } : record;
}

const messageEventSchema = z
  .strictObject({
    at: documented(timestamp, 'When.', EXAMPLE_INSTANT),
    type: documented(
      z.enum(PUBLIC_EVENT_TYPES),
      '`accepted`, `charged`, `refunded`, `submitted` (a part was taken by the network), `reported` (the network reported on a part), `status` (the message came to a status), `webhook_attempt`, `webhook_resend` (asked for again), `reply`, `click`, `opt_out`.',
      'status',
    ),
    status: documented(
      z.enum(MESSAGE_STATUSES).nullable(),
      'Of `accepted` and `status`: the status; of `reported`: what the report says of the part, null as long as that is not final.',
      'delivered',
    ),
    part: documented(z.int().positive().nullable(), 'Of `submitted` and `reported`: the part, from 1.', null),
    amount_grosze: documented(
      grosze.nullable(),
      'Of `charged` (negative) and `refunded`, in grosze net.',
      null,
    ),
    event_id: documented(
      z.string().nullable(),
      'Of `webhook_attempt` and `webhook_resend`: the event.',
      null,
    ),
    attempt: documented(z.int().positive().nullable(), 'Of `webhook_attempt`: its number, from 1.', null),
    status_code: documented(
      z.int().nullable(),
      'Of `webhook_attempt`: what the receiver answered; null: nothing.',
      null,
    ),
    inbound_id: documented(z.string().nullable(), 'Of `reply`: its id.', null),
  })
  .meta({
    id: 'MessageEvent',
    description: "One step of a message's way; what does not belong to its type is null.",
  }) satisfies z.ZodType<PublicEvent>;

/** GET /v1/messages/{id}/events (our addition). */
export const listMessageEvents = endpoint({
  method: 'GET',
  path: '/v1/messages/:id/events',
  scope: 'read',
  id: 'listMessageEvents',
  summary: "Shows a message's way, step by step.",
  description:
    'What happened to a message, oldest first: acceptance, charge and refund, each part handed to the network and reported on, each status, each attempt of a webhook, replies, clicks and an opt-out. At most 200 of a kind.',
  params: z.strictObject({ id: lenientPathId('msg') }),
  responses: {
    200: z.strictObject({ data: z.array(messageEventSchema).describe('The steps, oldest first.') }),
  },
  async handle({ services, caller, params }) {
    const facts = isId('msg', params.id) ? await readFacts(services.sql, params.id, caller.accountId) : null;
    if (facts === null) throw new Refused({ reason: 'message_unknown' });
    return { status: 200, body: { data: publicTimeline(facts) } };
  },
});

/** DELETE /v1/messages/{id} (v2.3.0, Cancelling). */
export const cancelMessage = endpoint({
  method: 'DELETE',
  path: '/v1/messages/:id',
  scope: 'send',
  id: 'cancelMessage',
  summary: 'Cancels a scheduled message.',
  description:
    'Cancels a scheduled message up to 30 seconds before it is sent, and gives its cost back. Repeated, it answers the same message.',
  statusTexts: { 409: 'The message is not scheduled, or has less than 30 seconds left.' },
  errors: [409],
  params: z.strictObject({ id: lenientPathId('msg') }),
  responses: { 200: messageSchema },
  async handle(call) {
    const { id } = call.params;
    if (!isId('msg', id)) throw new Refused({ reason: 'message_unknown' });
    return { status: 200, body: messageRecord(await cancel({ ...call, input: { id } })) };
  },
});
