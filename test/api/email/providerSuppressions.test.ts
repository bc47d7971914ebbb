import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { pauseRoute } from '../../../db/routes/pacing.ts';
import { removeRoute } from '../../../db/routes/routes.ts';
import { commandLine, noTools } from '../../admin/support.ts';
import { errorAnswer, type ResendServer, startResend, write } from '../../providers/resendServer.ts';
import { type MailAccount, newMailAccount, takenFrom, untilEmail } from '../../support/email.ts';
import { eventually } from '../../support/eventually.ts';
import { database } from '../../support/factories.ts';

const PATH = '/v1/email/suppressions';
const ROUTE = `resend-${randomBytes(4).toString('hex')}`;
const PACED = `${ROUTE}-paced`;
const RATE = 2;
const secretsKey = () => Buffer.from(inject('service').secretsKey, 'base64');
let resend: ResendServer;
const { ok } = commandLine(
  () => inject('service').databaseUrl,
  () => ({
    ...noTools(),
    secretsKey: () => Promise.resolve(secretsKey()),
    read: () => Promise.resolve(resend.apiKey),
  }),
);

beforeAll(async () => {
  resend = await startResend();
  const route = ['--kind', 'resend', '--url', resend.url, '--credentials', '-'];
  await ok('routes', 'add', '--name', ROUTE, ...route);
  await ok('routes', 'add', '--name', PACED, '--rate', String(RATE), ...route);
});
afterAll(async () => {
  for (const name of [ROUTE, PACED]) {
    await database()`update emails set route = 'simulator' where route = ${name}`;
    await removeRoute(database(), name);
  }
  await resend.close();
});

/** An address that is on the list for what the provider of a route reported. */
async function bounced(account: MailAccount, address: string, route = ROUTE): Promise<void> {
  const { id } = await takenFrom(account, { to: address });
  await untilEmail(account, id, ({ status }) => status === 'bounced');
  await database()`update emails set route = ${route} where id = ${id}`;
  resend.suppressions.add(address);
}

/** When the next place of the route is, epoch milliseconds. */
async function nextPlace(): Promise<number> {
  const [row] = await database()<{ next: number }[]>`
    select (extract(epoch from next_slot_at) * 1000)::float8 as next from route_states where route = ${PACED}`;
  return row!.next;
}

const removes = () =>
  resend.calls
    .map(({ method, path }) => `${method} ${path}`)
    .filter((call) => /^DELETE .suppressions/.test(call));

describe('an address that is taken off the suppression list', () => {
  it('is taken off the list of the provider that reported it', async () => {
    const account = await newMailAccount();
    await bounced(account, 'bounced+a@klient.example');
    expect((await account.v1.delete(`${PATH}/bounced%2Ba@klient.example`)).status).toBe(200);
    expect(resend.suppressions.has('bounced+a@klient.example')).toBe(false);
    expect((await account.v1.get(PATH)).body.data).toMatchObject({ count: 0 });
    expect(removes()).toEqual(['DELETE /suppressions/bounced%2Ba%40klient.example']);
  });

  it('is off ours whatever the provider says, and where it is not on the provider’s', async () => {
    const account = await newMailAccount();
    for (const address of ['bounced+b@klient.example', 'bounced+c@klient.example'])
      await bounced(account, address);
    resend.suppressions.delete('bounced+b@klient.example');
    expect((await account.v1.delete(`${PATH}/bounced%2Bb@klient.example`)).status).toBe(200);
    resend.always((response) => write(response, errorAnswer(401, 'restricted_api_key')));
    expect((await account.v1.delete(`${PATH}/bounced%2Bc@klient.example`)).status).toBe(200);
    resend.always(null);
    expect((await account.v1.get(PATH)).body.data).toMatchObject({ count: 0 });
  });

  it('is nobody else’s matter where somebody put it there, or another provider reported it', async () => {
    const account = await newMailAccount();
    const before = removes().length;
    await account.v1.post(PATH, { addresses: ['jan@klient.example'] });
    await bounced(account, 'bounced+d@klient.example', 'simulator');
    for (const address of ['jan', 'bounced%2Bd'])
      expect((await account.v1.delete(`${PATH}/${address}@klient.example`)).status).toBe(200);
    expect((await account.v1.delete(`${PATH}/jan@klient.example`)).status).toBe(404);
    expect(removes()).toHaveLength(before);
  });

  it('is taken off within the rate of the route, which e-mails share', async () => {
    const account = await newMailAccount();
    const addresses = Array.from({ length: 4 }, (_, i) => `bounced+rate${i}@klient.example`);
    for (const address of addresses) await bounced(account, address, PACED);
    // As a worker does that hands e-mails over: the next place is in a second.
    await pauseRoute(database(), PACED, 1_000);
    const before = await nextPlace();
    const answers = await Promise.all(
      addresses.map((address) => account.v1.delete(`${PATH}/${encodeURIComponent(address)}`)),
    );
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    await eventually(
      () => Promise.resolve(addresses.filter((address) => resend.suppressions.has(address))),
      ({ length }) => length === 0,
    );
    // Each has had a place of its own in the row of the route.
    expect((await nextPlace()) - before).toBeGreaterThanOrEqual((addresses.length * 1_000) / RATE);
  });

  it('goes on behind the answer where the route is paused for longer', async () => {
    const account = await newMailAccount();
    await bounced(account, 'bounced+later@klient.example', PACED);
    // The answer comes after five seconds.
    await pauseRoute(database(), PACED, 15_000);
    expect((await account.v1.delete(`${PATH}/bounced%2Blater@klient.example`)).status).toBe(200);
    expect(resend.suppressions.has('bounced+later@klient.example')).toBe(true);
    await eventually(
      () => Promise.resolve(resend.suppressions.has('bounced+later@klient.example')),
      (kept) => !kept,
    );
  });
});
