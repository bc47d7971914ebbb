import { z } from 'zod';
import { type BlacklistRow, readBlacklist } from '../db/incoming/blacklist.ts';
import { comparableInstant } from '../domain/calendar.ts';
import {
  BLACKLIST_ADDED_MAX,
  BLACKLIST_LATEST_END,
  BLACKLIST_REASON_MAX,
  BLACKLIST_REASON_STANDARD,
} from '../domain/statuses.ts';
import * as operations from '../operations/blacklist.ts';
import { endpoint } from './http/endpoint.ts';
import {
  createdAt,
  documented,
  filledText,
  given,
  instant,
  issue,
  msisdn,
  omissible,
  omissibleWithDefault,
  pathNumber,
  plainText,
  timestamp,
} from './fields.ts';
import { ABOUT_CURSOR, pageOf, pageSchema, pageSize } from './paging.ts';

const LISTED = /^\+[0-9]{8,15}$/;

const blacklistEntrySchema = z
  .strictObject({
    msisdn: documented(z.string(), 'A phone number.', '+48500100200'),
    reason: documented(z.string().nullable(), '`opt_out`, `manual` or free text.', 'manual'),
    created_at: createdAt,
    expires_at: documented(timestamp.nullable(), 'When it ends; null means never.', null),
  })
  .meta({ id: 'BlacklistEntry', description: 'A number that gets nothing from the account.' });

// Checked by pattern only: a listed number stays a valid cursor even if its country's numbering plan changes.
const cursor = z
  .string()
  .refine((value) => LISTED.test(value), issue({ reason: 'cursor_malformed' }))
  .meta({ pattern: LISTED.source, description: ABOUT_CURSOR });

// No pattern: a malformed number is reported in `invalid` and does not fail the request.
const number = z.string().meta({ format: 'phone-number' });

const EXPIRES_AT = ['When the entries end, in the future; null or left out means never.', null] as const;

const addition = z
  .strictObject({
    msisdn: documented(omissible(number), 'One number; instead of `msisdns`.', '+48500100200'),
    msisdns: documented(
      omissible(z.array(number).min(1).max(BLACKLIST_ADDED_MAX)),
      'Up to 1000 numbers; instead of `msisdn`.',
      ['+48500100200'],
    ),
    reason: documented(
      omissibleWithDefault(filledText.max(BLACKLIST_REASON_MAX), BLACKLIST_REASON_STANDARD),
      'Why; `manual` by default.',
      'reklamacja',
    ),
    expires_at: documented(
      instant
        .refine((value) => value <= BLACKLIST_LATEST_END, issue({ reason: 'instant_malformed' }))
        .nullable()
        .default(null),
      ...EXPIRES_AT,
    ),
  })
  .superRefine(({ msisdn, msisdns }, context) => {
    if (msisdn === undefined && msisdns === undefined) {
      context.addIssue({ code: 'custom', path: ['msisdn'], ...issue({ reason: 'field_missing' }) });
    }
    if (msisdn !== undefined && msisdns !== undefined) {
      const problem = { reason: 'field_exclusive', field: 'msisdns', other: 'msisdn' } as const;
      context.addIssue({ code: 'custom', path: ['msisdns'], ...issue(problem) });
    }
  })
  .meta({ oneOf: [given('msisdn', 'string'), given('msisdns', 'array')] });

/** GET /v1/blacklist (v2.3.0, Blacklist and opt-out). */
export const listBlacklist = endpoint({
  method: 'GET',
  path: '/v1/blacklist',
  scope: 'read',
  id: 'listBlacklist',
  summary: 'Lists the blacklisted numbers, sorted by number.',
  description: 'Entries in force, sorted by number. `next_cursor` is the last number of the page.',
  query: z.strictObject({
    msisdn: msisdn.optional().describe('This number.'),
    reason: documented(plainText.optional(), 'Of this reason.', 'opt_out'),
    since: documented(instant.optional(), 'Listed since.', '2026-11-01T00:00:00Z'),
    until: documented(instant.optional(), 'Listed before.', '2026-12-01T00:00:00Z'),
    limit: pageSize,
    cursor: cursor.optional(),
  }),
  responses: { 200: pageSchema(blacklistEntrySchema) },
  async handle({ services, caller, query }) {
    const filter = {
      msisdn: query.msisdn ?? null,
      reason: query.reason ?? null,
      since: query.since === undefined ? null : comparableInstant(query.since),
      until: query.until === undefined ? null : comparableInstant(query.until),
      after: query.cursor ?? null,
    };
    const found = await readBlacklist(services.sql, caller.accountId, filter, query.limit + 1);
    const { page, last } = pageOf(found, query.limit);
    return { status: 200, body: { data: page.map(shown), next_cursor: last?.msisdn ?? null } };
  },
});

/** POST /v1/blacklist: `added` counts the distinct numbers listed afterwards, whether new or not. */
export const extendBlacklist = endpoint({
  method: 'POST',
  path: '/v1/blacklist',
  scope: 'manage',
  id: 'addToBlacklist',
  summary: 'Puts numbers on the blacklist; entries that are there get the new reason and end.',
  description:
    'Puts one number (`msisdn`) or up to 1000 (`msisdns`) on the blacklist. An entry that exists takes the new reason and end. Malformed numbers of an array are listed in `invalid` and do not stop the rest.',
  body: addition,
  example: { msisdns: ['+48500100200', '500100201'], reason: 'reklamacja' },
  responses: {
    201: z.strictObject({
      added: documented(z.int().nonnegative(), 'Numbers that are on the list now.', 1),
      invalid: documented(z.array(z.string()), 'The numbers that are malformed.', []),
      expires_at: documented(timestamp.nullable(), ...EXPIRES_AT),
    }),
  },
  async handle(call) {
    const { msisdn, msisdns, reason, expires_at } = call.body;
    const input = { numbers: msisdns ?? msisdn!, reason, expires_at };
    const listed = await operations.extendBlacklist({ ...call, input });
    return {
      status: 201,
      body: { ...listed, expires_at: expires_at === null ? null : new Date(expires_at).toISOString() },
    };
  },
});

export const shortenBlacklist = endpoint({
  method: 'DELETE',
  path: '/v1/blacklist/:msisdn',
  scope: 'manage',
  id: 'removeFromBlacklist',
  summary: 'Takes a number off the blacklist.',
  description: 'Takes a number off the blacklist.',
  statusTexts: { 404: 'The number is not listed.' },
  params: z.strictObject({ msisdn: pathNumber }),
  responses: { 200: z.strictObject({ removed: documented(z.string(), 'The number.', '+48500100200') }) },
  async handle(call) {
    const removed = await operations.shortenBlacklist({ ...call, input: call.params });
    return { status: 200, body: { removed } };
  },
});

function shown({ msisdn, reason, createdAt: since, expiresAt: until }: BlacklistRow) {
  return { msisdn, reason, created_at: since.toISOString(), expires_at: until?.toISOString() ?? null };
}
