import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it, vi } from 'vitest';
import type { RunningApi } from '../../../api/server.ts';
import { readSource } from '../../../bin/admin/tools.ts';
import { removeRoute } from '../../../db/routes/routes.ts';
import { storeEmailEvents } from '../../../db/emails/events.ts';
import { newId } from '../../../db/ids.ts';
import type { ProviderEmailEvent } from '../../../domain/email/statuses.ts';
import type * as registry from '../../../providers/registry.ts';
import { dribbling } from './dribbling.ts';
import { commandLine, noTools } from '../../admin/support.ts';
import { SIGNATURE, signatureOf } from '../../providers/courierKind.ts';
import { newMailAccount, takenFrom, untilEmail } from '../../support/email.ts';
import { eventually } from '../../support/eventually.ts';
import { database } from '../../support/factories.ts';
import { startOwnApi } from '../../support/ownApi.ts';

vi.mock('../../../providers/registry.ts', async (original) => {
  const { providerKinds } = await original<typeof registry>();
  const { createRegistry } = await import('../../../providers/kindRegistry.ts');
  const { mailCourier } = await import('../../providers/mailCourierKind.ts');
  return { providerKinds: createRegistry([...providerKinds.all, mailCourier]) };
});

const suffix = randomBytes(4).toString('hex');
const [first, second] = [`mail-a-${suffix}`, `mail-b-${suffix}`];
const KEYS: Record<string, string> = { [first]: 'key-of-the-first', [second]: 'key-of-the-second' };
const folder = mkdtempSync(join(tmpdir(), 'goniec-mail-'));
const secretsKey = () => Buffer.from(inject('service').secretsKey, 'base64');
const { ok } = commandLine(
  () => inject('service').databaseUrl,
  () => ({ ...noTools(), secretsKey: () => Promise.resolve(secretsKey()), read: readSource }),
);

let api: RunningApi;
beforeAll(async () => {
  for (const [name, key] of Object.entries(KEYS)) {
    const keyFile = join(folder, name);
    writeFileSync(keyFile, `${key}\n`);
    await ok('routes', 'add', '--name', name, '--kind', 'mail-courier', '--credentials', keyFile);
  }
  api = await startOwnApi({ config: { TRUST_PROXY: true } });
});
afterAll(async () => {
  await api.stop();
  const sql = database();
  await sql`update emails set route = 'simulator' where route in (${first}, ${second})`;
  await sql`delete from provider_email_events where route in (${first}, ${second})`;
  for (const name of [first, second]) await removeRoute(sql, name);
  rmSync(folder, { recursive: true });
});

interface Event {
  event: string;
  kind: string;
  ours: string | null;
  theirs: string | null;
  to: string[];
  at: string;
}
const event = (wish: Partial<Event> = {}): Event => ({
  ...{
    event: newId('evt'),
    kind: 'delivered',
    ours: null,
    theirs: null,
    to: [],
    at: new Date().toISOString(),
  },
  ...wish,
});

async function call(
  body: string,
  { path = '', key = KEYS[first]!, method = 'POST', sign = true, from = '' } = {},
) {
  const response = await fetch(`${api.url}/v1/email/callback${path}`, {
    method,
    ...(method === 'POST' ? { body } : {}),
    headers: {
      ...(sign ? { [SIGNATURE]: signatureOf(key, body) } : {}),
      ...(from === '' ? {} : { 'x-forwarded-for': from }),
    },
  });
  return { status: response.status, text: await response.text() };
}

const stored = async ({ event: id }: Event) =>
  await database()<{ route: string; kind: string; emailId: string | null; applied: boolean }[]>`
    select route, kind, email_id, applied_at is not null as applied from provider_email_events where event_id = ${id}`;

describe('a call about an e-mail', () => {
  it('is stored for the route whose provider signed it, at the common address and at its own', async () => {
    for (const path of ['', `/${second}`]) {
      const told = event();
      expect(await call(JSON.stringify(told), { path, key: KEYS[second]! })).toEqual({
        status: 200,
        text: 'OK',
      });
      // Of an e-mail that nobody knows: kept, as its hand-over may just be under way.
      expect(await stored(told)).toEqual([
        { route: second, kind: 'delivered', emailId: null, applied: false },
      ]);
    }
  });

  it('is a report of its route, which shows that its provider reaches us', async () => {
    const reportedAt = async () => {
      const [state] = await database()<{ reportedAt: Date | null }[]>`
        select reported_at from route_states where route = ${first}`;
      return state!.reportedAt;
    };
    expect(await reportedAt()).toBeNull();
    await call(JSON.stringify(event()), { key: 'key-of-nobody' });
    expect(await reportedAt()).toBeNull();
    await call(JSON.stringify(event()));
    expect(await reportedAt()).toBeInstanceOf(Date);
  });

  it('is nobody’s without a signature, with another one, or with another route’s at an address of its own', async () => {
    const told = event();
    const body = JSON.stringify(told);
    const answers = [
      await call(body, { sign: false }),
      await call(body, { key: 'key-of-nobody' }),
      await call(body, { path: `/${first}`, key: KEYS[second]! }),
      await call(body, { path: '/simulator' }),
      await call(body, { path: '/no-such-route' }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([401, 401, 401, 401, 401]);
    expect(await stored(told)).toEqual([]);
  });

  it('that was changed on its way is nobody’s', async () => {
    const body = JSON.stringify(event());
    const response = await fetch(`${api.url}/v1/email/callback`, {
      method: 'POST',
      body: body.replace('delivered', 'bounced'),
      headers: { [SIGNATURE]: signatureOf(KEYS[first]!, body) },
    });
    expect(response.status).toBe(401);
  });

  it('that is no event is 400, one that is too large 413: the provider calls again', async () => {
    expect(await call('{}')).toEqual({ status: 400, text: 'not understood' });
    expect((await call(`"${'x'.repeat(300_000)}"`)).status).toBe(413);
  });

  it('by another method is none; the common address is then one of an e-mail, which nobody has', async () => {
    for (const [method, path] of [
      ['GET', `/${first}`],
      ['HEAD', `/${first}`],
      ['PUT', `/${first}`],
      ['DELETE', ''],
      ['PUT', ''],
    ] as const)
      expect([method, path, (await call('', { method, path })).status]).toEqual([method, path, 405]);
    const { api: client } = await newMailAccount();
    for (const method of ['GET', 'HEAD']) expect((await call('', { method })).status).toBe(401);
    expect((await client.get('/v1/email/callback')).status).toBe(404);
  });

  it('that comes again and again, also at once, is one event; of another route it is another', async () => {
    const told = event();
    const body = JSON.stringify(told);
    const answers = await Promise.all(Array.from({ length: 10 }, () => call(body)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect(await stored(told)).toHaveLength(1);
    await call(body, { key: KEYS[second]! });
    expect((await stored(told)).map(({ route }) => route).sort()).toEqual([first, second]);
  });

  it('moves an e-mail of its own route, and of no other', async () => {
    const account = await newMailAccount();
    const { id } = await takenFrom(account, { to: 'silent@klient.example' });
    await untilEmail(account, id, ({ status, events }) => status === 'sent' && events.length === 1);
    const strange = event({ ours: id, kind: 'complained' });
    expect((await call(JSON.stringify(strange))).status).toBe(200);
    await database()`update emails set route = ${second} where id = ${id}`;
    const own = event({ ours: id, to: ['SILENT@klient.example'] });
    expect((await call(JSON.stringify(own), { key: KEYS[second]! })).status).toBe(200);
    const email = await untilEmail(
      account,
      id,
      ({ status, events }) => status !== 'sent' && events.length === 2,
    );
    expect(email).toMatchObject({ status: 'delivered', recipients: [{ state: 'delivered' }] });
    expect(email.events.map(({ kind }) => kind)).toEqual(['sent', 'delivered']);
    expect(await stored(strange)).toMatchObject([{ route: first, applied: false }]);
  });

  it('by the provider’s id alone, before its e-mail is known by that, is applied once it is', async () => {
    const account = await newMailAccount();
    const { id } = await takenFrom(account, { to: 'silent@klient.example' });
    await untilEmail(account, id, ({ status, events }) => status === 'sent' && events.length === 1);
    const [theirs, others] = [newId('em'), newId('em')];
    const early = event({ theirs, kind: 'bounced', to: ['silent@klient.example'] });
    const strange = event({ theirs: others, kind: 'complained', to: ['silent@klient.example'] });
    for (const one of [early, strange]) expect((await call(JSON.stringify(one))).status).toBe(200);
    // Looked for in vain, it is looked for again.
    await eventually(
      () => database()`
        select from provider_email_events where event_id = ${early.event} and look_at > received_at + interval '900 ms'`,
      ({ count }) => count === 1,
    );
    expect(await stored(early)).toEqual([{ route: first, kind: 'bounced', emailId: null, applied: false }]);
    // As the answer to its hand-over has it written.
    await database()`update emails set route = ${first}, provider_email_id = ${theirs} where id = ${id}`;
    const email = await untilEmail(account, id, ({ status }) => status === 'bounced');
    expect(email.events.map(({ kind }) => kind)).toEqual(['sent', 'bounced']);
    expect(await stored(early)).toEqual([{ route: first, kind: 'bounced', emailId: id, applied: true }]);
    expect(await stored(strange)).toMatchObject([{ emailId: null, applied: false }]);
  });

  it('that it was opened, by the provider’s id alone: a thousand are kept, and what is beyond is counted', async () => {
    const account = await newMailAccount();
    const { id } = await takenFrom(account, { to: 'silent@klient.example' });
    await untilEmail(account, id, ({ status, events }) => status === 'sent' && events.length === 1);
    const theirs = newId('em');
    await database()`update emails set route = ${first}, provider_email_id = ${theirs} where id = ${id}`;
    const opened = (): ProviderEmailEvent => ({
      ...{ eventId: newId('evt'), emailId: null, providerEmailId: theirs, kind: 'opened', permanent: null },
      ...{ addresses: [], at: new Date(), payload: {} },
    });
    await storeEmailEvents(database(), first, Array.from({ length: 995 }, opened));
    const calls = Array.from({ length: 20 }, () => event({ kind: 'opened', theirs }));
    // Where the e-mail is locked for too long the answer is 503, and a provider comes again.
    const taken = (one: unknown) =>
      eventually(
        () => call(JSON.stringify(one)),
        ({ status }) => status === 200,
      );
    await Promise.all(calls.map(taken));
    const shown = async () => (await account.v1.get(`/v1/email/${id}`)).body.data;
    expect(await shown()).toMatchObject({ events_left_out: 15 });
    const kept = (await Promise.all(calls.map(stored))).map((rows) => rows.length);
    expect(kept.filter((rows) => rows === 1)).toHaveLength(5);
    // One that is kept is not left out when it comes again.
    await call(JSON.stringify(calls[kept.indexOf(1)]));
    expect(await shown()).toMatchObject({ events_left_out: 15 });
  });

  it('does not wait behind bodies of another network that never end, nor behind those of its own for long', async () => {
    const body = JSON.stringify(event());
    const sockets = await dribbling(api, 16);
    try {
      expect(await call(body, { from: '198.51.100.1' })).toEqual({ status: 200, text: 'OK' });
      await eventually(
        () => call(body, { from: '192.0.2.200' }),
        ({ status }) => status === 200,
      );
    } finally {
      for (const socket of sockets) socket.destroy();
    }
  });
});
