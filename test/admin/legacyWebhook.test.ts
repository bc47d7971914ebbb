import { randomBytes } from 'node:crypto';
import { beforeEach, expect, test } from 'vitest';
import { newId } from '../../db/ids.ts';
import { commandLine, noTools, ownDatabase } from './support.ts';

const database = ownDatabase();
const key = randomBytes(32);
let allowPrivate = false;
const { ok, no } = commandLine(database.url, () => ({
  ...noTools(),
  secretsKey: () => Promise.resolve(key),
  webhookAllowPrivate: () => Promise.resolve(allowPrivate),
}));

let account: string;
beforeEach(async () => {
  account = await database.account();
  allowPrivate = false;
});

const legacy = (...more: string[]) => ['webhooks', 'legacy', '--account', account, ...more];

test('an address is set, kept with its secret, given a new one, and turned off', async () => {
  const first = await ok(...legacy('--url', 'https://example.com/hook?token=tajny'));
  expect(first).toEqual({
    legacy_webhook_url: 'https://example.com/hook?token=tajny',
    legacy_webhook_secret: expect.stringMatching(/^whsec_[\w-]{43}$/) as string,
  });
  const secret = String(first.legacy_webhook_secret);
  const moved = await ok(...legacy('--url', 'https://example.org/'));
  expect(moved).toEqual({ legacy_webhook_url: 'https://example.org/', legacy_webhook_secret: secret });
  const rotated = await ok(...legacy('--rotate-secret'));
  expect(rotated.legacy_webhook_url).toBe('https://example.org/');
  expect(rotated.legacy_webhook_secret).not.toBe(secret);
  expect((await no(...legacy())).message).toMatch(/--url.*--rotate-secret/);
  const off = await ok(...legacy('--url', 'none'));
  expect(off).toEqual({ ...rotated, legacy_webhook_url: null });

  const [stored] = await database.sql()`
    select legacy_webhook_url as url, encode(legacy_webhook_secret, 'escape') as secret, webhook_url, webhook_secret
      from accounts where id = ${account}`;
  expect(stored).toMatchObject({ url: null, webhookUrl: null, webhookSecret: null });
  expect(stored!.secret).not.toContain(String(rotated.legacy_webhook_secret));
  const audit = await database.sql()`
    select action, details->'changes' as changes from audit_log where account_id = ${account} order by id`;
  expect(audit).toEqual(
    [
      { url: { from: null, to: 'https://example.com/…' }, secret: { from: null, to: 'new' } },
      { url: { from: 'https://example.com/…', to: 'https://example.org' } },
      {
        url: { from: 'https://example.org', to: 'https://example.org' },
        secret: { from: 'former', to: 'new' },
      },
      { url: { from: 'https://example.org', to: null } },
    ].map((changes) => ({ action: 'webhooks legacy', changes })),
  );
  expect(JSON.stringify(audit)).not.toContain('tajny');
});

test('an address that no webhook may have is refused with the option’s name, and nothing is changed', async () => {
  for (const url of [
    'http://example.com/',
    'https://127.0.0.1/',
    'https://u:p@example.com/',
    'example.com',
  ]) {
    const { code, message } = await no(...legacy('--url', url));
    expect([url, code, message.startsWith('--url')]).toEqual([url, 'invalid_argument', true]);
  }
  const [stored] = await database.sql()`
    select legacy_webhook_url as url, legacy_webhook_secret as secret from accounts where id = ${account}`;
  expect(stored).toEqual({ url: null, secret: null });
  allowPrivate = true;
  expect(await ok(...legacy('--url', 'http://127.0.0.1:8080/'))).toMatchObject({
    legacy_webhook_url: 'http://127.0.0.1:8080/',
  });
});

test('an account that is closed, or not there, is refused', async () => {
  await database.sql()`update accounts set status = 'closed' where id = ${account}`;
  expect((await no(...legacy('--url', 'https://example.com/'))).code).toBe('refused');
  account = newId('cl');
  expect((await no(...legacy('--url', 'https://example.com/'))).code).toBe('not_found');
});
