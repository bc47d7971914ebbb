import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import fc from 'fast-check';
import { Webhook } from 'standardwebhooks';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import type { ProviderEmailEvent } from '../../domain/email/statuses.ts';
import type { CallbackCall } from '../../providers/callbacks.ts';
import { resend as kind } from '../../providers/resend/kind.ts';
import { resendCredentials } from '../../providers/resend/settings.ts';
import { email, openClient } from './resendClient.ts';
import { signCall, type SignedCall } from './resendServer.ts';

const SECRET = `whsec_${Buffer.from('0123456789abcdef01234567').toString('base64')}`;
const OTHER = `whsec_${Buffer.from('x'.repeat(24)).toString('base64')}`;
const ID = 'em_01kaj000000000000000000017';
const NOW = '2026-11-24T12:00:00.000Z';
const { signed, read } = kind.email!.callback!;

/** Has a call come over HTTP, and reads it as our API does. */
async function arrived({ headers, body }: SignedCall): Promise<CallbackCall> {
  let come: (call: CallbackCall) => void;
  const call = new Promise<CallbackCall>((resolve) => (come = resolve));
  const server = createServer((request, response) => {
    void request.toArray().then((chunks) => {
      const bytes = Buffer.concat(chunks as Buffer[]);
      come({ method: 'POST', query: '', headers: request.headers, body: () => Promise.resolve(bytes) });
      response.end('{}');
    });
  }).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const answer = await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', headers, body });
  await answer.text();
  return call;
}

const direct = ({ headers, body }: SignedCall): CallbackCall => ({
  ...{ method: 'POST', query: '', headers },
  body: () => Promise.resolve(Buffer.from(body)),
});
const isSigned = (call: SignedCall, webhookSecret: string | undefined = SECRET) =>
  signed({ apiKey: 're_12345678', webhookSecret }, direct(call));
const data = { email_id: 'b6c0', to: ['jan@poczta.example'], tags: { goniec_id: ID } };
const event = (type: string, over: object = {}) =>
  JSON.stringify({ type, created_at: NOW, data: { ...data, ...over } });
const readOf = (body: string) => read(direct(signCall(SECRET, body)));
async function only(body: string): Promise<ProviderEmailEvent> {
  const events = await readOf(body);
  expect(events).toHaveLength(1);
  return events![0]!;
}

afterEach(() => void vi.useRealTimers());

describe('a call of Resend’s', () => {
  it('about an e-mail that it took comes signed, and is read', async () => {
    const { resend, submit } = await openClient();
    const given = email({ to: ['Jan@Poczta.example', 'ola@poczta.example'] });
    await submit(given);
    const at = new Date();
    const bounce = { type: 'Permanent', subType: 'General', message: 'no such mailbox' };
    const extra = { to: ['ola@poczta.example'], bounce };
    const sent = resend.event(resend.sent[0]!, 'email.bounced', extra, at);
    const call = await arrived(sent);
    const credentials = { apiKey: resend.apiKey, webhookSecret: resend.webhookSecret };
    expect(await signed(credentials, call)).toBe(true);
    expect(await read(call)).toEqual([
      {
        eventId: sent.headers['svix-id'],
        ...{ emailId: given.id, providerEmailId: resend.sent[0]!.id, kind: 'bounced', permanent: true },
        ...{ addresses: ['ola@poczta.example'], namesAllTo: true, at },
        payload: JSON.parse(sent.body) as object,
      },
    ]);
  });

  it.each([
    ['signed with its secret', signCall(SECRET, 'x'), true],
    ['signed with another secret', signCall(OTHER, 'x'), false],
    ['altered', { ...signCall(SECRET, 'x'), body: 'y' }, false],
    ['as large as may be', signCall(SECRET, 'x'.repeat(256 * 1024)), true],
    ['larger', signCall(SECRET, 'x'.repeat(256 * 1024 + 1)), false],
    ['without anything', { headers: {}, body: 'x' }, false],
  ])('%s', async (_, call, expected) => {
    expect(await isSigned(call)).toBe(expected);
    // Once more, it is the same call.
    expect(await isSigned(call)).toBe(expected);
  });

  it.each([
    [-300_001, false],
    [-300_000, true],
    [300_000, true],
    [300_001, false],
  ])('that is %d ms old: signed %s', async (age, expected) => {
    const call = signCall(SECRET, 'x', new Date(NOW));
    vi.useFakeTimers({ toFake: ['Date'], now: Date.parse(NOW) + age });
    expect(await isSigned(call)).toBe(expected);
  });

  it.each([
    ['svix-id', 'msg_other'],
    ['svix-id', 'a'.repeat(201)],
    ['svix-timestamp', 'NaN'],
    ['svix-signature', `v1,${'A'.repeat(43)}=`],
  ])('with %s %j is forged', async (name, value) => {
    const call = signCall(SECRET, 'x');
    expect(await isSigned({ ...call, headers: { ...call.headers, [name]: value } })).toBe(false);
  });

  it('with the secret of its time trailing other words is forged', async () => {
    const call = signCall(SECRET, 'x');
    const timestamp = `${call.headers['svix-timestamp']}.1`;
    expect(await isSigned({ ...call, headers: { ...call.headers, 'svix-timestamp': timestamp } })).toBe(
      false,
    );
  });

  it('is checked with the secret as the panel shows it, or without its beginning; without one all are forged', async () => {
    expect(await isSigned(signCall(SECRET, 'x'), SECRET.replace('whsec_', ''))).toBe(true);
    expect(await signed({ apiKey: 're_12345678' }, direct(signCall(SECRET, 'x')))).toBe(false);
  });
});

describe('what anybody may send', () => {
  it.each([
    [{ 'svix-signature': '' }],
    [{ 'svix-signature': 'v1,abc' }],
    [{ 'svix-signature': `v2,${'A'.repeat(43)}=` }],
    [{ 'svix-id': '' }],
    [{ 'svix-timestamp': '1' }],
  ])('is not read with the headers %j', async (headers) => {
    const call = direct(signCall(SECRET, 'x'));
    const body = vi.fn(() => call.body());
    const forged = { ...call, headers: { ...call.headers, ...headers }, body };
    expect(await signed({ apiKey: 're_12345678', webhookSecret: SECRET }, forged)).toBe(false);
    expect(body).not.toHaveBeenCalled();
  });

  it('is signed by our hash where it is by the package’s', async () => {
    // Of the last second before the limit nothing is left where the machine stands still.
    vi.useFakeTimers({ toFake: ['Date'] });
    onTestFinished(() => void vi.useRealTimers());
    const signature = fc.constantFrom('right', 'wrong', 'short', 'of another version', 'none');
    const header = fc.array(signature, { minLength: 1, maxLength: 4 });
    const age = fc.constantFrom(0, -299_000, 299_000, -400_000, 400_000);
    const given = fc.tuple(header, age, fc.string({ unit: 'grapheme', maxLength: 200 }));
    await fc.assert(
      fc.asyncProperty(given, async ([kinds, ms, body]) => {
        const call = signCall(SECRET, body, new Date(Date.now() + ms));
        const right = call.headers['svix-signature']!;
        const made: Record<string, string> = {
          ...{ right, short: right.slice(0, -2), none: 'v1' },
          'of another version': right.replace('v1', 'v2'),
          wrong: signCall(OTHER, body).headers['svix-signature']!,
        };
        const headers = { ...call.headers, 'svix-signature': kinds.map((kind) => made[kind]).join(' ') };
        const expected = kinds.includes('right') && Math.abs(ms) < 300_000;
        expect(isSignedByPackage(headers, body)).toBe(expected);
        expect(await isSigned({ ...call, headers })).toBe(expected);
      }),
      { numRuns: 200 },
    );
  });

  function isSignedByPackage(headers: Record<string, string>, body: string): boolean {
    const named = Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name.replace('svix', 'webhook'), value]),
    );
    try {
      new Webhook(SECRET).verify(Buffer.from(body), named, { jsonParse: false });
      return true;
    } catch {
      return false;
    }
  }
});

describe('an event', () => {
  it.each([
    ['email.sent', 'sent'],
    ['email.delivered', 'delivered'],
    ['email.delivery_delayed', 'delayed'],
    ['email.complained', 'complained'],
    ['email.opened', 'opened'],
    ['email.clicked', 'clicked'],
    ['email.failed', 'failed'],
    ['email.suppressed', 'suppressed'],
  ])('%s is %s', async (type, expected) => {
    const call = signCall(SECRET, event(type));
    expect(await read(direct(call))).toEqual([
      {
        eventId: call.headers['svix-id'],
        ...{ emailId: ID, providerEmailId: 'b6c0', kind: expected, permanent: null },
        ...{ addresses: ['jan@poczta.example'], namesAllTo: true, at: new Date(NOW) },
        payload: { type, created_at: NOW, data },
      },
    ]);
  });

  it.each([
    [{ type: 'Permanent' }, true],
    [{ type: 'Transient' }, false],
    [{ type: 5 }, false],
    [undefined, false],
  ])('email.bounced with %j: permanent %s', async (bounce, permanent) => {
    expect(await only(event('email.bounced', { bounce }))).toMatchObject({ kind: 'bounced', permanent });
  });

  it.each(['email.scheduled', 'toString', 'email.brand_new'])(
    '%s brings nothing, and is not called again',
    async (type) => {
      expect(await readOf(event(type))).toEqual([]);
      expect(await readOf(JSON.stringify({ type }))).toEqual([]);
    },
  );

  it.each([
    '',
    'x',
    'null',
    '[]',
    '{"type":5}',
    '{"type":"email.sent"}',
    '{"type":"email.sent","data":{"to":["a@b.example"]}}',
    '['.repeat(100_000),
  ])('%# is none', async (body) => {
    expect(await readOf(body)).toBeNull();
  });

  it('names our id by its tag, in either form, and only one that is ours', async () => {
    const idOf = async (tags: unknown) => (await only(event('email.sent', { tags }))).emailId;
    expect(
      await idOf([
        { name: 'a', value: 'b' },
        { name: 'goniec_id', value: ID },
      ]),
    ).toBe(ID);
    expect(await idOf({ goniec_id: 'msg_01kaj000000000000000000017' })).toBeNull();
    for (const tags of [
      null,
      5,
      'x',
      [],
      [null],
      { goniec_id: [ID] },
      { goniec_id: `${ID}'` },
      [{ name: 'goniec_id' }],
    ])
      expect(await idOf(tags)).toBeNull();
  });

  it('of a time that cannot be is of the time it was signed', async () => {
    for (const at of ['yesterday', 5, null, '1970-01-01T00:00:00Z', '9999-01-01T00:00:00Z']) {
      const body = JSON.stringify({ type: 'email.sent', created_at: at, data });
      const { at: read } = await only(body);
      expect(Math.abs(read.getTime() - Date.now())).toBeLessThan(10_000);
    }
    const plain = JSON.stringify({ type: 'email.sent', created_at: '2026-11-24 12:00:00.5+00', data });
    expect((await only(plain)).at).toEqual(new Date('2026-11-24T12:00:00.500Z'));
  });

  it('has addresses as they came, and no end of none', async () => {
    const addressesOf = async (to: unknown) => (await only(event('email.sent', { to }))).addresses;
    expect(await addressesOf('jan@poczta.example')).toEqual(['jan@poczta.example']);
    expect(await addressesOf([1, null, '', 'a\0b', 'x'.repeat(321), {}])).toEqual(['a\uFFFDb']);
    expect(await addressesOf(Array.from({ length: 1000 }, (_, n) => `a${n}@b.example`))).toHaveLength(100);
    expect(await addressesOf(undefined)).toEqual([]);
  });

  it('has all that it came with, as far as it can be stored', async () => {
    const clicked = { click: { link: 'https://a.example/\0?\ud800', ipAddress: '192.0.2.1', '\0': 1 } };
    const { payload } = await only(event('email.clicked', clicked));
    expect(payload).toMatchObject({ type: 'email.clicked', created_at: NOW });
    expect((payload['data'] as Record<string, unknown>)['click']).toEqual({
      ...{ link: 'https://a.example/\uFFFD?\uFFFD', ipAddress: '192.0.2.1' },
      '\uFFFD': 1,
    });
    let deep: unknown = 'x';
    for (let n = 0; n < 1000; n += 1) deep = { deep };
    expect(JSON.stringify((await only(event('email.sent', { deep }))).payload).length).toBeLessThan(1000);
  });

  it('of more than 64 kB keeps what it is, and whom it is about', async () => {
    const many = Array.from({ length: 6000 }, (_, n) => `field-${n}`);
    const { payload, addresses } = await only(
      event('email.bounced', { bounce: { type: 'Permanent' }, many }),
    );
    expect(payload).toEqual({ type: 'email.bounced', shortened: true });
    expect(addresses).toEqual(['jan@poczta.example']);
  });

  it('is read whatever it is: the same each time, bounded, and never a failure', async () => {
    await fc.assert(
      fc.asyncProperty(fc.dictionary(fc.string(), fc.jsonValue()), async (more) => {
        const body = JSON.stringify({
          type: 'email.sent',
          created_at: NOW,
          data: { ...more, email_id: 'b6c0' },
        });
        const { payload, at } = await only(body);
        expect(JSON.stringify(payload)).not.toMatch(/\\u0000|\\ud[89a-f]/);
        expect(at).toEqual(new Date(NOW));
      }),
    );
    await fc.assert(
      fc.asyncProperty(fc.string(), async (body) => {
        await readOf(body);
        expect(await isSigned({ headers: { 'svix-id': body, 'svix-signature': body }, body })).toBe(false);
      }),
    );
  });
});

describe('the credentials of a route to Resend', () => {
  const fits = (credentials: object) => resendCredentials.safeParse(credentials).success;

  it('are an API key, and the secret that the provider signs with', () => {
    expect(fits({ apiKey: 're_12345678' })).toBe(true);
    for (const webhookSecret of [SECRET, SECRET.replace('whsec_', '')])
      expect(fits({ apiKey: 're_12345678', webhookSecret })).toBe(true);
  });

  it.each(['', 'whsec_short', 'whsec_not base64 at all!', `whsec_${'A'.repeat(400)}`, 'A'.repeat(33)])(
    'are none with the secret %j',
    (webhookSecret) => {
      expect(fits({ apiKey: 're_12345678', webhookSecret })).toBe(false);
    },
  );

  it('cannot smuggle anything into a header', () => {
    expect(fits({ apiKey: 're_123\r\nX: y' })).toBe(false);
    expect(fits({ apiKey: 'short' })).toBe(false);
    expect(fits({ apiKey: 're_12345678', former: {} })).toBe(false);
  });
});
