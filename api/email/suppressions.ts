import { z } from 'zod';
import { listSuppressions as readSuppressions, type Suppression } from '../../db/emails/suppressions.ts';
import { addressKey, emailAddress } from '../../domain/email/address.ts';
import type { Interface } from '../../domain/ids.ts';
import * as operations from '../../operations/email/suppressions.ts';
import { createdAt, documented, exampleId, issue } from '../fields.ts';
import { endpoint } from '../http/endpoint.ts';
import { ABOUT_CURSOR, pageOf, pageSize } from '../paging.ts';
import { successSchema, successResponse } from '../v1_2/fields.ts';
import { address } from './fields.ts';

const REASONS = ['bounce', 'complaint', 'unsubscribe', 'manual'] as const;
const ADDED_MAX = 1_000;

const entry = z
  .strictObject({
    address: documented(z.string(), 'The address, in small letters.', 'jan@sklep.example'),
    reason: documented(
      z.enum(REASONS),
      'The strongest: `complaint`, `unsubscribe`, `bounce` (does not take e-mail), or `manual`.',
      'bounce',
    ),
    email_id: documented(z.string().nullable(), 'The e-mail that it followed from.', exampleId('em')),
    created_at: createdAt,
  })
  .meta({ id: 'Suppression', description: 'An address that gets no e-mail of the account.' });

const cursor = z
  .string()
  .refine(
    (text) => emailAddress(text) !== null && addressKey(text) === text,
    issue({ reason: 'cursor_malformed' }),
  )
  .meta({ description: ABOUT_CURSOR });

export function listSuppressions(owner: Interface) {
  return endpoint({
    interface: owner,
    method: 'GET',
    path: '/v1/email/suppressions',
    scope: 'read',
    id: 'listSuppressions',
    summary: 'Lists the addresses that get no e-mail, sorted by address.',
    description: 'The suppression list. `next_cursor` is the last address of the page.',
    query: z.strictObject({
      limit: pageSize,
      reason: z.enum(REASONS).optional().describe('Only with this reason.'),
      cursor: cursor.optional(),
    }),
    responses: {
      200: successSchema(
        z.strictObject({
          count: documented(z.int().nonnegative(), 'Addresses on this page.', 1),
          next_cursor: documented(
            z.string().nullable(),
            'The `cursor` of the next page; null on the last.',
            null,
          ),
          suppressions: z.array(entry).describe('The addresses.'),
        }),
      ),
    },
    async handle({ services, caller, query }) {
      const { limit, reason = null, cursor: after = '' } = query;
      const found = await readSuppressions(services.sql, caller.accountId, { after, reason }, limit + 1);
      const { page, last } = pageOf(found, limit);
      const suppressions = page.map(shown);
      const data = { count: suppressions.length, next_cursor: last?.address ?? null, suppressions };
      return successResponse(data);
    },
  });
}

export function addSuppressions(owner: Interface) {
  return endpoint({
    interface: owner,
    method: 'POST',
    path: '/v1/email/suppressions',
    scope: 'manage',
    id: 'addSuppressions',
    summary: 'Puts addresses on the suppression list.',
    description: 'Puts up to 1000 addresses on the suppression list. Those that are on it keep their reason.',
    body: z.strictObject({
      addresses: documented(z.array(address).min(1).max(ADDED_MAX), 'Up to 1000 addresses.', [
        'jan@sklep.example',
      ]),
    }),
    example: { addresses: ['jan@sklep.example'] },
    bodyLimit: 512 * 1024,
    responses: {
      200: successSchema(
        z.strictObject({ added: documented(z.int().nonnegative(), 'Addresses that were not on it.', 1) }),
      ),
    },
    async handle(call) {
      const added = await operations.addSuppressions({ ...call, input: call.body });
      return successResponse({ added });
    },
  });
}

export function removeSuppression(owner: Interface) {
  return endpoint({
    interface: owner,
    method: 'DELETE',
    path: '/v1/email/suppressions/:address',
    scope: 'manage',
    id: 'removeSuppression',
    summary: 'Takes an address off the suppression list.',
    description:
      'Takes an address off the suppression list: it gets e-mail again. The provider that reported it is asked to take it off its own.',
    statusTexts: { 404: 'The address is not on the list.' },
    params: z.strictObject({ address: z.string().meta({ format: 'email', description: 'The address.' }) }),
    responses: {
      200: successSchema(
        z.strictObject({ removed: documented(z.string(), 'The address.', 'jan@sklep.example') }),
      ),
    },
    async handle(call) {
      const removed = await operations.removeSuppression({ ...call, input: call.params });
      return successResponse({ removed });
    },
  });
}

function shown({ address: whom, reason, emailId, createdAt: since }: Suppression): z.output<typeof entry> {
  return { address: whom, reason, email_id: emailId, created_at: since.toISOString() };
}
