import { z } from 'zod';
import type { LookupStatus } from '../../domain/submission.ts';
import { countryOf } from '../../domain/msisdn.ts';
import { lookUp } from '../../operations/lookUp.ts';
import {
  documented,
  EXAMPLE_INSTANT,
  exampleId,
  instant,
  issue,
  pageLimit,
  msisdn,
  timestamp,
} from '../fields.ts';
import { endpoint } from '../http/endpoint.ts';
import { successSchema, successResponse, earlierStatus, withRequestFieldNames } from './fields.ts';
import { type AccountRow, readAccount } from '../../db/accounts/accounts.ts';
import { Refused } from '../../domain/refusals.ts';
import { upstreamBalance } from '../../operations/accounts/accounts.ts';
import type { OperationContext } from '../../operations/context.ts';
import { readEarlierHistory } from '../../db/messages/history.ts';
import {
  classesShowing,
  EARLIER_STATUSES,
  messageLog,
  pageOfHistory,
  pageRangeOf,
} from '../../domain/earlier.ts';

const EARLIER_LOOKUP_STATUSES = ['ok', 'not_active', 'incorrect', 'unknown'] as const;
const STATUSES: Readonly<Record<LookupStatus, (typeof EARLIER_LOOKUP_STATUSES)[number]>> = {
  active: 'ok',
  inactive: 'not_active',
  invalid: 'incorrect',
  unknown: 'unknown',
};

export const getHlr = endpoint({
  interface: 'v1',
  method: 'GET',
  path: '/v1/hlr',
  scope: 'send',
  sideEffects: true,
  id: 'getHlr',
  summary: 'Looks a number up in its network (HLR).',
  description:
    'Asks the network about a number. One asked about within the last 24 hours is answered from what was found then, at no cost.',
  errors: [402],
  query: z.strictObject({ number: msisdn.describe('The number, with country prefix.') }),
  responses: {
    200: successSchema(
      z
        .strictObject({
          number: documented(z.string(), 'The number, E.164 with plus.', '+48500100200'),
          status: documented(z.enum(EARLIER_LOOKUP_STATUSES), 'What the network says.', 'ok'),
          ported: documented(z.boolean(), 'Whether it was taken along from another network.', false),
          network: documented(z.string().nullable(), 'The network.', 'Plus'),
          country: documented(z.string().nullable(), 'ISO 3166 alpha-2.', 'PL'),
          cost: documented(z.number().nonnegative(), 'In points: one is a grosz.', 5),
        })
        .nullable(),
    ),
  },
  async handle(call) {
    const lookup = lookUp({ ...call, input: { msisdn: call.query.number } });
    const { msisdn, status, ported, network, cached, costGrosze } = await withRequestFieldNames(
      { msisdn: 'number' },
      lookup,
    );
    return successResponse({
      number: msisdn,
      status: STATUSES[status],
      ported: ported ?? false,
      network,
      country: countryOf(msisdn),
      cost: cached ? 0 : costGrosze,
    });
  },
});

const GROSZE_A_ZLOTY = 100;

const migrated = z.strictObject({
  balance: documented(z.number(), 'In PLN.', 123.45),
  balance_grosze: documented(z.int(), 'In grosze, exactly.', 12_345),
  credit_limit_grosze: documented(z.int().nonnegative(), 'Of a postpaid account; 0 for prepaid.', 0),
  currency: documented(z.literal('PLN'), 'The currency.', 'PLN'),
  billing_mode: documented(z.enum(['prepaid', 'postpaid']), 'How it is billed.', 'prepaid'),
  username: documented(z.null(), 'Of an account that was not migrated.', null),
});
const proxied = z.strictObject({
  balance: documented(z.number(), 'At the provider, in PLN.', 123.45),
  currency: documented(z.literal('PLN'), 'The currency.', 'PLN'),
  username: documented(z.string().nullable(), 'The name of the account at the provider.', 'firma'),
});

export const getBalance = endpoint({
  interface: 'v1',
  method: 'GET',
  path: '/v1/balance',
  scope: 'read',
  id: 'getBalance',
  summary: 'Shows the balance.',
  description:
    'The balance in PLN and, exactly, in grosze; of an account that was not migrated that of its account at the provider.',
  responses: { 200: successSchema(z.union([migrated, proxied])) },
  async handle(call) {
    const account = await readAccount(call.services.sql, call.caller.accountId);
    if (account === null) throw new Refused({ reason: 'account_closed' });
    return successResponse(await balanceOf(call, account));
  },
});

async function balanceOf(
  call: Omit<OperationContext<unknown>, 'input'>,
  { balanceGrosze, creditLimitGrosze, billingMode, legacyProxy }: AccountRow,
): Promise<z.output<typeof migrated> | z.output<typeof proxied>> {
  if (legacyProxy) {
    const { balance, username } = await upstreamBalance({ ...call, input: null });
    return { balance, currency: 'PLN', username };
  }
  return {
    balance: balanceGrosze / GROSZE_A_ZLOTY,
    balance_grosze: balanceGrosze,
    credit_limit_grosze: billingMode === 'postpaid' ? creditLimitGrosze : 0,
    currency: 'PLN',
    billing_mode: billingMode,
    username: null,
  };
}

const LIMIT_MAX = 200;
const LIMIT = 50;
const WHOLE_NUMBER = /^[0-9]{1,16}$/;

/** A Unix second, or a position from an earlier page. */
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

export const listEarlierMessages = endpoint({
  interface: 'v1',
  method: 'GET',
  path: '/v1/messages',
  scope: 'read',
  outageStatus: 503,
  id: 'listMessages',
  summary: 'Lists what was sent, newest first.',
  description:
    'All messages of the account that were taken up for sending, whichever interface they came by. A page may end with a whole second, with at least half of `limit` records; no record is lost or shown twice while others are added. A record may appear up to 30 seconds after its `sent_at`: who polls by `from` asks from 30 seconds before the last look, and knows by their `id` the records that were there already.',
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
    200: successSchema(
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
    const range = pageRangeOf({ cursor: after, from, to });
    const found = await readEarlierHistory(sql, accountId, classesShowing(status), range, limit + 1);
    const { page, nextCursor } = pageOfHistory(found, limit);
    const messages = page.map(messageLog);
    return successResponse({ count: messages.length, next_cursor: nextCursor, messages });
  },
});
