import { beforeAll, expect, inject, it } from 'vitest';
import { endpoints } from '../../api/endpoints.ts';
import { earlierEndpoints } from '../../api/v1_2/endpoints.ts';
import { announce } from '../support/announced.ts';
import { type EarlierAccount, newEarlierAccount } from '../support/earlierClient.ts';

const KB = 1024;

// Stated here on their own, not taken from the declarations: the most bytes that a body may have.
const LIMITS: Readonly<Record<string, number>> = {
  'v2 POST /v1/messages': 256 * KB,
  'v2 POST /v1/messages/estimate': 256 * KB,
  'v2 POST /v1/mms': 256 * KB,
  'v2 POST /v1/mms/estimate': 256 * KB,
  'v2 POST /v1/voice': 256 * KB,
  'v2 POST /v1/voice/estimate': 256 * KB,
  'v2 POST /v1/email': 20_906_198,
  'v2 POST /v1/email/suppressions': 512 * KB,
  'v2 PATCH /v1/account': 64 * KB,
  'v2 PUT /v1/account/webhook': 64 * KB,
  'v2 POST /v1/blacklist': 64 * KB,
  'v2 POST /v1/verifications': 64 * KB,
  'v2 POST /v1/verifications/:id/check': 64 * KB,
  'v2 POST /v1/templates': 608 * KB,
  'v2 PATCH /v1/templates/:id': 608 * KB,
  'v2 POST /v1/contacts': 6 * KB * KB,
  'v2 PATCH /v1/contacts/:id': 64 * KB,
  'v2 POST /v1/groups': 64 * KB,
  'v2 PATCH /v1/groups/:id': 64 * KB,
  'v2 POST /v1/groups/:id/contacts': 64 * KB,
  'v1 POST /v1/sms': 64 * KB,
  'v1 POST /v1/sms/bulk': 1536 * KB,
  'v1 POST /v1/mms': 128 * KB,
  'v1 POST /v1/vms': 64 * KB,
  'v1 POST /v1/email': 20_906_198,
  'v1 POST /v1/email/suppressions': 512 * KB,
  'mcp POST /mcp': KB * KB,
};

let account: EarlierAccount;
beforeAll(async () => {
  account = await newEarlierAccount({ balance: 100, rateLimit: 10_000_000 });
});

// What is no file has less room in an e-mail; that it takes files of 10 MB is shown beside its other limits.
const ROOM_FOR_FILES = 'POST /v1/email';
// As JSON they have less room than as a table.
const TABLES = ['v2 POST /v1/contacts'];

function headersOf(endpoint: string) {
  return {
    authorization: `Bearer ${endpoint.startsWith('v1 ') ? account.token : account.key}`,
    'content-type': TABLES.includes(endpoint) ? 'text/csv' : 'application/json',
  };
}

function requestOf(endpoint: string): { method: string; path: string } {
  const [, method = '', path = ''] = endpoint.split(' ');
  return { method, path: path.replace(':id', 'x') };
}

/** The status of a request whose body is an object without fields, after as many blanks as make it so long. */
async function statusOf(endpoint: string, bytes: number): Promise<number> {
  const { method, path } = requestOf(endpoint);
  const body = `${' '.repeat(bytes - 2)}{}`;
  const response = await fetch(inject('service').apiUrl + path, {
    method,
    headers: headersOf(endpoint),
    body,
  });
  await response.text();
  return response.status;
}

it('are stated for every endpoint that takes a body', () => {
  const declared = [...endpoints, ...earlierEndpoints].filter(({ body }) => body !== undefined);
  const names = declared.map((one) => `${one.interface ?? 'v2'} ${one.method} ${one.path}`);
  expect(Object.keys(LIMITS).sort()).toEqual([...names, 'mcp POST /mcp'].sort());
});

it.each(Object.entries(LIMITS))(
  '%s takes a body of %d bytes, and none of one more',
  async (endpoint, most) => {
    if (!endpoint.endsWith(ROOM_FOR_FILES)) {
      const taken = await statusOf(endpoint, most);
      expect(taken).not.toBe(413);
      expect(taken).toBeLessThan(500);
    }
    const { method, path } = requestOf(endpoint);
    expect(await announce(method, path, { ...headersOf(endpoint), bytes: most + 1 })).toBe(413);
  },
);
