import { z } from 'zod';
import { readAccount } from '../../db/accounts/accounts.ts';
import { readEarlierHistory } from '../../db/messages/earlierHistory.ts';
import { pageOfHistory, stretchOf } from '../../domain/earlierHistory.ts';
import { EARLIER_STATUSES } from '../../domain/earlierInterface.ts';
import { messageLog } from '../../domain/earlierRecords.ts';
import { classesShowing } from '../../domain/earlierStatus.ts';
import { Refused } from '../../domain/refusals.ts';
import { documented, EXAMPLE_INSTANT, exampleId } from '../documented.ts';
import { instant, issue, pageLimit } from '../fields.ts';
import { endpoint } from '../http/endpoint.ts';
import { timestamp } from '../schemas.ts';
import { answered, answerOf, earlierStatus } from './schema.ts';

const LIMIT_MAX = 200;
const LIMIT = 50;
const WHOLE_NUMBER = /^[0-9]{1,16}$/;

/** A Unix second, or a place that an earlier page named. */
const cursor = z
  .string()
  .refine(
    (text) => WHOLE_NUMBER.test(text) && Number.isSafeInteger(Number(text)),
    issue({ reason: 'cursor_malformed' }),
  )
  .transform(Number)
  .meta({ type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER });

const messageLogSchema = z.strictObject({
  id: documented(z.string(), 'The id of the message.', exampleId('msg')),
  smsapi_id: documented(
    z.string().nullable(),
    'The id at the provider; of several parts the first one’s.',
    'X1',
  ),
  type: documented(z.enum(['sms', 'mms', 'vms']), 'The kind of message.', 'sms'),
  sender: documented(z.string().nullable(), 'The sender.', 'SKLEP'),
  recipient: documented(z.string(), 'The recipient, E.164 with plus.', '+48500100200'),
  message_preview: documented(z.string().nullable(), 'The first 160 characters of the text.', 'Dzień dobry!'),
  parts: documented(z.int().positive(), 'Parts that the text takes.', 1),
  cost_grosze: documented(z.int().nonnegative(), 'What it cost, in grosze.', 15),
  cost_pln: documented(z.number().nonnegative(), 'The same in PLN.', 0.15),
  status: documented(earlierStatus, 'As what it left, or ended without leaving.', 'sent'),
  dlr_status: documented(
    z.enum(EARLIER_STATUSES).nullable(),
    'What became of it after that, if known.',
    'delivered',
  ),
  dlr_updated_at: documented(timestamp.nullable(), 'Since when that is known.', EXAMPLE_INSTANT),
  idx: documented(z.string().nullable(), 'Your own identifier.', 'zam-1042'),
  sent_at: documented(timestamp, 'When it left for the provider, to the second.', EXAMPLE_INSTANT),
});

/** GET /v1/messages of the earlier interface (v1.2.0): the history, newest first. */
export const listEarlierMessages = endpoint({
  interface: 'v1',
  method: 'GET',
  path: '/v1/messages',
  scope: 'read',
  outageStatus: 503,
  id: 'listMessages',
  summary: 'Lists what was sent, newest first.',
  description:
    'All messages of the account that were taken up for sending, whichever interface they came by. A page ends with a second where it can, so that it may have fewer records than `limit`; no record is lost or shown twice while others are added. A record may appear up to 30 seconds after its `sent_at`: who polls by `from` asks from 30 seconds before the last look, and knows by their `id` the records that were there already.',
  refusals: ['account_not_migrated', 'cursor_malformed', 'instant_malformed'],
  query: z.strictObject({
    limit: pageLimit(LIMIT_MAX, LIMIT).describe('The most records of a page.'),
    cursor: cursor
      .optional()
      .describe('`next_cursor` of the page before, or a Unix second: records before it.'),
    status: earlierStatus
      .optional()
      .describe('Only records of this status, as which they left or which became of them.'),
    from: instant.optional().describe('Only records with `sent_at` at or after it.'),
    to: instant.optional().describe('Only records with `sent_at` at or before it.'),
  }),
  responses: {
    200: answered(
      z.strictObject({
        count: documented(z.int().nonnegative(), 'Records on this page.', 1),
        next_cursor: documented(
          z.int().nullable(),
          'The `cursor` of the next page; null on the last.',
          1_795_000_000,
        ),
        messages: z.array(messageLogSchema).describe('The records.'),
      }),
    ),
  },
  async handle({ services: { sql }, caller: { accountId }, query }) {
    const account = await readAccount(sql, accountId);
    if (account?.legacyProxy !== false) throw new Refused({ reason: 'account_not_migrated' });
    const { limit, cursor: after = null, status = null, from = null, to = null } = query;
    const stretch = stretchOf({ cursor: after, from, to });
    const found = await readEarlierHistory(sql, accountId, classesShowing(status), stretch, limit + 1);
    const { page, nextCursor } = pageOfHistory(found, limit);
    const messages = page.map(messageLog);
    return answerOf({ count: messages.length, next_cursor: nextCursor, messages });
  },
});
