import { z } from 'zod';
import { readHistory, readMessage } from '../../db/messages/history.ts';
import { linksOfMessage } from '../../db/links/links.ts';
import { isId } from '../../domain/ids.ts';
import { linkRecord } from '../../domain/links.ts';
import { withoutOptOutTokens } from '../../domain/optOutLinks.ts';
import { type MessageRecord, messageRecord, type MessageRow } from '../../domain/records.ts';
import { MESSAGE_STATUSES } from '../../domain/statuses.ts';
import type { Caller } from '../../operations/asked.ts';
import { endpoint } from '../http/endpoint.ts';
import { documented } from '../documented.ts';
import { lenientPathId, queryMsisdn, reference } from '../fields.ts';
import { trackedLinkSchema } from '../links.ts';
import { cursorAfter, idCursor, pageOf, pageSchema, pageSize } from '../paging.ts';
import { messageSchema } from './schema.ts';
import { Refused } from '../../domain/refusals.ts';

/** A message fetched by its id: with its tracked links. */
const messageWithLinksSchema = messageSchema
  .extend({
    links: documented(
      z.array(trackedLinkSchema),
      'The tracked links of the text; none where it was rejected from the start, as nobody is sent them.',
      [],
    ),
  })
  .meta({ id: 'MessageWithLinks', description: 'A message with its tracked links.' });

/** GET /v1/messages (v2.3.0, History and status): newest first. */
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
    to: queryMsisdn.optional().describe('Only to this number.'),
    cursor: idCursor('msg', 'message-cursor').optional(),
  }),
  responses: { 200: pageSchema(messageSchema) },
  async handle({ services, caller, query }) {
    const filter = {
      status: query.status ?? null,
      reference: query.reference ?? null,
      recipient: query.to ?? null,
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

/** GET /v1/messages/{id}. */
export const getMessage = endpoint({
  method: 'GET',
  path: '/v1/messages/:id',
  scope: 'read',
  id: 'getMessage',
  summary: 'Shows one message.',
  description: 'One message, with its tracked links.',
  refusals: ['message_unknown'],
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

/** A key that only reads may opt nobody out. */
function shownTo({ readOnly }: Pick<Caller, 'readOnly'>, row: MessageRow): MessageRecord {
  const record = messageRecord(row);
  return readOnly ? { ...record, text: withoutOptOutTokens(record.text) } : record;
}
