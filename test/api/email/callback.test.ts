import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it, vi } from 'vitest';
import type { RunningApi } from '../../../api/server.ts';
import { readSource } from '../../../bin/admin/tools.ts';
import { removeRoute } from '../../../db/routes/routes.ts';
import { newId } from '../../../db/ids.ts';
import type * as registry from '../../../providers/registry.ts';
import { commandLine, noTools } from '../../admin/support.ts';
import { SIGNATURE, signatureOf } from '../../providers/courierKind.ts';
import { type MailAccount, newMailAccount, takenFrom, untilEmail } from '../../support/email.ts';
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

async function call(body: string, { path = '', key = KEYS[first]!, sign = true, from = '' } = {}) {
  const response = await fetch(`${api.url}/v1/email/callback${path}`, {
    method: 'POST',
    body,
    headers: {
      ...(sign ? { [SIGNATURE]: signatureOf(key, body) } : {}),
      ...(from === '' ? {} : { 'x-forwarded-for': from }),
    },
  });
  return { status: response.status, text: await response.text() };
}

/** Begins calls of one network whose bodies come byte by byte, without end. */
async function endless(count: number): Promise<Socket[]> {
  return await Promise.all(
    Array.from({ length: count }, async (_, i) => {
      const socket = connect(api.port, '127.0.0.1');
      socket.on('error', () => undefined);
      await once(socket, 'connect');
      socket.write('POST /v1/email/callback HTTP/1.1\r\nHost: x\r\nContent-Length: 200000\r\n');
      // Some proxies add the port.
      socket.write(`X-Forwarded-For: 192.0.2.${i}:${10_000 + i}\r\n\r\n{`);
      const more = setInterval(() => socket.write(' '), 250);
      socket.on('close', () => clearInterval(more));
      return socket;
    }),
  );
}

/** An e-mail that its provider has and reports nothing more about. */
async function sentEmail(account: MailAccount): Promise<string> {
  const { id } = await takenFrom(account, { to: 'silent@klient.example' });
  await untilEmail(account, id, ({ status, events }) => status === 'sent' && events.length === 1);
  return id;
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
      // Kept without its e-mail, whose hand-over may still be under way.
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

  it('is refused without a signature, with a wrong one, or with another route’s at an address of its own', async () => {
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

  it('that is no event is 400, one that is too large 413', async () => {
    expect(await call('{}')).toEqual({ status: 400, text: 'not understood' });
    expect((await call(`"${'x'.repeat(300_000)}"`)).status).toBe(413);
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
    const id = await sentEmail(account);
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
    const id = await sentEmail(account);
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

  it('waits neither for endless bodies of another network, nor long for those of its own', async () => {
    const body = JSON.stringify(event());
    const sockets = await endless(16);
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
