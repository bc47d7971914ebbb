import { z } from 'zod';
import { readAccount } from '../db/accounts/accounts.ts';
import { readAndMark, readInbound, readReply } from '../db/incoming/replies.ts';
import { inboundRecord } from '../domain/inbound.ts';
import { endpoint } from './http/endpoint.ts';
import { instant, queryBoolean, queryMsisdn } from './fields.ts';
import { cursorAfter, idCursor, pageOf, pageSize } from './paging.ts';
import { inboundSchema } from './schemas.ts';
import { Refused } from '../domain/refusals.ts';

const INBOUND_ID = /^in_[0-9a-z]{26}$/;

/**
 * GET /v1/inbound (v2.3.0, Inbound replies): newest first; none as long as the account receives no replies. `mark_read`
 * makes it a change.
 */
export const listInbound = endpoint({
  method: 'GET',
  path: '/v1/inbound',
  scope: 'read',
  changes: true,
  summary: 'Lists replies from phones, newest first, and on request marks them as read.',
  query: z.strictObject({
    from: queryMsisdn.optional(),
    since: instant.optional(),
    unread: queryBoolean.optional(),
    mark_read: queryBoolean.optional(),
    limit: pageSize,
    cursor: idCursor(INBOUND_ID, 'inbound-cursor').optional(),
  }),
  responses: {
    200: z.strictObject({
      data: z.array(inboundSchema),
      next_cursor: z.string().nullable(),
      inbound_number: z.string().nullable(),
      prefix: z.string().nullable(),
    }),
  },
  async handle({ services: { sql }, caller: { accountId, readOnly }, query }) {
    if (query.mark_read === true && readOnly)
      throw new Refused({ reason: 'test_key_on_live_account' }, 'mark_read');
    const account = await readAccount(sql, accountId);
    if (account === null) throw new Refused({ reason: 'account_closed' });
    const { inbound_number, inbound_prefix: prefix } = account;
    if (inbound_number === null) {
      return { status: 200, body: { data: [], next_cursor: null, inbound_number, prefix } };
    }
    const filter = {
      sender: query.from ?? null,
      since: query.since ?? null,
      unread: query.unread ?? false,
      before: query.cursor ?? null,
    };
    // The one that is asked for beyond the page is not marked.
    const found =
      query.mark_read === true
        ? await readAndMark(sql, accountId, filter, query.limit + 1, query.limit)
        : await readInbound(sql, accountId, filter, query.limit + 1);
    const { page, last } = pageOf(found, query.limit);
    const next_cursor = last === undefined ? null : cursorAfter(last.id);
    return { status: 200, body: { data: page.map(inboundRecord), next_cursor, inbound_number, prefix } };
  },
});

/** GET /v1/inbound/{id}. */
export const getInbound = endpoint({
  method: 'GET',
  path: '/v1/inbound/:id',
  scope: 'read',
  summary: 'Shows one reply from a phone.',
  params: z.strictObject({ id: z.string().regex(INBOUND_ID) }),
  responses: { 200: inboundSchema },
  async handle({ services, caller, params }) {
    const reply = await readReply(services.sql, caller.accountId, params.id);
    if (reply === null) throw new Refused({ reason: 'inbound_unknown' });
    return { status: 200, body: inboundRecord(reply) };
  },
});
