import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pino from 'pino';
import { afterAll, beforeAll, describe, expect, inject, it, vi } from 'vitest';
import { type RunningApi, startApi } from '../../api/server.ts';
import { readSource } from '../../bin/admin/tools.ts';
import { removeRoute } from '../../db/routes/routes.ts';
import type * as registry from '../../providers/registry.ts';
import { commandLine, listIn, noTools } from '../admin/support.ts';
import { SIGNATURE, signatureOf } from '../providers/courierKind.ts';
import { callBack } from '../smsapi/callbacks.ts';
import { database, newAccount } from '../support/factories.ts';

// What a new kind has to touch outside its own file: one more in the list.
vi.mock('../../providers/registry.ts', async (original) => {
  const { providerKinds } = await original<typeof registry>();
  const { createRegistry } = await import('../../providers/kindRegistry.ts');
  const { courier } = await import('../providers/courierKind.ts');
  return { providerKinds: createRegistry([...providerKinds.all, courier]) };
});

const route = `courier-${randomBytes(4).toString('hex')}`;
const KEY = 'key-of-the-courier';
const folder = mkdtempSync(join(tmpdir(), 'goniec-courier-'));
const keyFile = join(folder, 'key');
const secretsKey = () => Buffer.from(inject('service').secretsKey, 'base64');
const { ok, no } = commandLine(
  () => inject('service').databaseUrl,
  () => ({ ...noTools(), secretsKey: () => Promise.resolve(secretsKey()), read: readSource }),
);
const add = (name: string, ...more: string[]) => [
  ...['routes', 'add', '--name', name, '--kind', 'courier', '--host', 'yard', ...more],
  ...['--courier-id', 'c-1', '--credentials', keyFile],
];

let api: RunningApi;
beforeAll(async () => {
  writeFileSync(keyFile, `${KEY}\n`);
  const { databaseUrl, temporalAddress } = inject('service');
  api = await startApi({
    databaseUrl,
    databasePool: 2,
    temporal: { address: temporalAddress, namespace: 'default' },
    config: {
      DEFAULT_SENDER: 'INFO',
      WEBHOOK_ALLOW_PRIVATE: true,
      TRUST_PROXY: false,
      SIMULATOR_PUBLIC: false,
      REQUESTS_AT_ONCE: 100,
      HEAVY_REQUESTS_AT_ONCE: 4,
      MCP_CONFIRM_RECIPIENTS: 10,
      MCP_CONFIRM_GROSZE: 500,
      NUMBER_CODES_A_DAY: 100_000,
      SIGN_UP_EMAILS_A_DAY: 100_000,
      SIGN_IN_EMAILS_A_DAY: 100_000,
    },
    secretsKey: secretsKey(),
    log: pino({ level: 'silent' }),
    port: 0,
    host: '127.0.0.1',
  });
});
afterAll(async () => {
  await api.stop();
  await database()`delete from delivery_reports where route = ${route}`;
  await removeRoute(database(), route);
  rmSync(folder, { recursive: true });
});

describe('a new kind of provider, on the command line', () => {
  it('has its options and settings checked', async () => {
    expect((await no(...add(route, '--bags', '10'))).message).toContain(
      'a whole number from 1 to 9 is needed',
    );
    expect(await no(...add(route, '--port', '1'))).toMatchObject({ code: 'invalid_argument' });
    expect(
      (await no('routes', 'add', '--name', route, '--kind', 'courier', '--host', 'y')).message,
    ).toContain('a file with the key');
  });

  it('gets a route, with the addresses to call', async () => {
    const ours = ['--settings', '{"ourUrl": "https://sms.example.pl"}'];
    expect(await ok(...add(route, '--bags', '3', ...ours))).toMatchObject({
      settings: { host: 'yard', bags: 3 },
      credentials: 'stored',
      callback_events: `https://sms.example.pl/callbacks/${route}/courier-events`,
    });
    expect(await ok('routes', 'test', route)).toMatchObject({ works: true, answer: 'waits at yard' });
    expect((await no('routes', 'callbacks', route, '--secret', 'new')).code).toBe('refused');
  });

  it('is given only what it carries', async () => {
    const rule = ['routes', 'rules', 'add', '--route', route, '--type'];
    expect((await no(...rule, 'hlr')).message).toContain('a route of kind courier carries no hlr');
    // Only for a new account, so that other tests do not use it.
    const account = ['--account', (await newAccount()).id];
    const { id } = await ok(...rule, 'mms', '--prefix', '48', ...account);
    const chosen = await ok('routes', 'which', '--to', '+48500100200', '--type', 'mms', ...account);
    expect(listIn(chosen)).toMatchObject([{ route }]);
    await ok('routes', 'rules', 'remove', String(id));
  });
});

describe('its callbacks', () => {
  const address = () => `${api.url}/callbacks/${route}/courier-events`;
  const call = async (body: string, signature = signatureOf(KEY, body)) => {
    const response = await fetch(address(), { method: 'POST', body, headers: { [SIGNATURE]: signature } });
    return { status: response.status, text: await response.text() };
  };
  const stored = () => database()<{ id: string; state: string }[]>`
    select provider_message_id as id, state from delivery_reports where route = ${route}`;

  it('are stored where they are signed', async () => {
    const body = JSON.stringify({ id: 'c-1', delivered: true });
    expect(await call(body)).toEqual({ status: 200, text: 'OK' });
    expect(await stored()).toEqual([{ id: 'c-1', state: 'delivered' }]);
  });

  it('give 404 with another signature, or none', async () => {
    const body = JSON.stringify({ id: 'c-2', delivered: true });
    expect(await call(body, signatureOf('another key', body))).toEqual({ status: 404, text: 'not found' });
    expect((await callBack(address(), { id: 'c-2' })).status).toBe(404);
    expect(await stored()).toHaveLength(1);
  });

  it('are not understood where its own reading says so; too long ones are not read', async () => {
    expect(await call('{}')).toEqual({ status: 400, text: 'not understood' });
    expect((await call(`"${'x'.repeat(70_000)}"`)).status).toBe(413);
  });

  it('share a path with another kind, and not its proof', async () => {
    expect((await callBack(`${api.url}/callbacks/${route}/any-secret/reports`, {})).status).toBe(404);
    expect((await callBack(`${api.url}/callbacks/simulator/courier-events`, {})).status).toBe(404);
  });
});
