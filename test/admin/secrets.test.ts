import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { checkSecretsKey } from '../../bin/secrets.ts';
import { decrypt, encrypt } from '../../db/installation.ts';
import { emailSecretOwner } from '../../db/emails/accept.ts';
import { sealDomainKey } from '../../db/emails/domains.ts';
import { textOf } from '../../db/emails/handOver.ts';
import { totpSecretOwner } from '../../db/people/factors.ts';
import { newId } from '../../db/ids.ts';
import { addRoute, readRoutes, routeCredentials, sealCredentials } from '../../db/routes/routes.ts';
import { signingKeyOf } from '../support/senderDomains.ts';
import { commandLine, noTools, ownDatabase } from './support.ts';

const database = ownDatabase();
let key = randomBytes(32);
let typed = '';
const { ok, no } = commandLine(database.url, () => ({
  ...noTools(),
  secretsKey: () => Promise.resolve(key),
  read: () => Promise.resolve(typed),
}));

async function accountWith(secret: string, before: string | null): Promise<string> {
  const id = newId('cl');
  await database.sql()`
    insert into accounts (id, name, mode, webhook_secret, webhook_secret_before, legacy_webhook_secret)
    values (${id}, 'Test', 'live', ${encrypt(key, id, secret)}, ${before && encrypt(key, id, before)},
            ${encrypt(key, id, `legacy_${secret}`)})`;
  return id;
}

async function secretsOf(id: string, by: Buffer): Promise<unknown[]> {
  const [row] = await database.sql()<{ now: Buffer; before: Buffer | null; legacy: Buffer }[]>`
    select webhook_secret as now, webhook_secret_before as before, legacy_webhook_secret as legacy
      from accounts where id = ${id}`;
  expect(decrypt(by, id, row!.legacy)).toBe(`legacy_${decrypt(by, id, row!.now)}`);
  return [decrypt(by, id, row!.now), row!.before && decrypt(by, id, row!.before)];
}

test('all secrets are read with the new key alone, and processes with the old one refuse to start', async () => {
  await checkSecretsKey(database.url(), key);
  const both = await accountWith('whsec_now', 'whsec_before');
  const one = await accountWith('whsec_one', null);
  const route = {
    name: 'plus',
    kind: 'smpp',
    state: 'disabled',
    settings: {},
    ratePerSecond: null,
    brokenAfterS: 10,
  } as const;
  await addRoute(database.sql(), {
    ...route,
    credentials: sealCredentials(key, 'plus', { password: 'tajne' }),
  });

  await database.sql()`
    insert into sender_domains (id, account_id, name, dkim_selector, dkim_public_key, dkim_private_key)
    values ('dom_1', ${one}, 'sklep.example', 'goniec-1', 'public', ${sealDomainKey(key, 'dom_1', 'private')})`;

  await database.sql()`
    insert into emails (id, account_id, request_id, status, interface, route, domain, from_address, subject, cost_grosze, give_up_at)
    values ('em_1', ${one}, 'req_1', 'queued', 'v2', 'simulator', 'sklep.example', 'a@sklep.example', 'x', 0, now())`;
  const waiting = encrypt(key, emailSecretOwner('em_1'), 'kod: 123456');
  await database.sql()`insert into email_contents (email_id, sealed) values ('em_1', ${waiting})`;
  await database.sql()`insert into people (id, address) values ('per_1', 'jan@sklep.example')`;
  const totp = encrypt(key, totpSecretOwner('per_1'), 'JBSWY3DP');
  await database.sql()`insert into totp (person_id, secret, last_step) values ('per_1', ${totp}, 1)`;

  const next = randomBytes(32);
  typed = `${next.toString('base64')}\n`;
  expect(await ok('secrets', 'rotate', '--new-key', '-')).toEqual({
    webhooks: 2,
    routes: 1,
    domains: 1,
    totp: 1,
    staff: 0,
  });
  expect(await secretsOf(both, next)).toEqual(['whsec_now', 'whsec_before']);
  expect(await secretsOf(one, next)).toEqual(['whsec_one', null]);
  await expect(secretsOf(one, key)).rejects.toThrow('does not match');
  const stored = (await readRoutes(database.sql())).find(({ name }) => name === 'plus');
  expect(routeCredentials(next, stored!)).toEqual({ password: 'tajne' });
  const signing = { name: 'sklep.example', selector: 'goniec-1', privateKey: 'private' };
  expect(await signingKeyOf(database.sql(), next, one, 'sklep.example')).toEqual(signing);
  await expect(signingKeyOf(database.sql(), key, one, 'sklep.example')).rejects.toThrow('does not match');
  const [mail] = await database.sql()<{ sealed: Buffer }[]>`select sealed from email_contents`;
  expect(textOf(next, { id: 'em_1', text: null, sealed: mail!.sealed })).toBe('kod: 123456');
  const [app] = await database.sql()<{ secret: Buffer }[]>`select secret from totp`;
  expect(decrypt(next, totpSecretOwner('per_1'), app!.secret)).toBe('JBSWY3DP');
  await checkSecretsKey(database.url(), next);
  await expect(checkSecretsKey(database.url(), key)).rejects.toThrow('SECRETS_KEY');
  const audit = await database.sql()`select details from audit_log where action = 'secrets rotate'`;
  expect(audit).toMatchObject([{ details: { webhooks: 2, routes: 1, domains: 1, totp: 1, staff: 0 } }]);
  expect(JSON.stringify(audit)).not.toContain(next.toString('base64'));
  key = next;
});

test('what is no key, or the same, is refused; one secret that cannot be read leaves all as they were', async () => {
  for (typed of ['', 'x', randomBytes(16).toString('base64'), `${'A'.repeat(43)}*`]) {
    const { code, message } = await no('secrets', 'rotate', '--new-key', '-');
    expect(code).toBe('invalid_argument');
    if (typed.length > 1) expect(message).not.toContain(typed);
  }
  typed = key.toString('base64');
  expect((await no('secrets', 'rotate', '--new-key', '-')).code).toBe('refused');
  const good = await accountWith('whsec_good', null);
  const bad = await accountWith('whsec_bad', null);
  await database.sql()`update accounts set webhook_secret = ${randomBytes(60)} where id = ${bad}`;
  typed = randomBytes(32).toString('base64');
  expect((await no('secrets', 'rotate', '--new-key', '-')).message).toContain('nothing was changed');
  expect(await secretsOf(good, key)).toEqual(['whsec_good', null]);
  await checkSecretsKey(database.url(), key);
});
