import { request } from 'node:http';
import { describe, expect, inject, it } from 'vitest';
import { newId } from '../../db/ids.ts';
import { hasSimulatedNetwork } from '../../operations/support/simulator.ts';
import { commandLine } from '../admin/support.ts';
import { newMailAccount, takenFrom, untilEmail } from '../support/email.ts';
import { eventually } from '../support/eventually.ts';
import { database, newAccount, type TestAccount, untilStatus } from '../support/factories.ts';
import { startOwnApi } from '../support/ownApi.ts';
import { POLICY } from '../support/pages.ts';

const HOSTILE = `<script>alert(1)</script> "&' https://a.example/?x=1&y=2. javascript:alert(2) (s.example/l/Ab1).`;
const SHOWN_LINKS = /href="https:\/\/a\.example\/\?x=1&amp;y=2".*href="http:\/\/s\.example\/l\/Ab1"/;
const OURS = { 'sec-fetch-site': 'same-origin' };
const { ok } = commandLine(() => inject('service').databaseUrl);

let numbers = 0;
/** A phone of this test alone. */
const newPhone = (): string => `+48${String(728_000_000 + (numbers += 1))}`;

interface Seen {
  status: number;
  headers: Record<string, unknown>;
  text: string;
}

/** Asks with any headers, `Host` too. */
function ask(
  path: string,
  wish: { method?: string; headers?: Record<string, string>; form?: Record<string, string> } = {},
  base = inject('service').apiUrl,
): Promise<Seen> {
  const { method = wish.form === undefined ? 'GET' : 'POST', headers = {}, form } = wish;
  return new Promise((resolve, reject) => {
    const asked = request(base + path, { method, headers, agent: false }, (response) => {
      const pieces: Buffer[] = [];
      response.on('data', (piece: Buffer) => pieces.push(piece));
      response.on('end', () =>
        resolve({
          status: response.statusCode!,
          headers: response.headers,
          text: Buffer.concat(pieces).toString(),
        }),
      );
    });
    asked.on('error', reject);
    asked.end(form === undefined ? undefined : new URLSearchParams(form).toString());
  });
}

const phonePath = (msisdn: string) => `/simulator/phone?number=${encodeURIComponent(msisdn)}`;
const untilShown = (path: string, part: string) =>
  eventually(
    () => ask(path),
    ({ text }) => text.includes(part),
  );
const send = async ({ api }: TestAccount, to: string, text: string) =>
  (await api.accepted({ to, from: 'SKLEP', text })).id;
const senders = ['SKLEP'];

describe('a phone of the simulator', () => {
  it('shows what it received as text with links, whole and newest first, to the command line as well', async () => {
    const [account, phone] = [await newAccount({ senders }), newPhone()];
    const long = `${'długie '.repeat(40)}koniec`;
    await untilStatus(account, await send(account, phone, long), 'delivered');
    await untilStatus(account, await send(account, phone, HOSTILE), 'delivered');
    const { status, headers, text } = await ask(phonePath(phone));
    expect([status, headers['content-security-policy']]).toEqual([200, POLICY]);
    expect(text).toMatch(SHOWN_LINKS);
    expect(text).toContain('&lt;script>alert(1)&lt;/script> &quot;&amp;');
    expect(text).not.toMatch(/<script|href="javascript/);
    expect(text.indexOf('alert(1)')).toBeLessThan(text.indexOf(long));
    const received = { from: 'SKLEP', received_at: expect.stringMatching(/Z$/) as string };
    expect(await ok('simulator', 'phone', '--number', phone.slice(3))).toEqual({
      messages: [
        { ...received, text: HOSTILE },
        { ...received, text: long },
      ],
    });
    // The latest of all tests that run now.
    expect((await ask('/simulator')).text).toMatch(/href="\/simulator\/phone\?number=%2B\d+"/);
  });

  it('answers, and shows its answer below the message, but not what came by another route', async () => {
    const [account, phone] = [await newAccount({ senders, inboundNumber: newPhone() }), newPhone()];
    const id = await send(account, phone, 'Pytanie');
    await untilStatus(account, id, 'delivered');
    const answered = await ask('/simulator/phone', {
      headers: OURS,
      form: { number: phone, action: 'reply', text: 'Tak <b>\0', to: '' },
    });
    expect(answered.status).toBe(303);
    const { text } = await untilShown(phonePath(phone), 'Tak &lt;b>\ufffd');
    expect(text).not.toContain('<b>');
    expect((await account.api.get('/v1/inbound')).body.data).toMatchObject([{ from: phone, reply_to: id }]);
    await database()`
      insert into inbound_messages (id, route, provider_reference, sender, received_text, state, account_id, text, matched_by, reply_to)
      values (${newId('in')}, 'smsc', ${id}, ${phone}, 'Prawdziwy', 'matched', ${account.id}, 'Prawdziwy', 'last_message', ${id})`;
    expect((await ask(phonePath(phone))).text).not.toContain('Prawdziwy');
  });

  it('switched off receives nothing until it is on again, as one that is never reached', async () => {
    const [account, phone] = [await newAccount({ senders }), newPhone()];
    const turn = (action: string) =>
      ask('/simulator/phone', { headers: OURS, form: { number: phone, action } });
    await turn('off');
    await untilStatus(account, await send(account, phone, 'Przepadnie'), 'undelivered');
    await turn('on');
    await untilStatus(account, await send(account, phone, 'Dojdzie'), 'delivered');
    const unreached = '+48728901901';
    await untilStatus(account, await send(account, unreached, 'Przepadnie'), 'undelivered');
    for (const [number, texts] of [
      [phone, ['Dojdzie']],
      [unreached, []],
    ] as const) {
      const { messages } = await ok('simulator', 'phone', '--number', number);
      expect((messages as { text: string }[]).map(({ text }) => text)).toEqual(texts);
    }
  });

  it('has a way to what is older', async () => {
    const phone = newPhone();
    await database()`
      insert into simulator_submits (provider_message_id, reference, destination, encoding, content, part, parts, priority, received_at)
      select ${phone} || n, 'msg_' || n || '/1', ${phone}, 'gsm7', 'nr ' || n || '!', 1, 1, false, now() - n * interval '1 millisecond'
        from generate_series(1, 51) n`;
    const first = (await ask(phonePath(phone))).text;
    expect([first.includes('nr 50!'), first.includes('nr 51!')]).toEqual([true, false]);
    const [, older = ''] = /class="older" href="([^"]*)"/.exec(first) ?? [];
    const second = (await ask(older.replaceAll('&amp;', '&'))).text;
    expect([second.includes('nr 50!'), second.includes('nr 51!')]).toEqual([false, true]);
  });

  it.each([
    [{ number: 'x', action: 'off' }, 400],
    [{ number: '+48728000000', action: 'reply', text: ' ' }, 400],
    [{ number: '+48728000000', action: 'reply', text: 'a', to: 'x' }, 400],
    [{ number: '+48728000000', action: 'reply', text: 'a'.repeat(70_000) }, 413],
  ])('refuses %j', async (form, status) => {
    expect((await ask('/simulator/phone', { headers: OURS, form })).status).toBe(status);
  });
});

describe('a mailbox of the simulator', () => {
  it('shows e-mails as text, their HTML in a document that may do nothing, and reports what happens to them', async () => {
    const account = await newMailAccount();
    const address = `ala-${newId('em').slice(-8)}@klient.example`;
    const html = '<p>Hej <script>alert(1)</script><a href="https://a.example">tu</a></p>';
    const email = { to: address, subject: HOSTILE, text: `Hej\n${HOSTILE}`, html, from_name: 'Sklep' };
    const { id } = await takenFrom(account, email);
    await untilEmail(account, id, ({ status }) => status === 'delivered');
    const mailbox = await ask(`/simulator/mailbox?address=${address.toUpperCase()}`);
    const path = `/simulator/email?id=${id}`;
    expect(mailbox.text).toContain(`href="${path}"`);
    const page = await ask(path);
    expect(page.text).toMatch(SHOWN_LINKS);
    for (const { text } of [mailbox, page]) expect(text).not.toMatch(/<script|href="javascript/);
    const document = await ask(`/simulator/email/html?id=${id}`);
    expect(document.text).toBe(html);
    expect(document.headers['content-security-policy']).toMatch(
      /^sandbox allow-popups .*default-src 'none'; style-src 'unsafe-inline';/,
    );
    expect(await ok('simulator', 'mailbox', '--address', address)).toEqual({
      emails: [
        {
          ...{ to: address, from: expect.stringMatching(/^Sklep <.*@.*>$/) as string, subject: HOSTILE },
          ...{ text: email.text, html, sent_at: expect.stringMatching(/Z$/) as string },
        },
      ],
    });
    const react = (form: object) =>
      ask('/simulator/email', { headers: OURS, form: { id, address, reaction: 'opened', ...form } });
    for (const [form, status] of [
      [{}, 303],
      [{ reaction: 'bounced' }, 303],
      [{ reaction: 'constructor' }, 404],
      [{ address: 'ola@klient.example' }, 404],
      [{ id: newId('em') }, 404],
    ] as const)
      expect((await react(form)).status).toBe(status);
    const bounced = await untilEmail(account, id, ({ status }) => status === 'bounced');
    expect(bounced.events.map(({ kind }) => kind)).toContain('opened');
    expect(await ok('simulator', 'mailbox', '--address', address)).toEqual({ emails: [] });
  });

  it.each([
    '/simulator/mailbox?address=x',
    '/simulator/phone',
    '/simulator/email?id=em_x',
    '/simulator/email/html',
  ])('%s: a page that says what is wrong', async (path) => {
    const { status, text } = await ask(path);
    expect([400, 404]).toContain(status);
    expect(text).toContain('<title>Simulator</title>');
  });
});

describe('who sees the simulator', () => {
  const without = ({ text, status, headers }: Seen) => ({
    ...{ status, type: headers['content-type'], policy: headers['content-security-policy'] },
    text: text.replace(/req_\w+/, ''),
  });
  const CLOSED: [string, Record<string, string>, string?][] = [
    ['through a proxy', { 'x-forwarded-for': '203.0.113.7' }],
    ['through a proxy that claims to be this machine', { forwarded: 'for=127.0.0.1' }],
    ['by the name of another site', { host: 'rebound.example' }],
    ['by a name that begins like this machine', { host: 'localhost.evil.example' }],
    ['by an address of the network', { host: '192.0.2.1:3000' }],
    ['by a form', { 'x-real-ip': '::1' }, 'POST'],
    ['by another method', { host: 'rebound.example' }, 'PROPFIND'],
    ['by OPTIONS', { host: 'rebound.example' }, 'OPTIONS'],
  ];

  it.each(CLOSED)('%s: as any unknown path', async (_, headers, method = 'GET') => {
    const [unknown, closed] = [
      await ask('/unknown', { method, headers }),
      await ask('/simulator/phone', { method, headers }),
    ];
    expect(without(closed)).toEqual(without(unknown));
    expect(closed.status).toBe(404);
  });

  it.each(['127.0.0.1:1', 'localhost', '[::1]:3000'])('this machine, by its name %s', async (host) => {
    expect((await ask('/simulator', { headers: { host } })).status).toBe(200);
    expect((await ask('/simulator', { method: 'DELETE', headers: { host } })).status).toBe(405);
  });

  it('everyone, where the operator opens it', async () => {
    const api = await startOwnApi({ config: { SIMULATOR_PUBLIC: true } });
    const headers = { host: 'test.example', 'x-forwarded-for': '203.0.113.7' };
    expect((await ask('/simulator', { headers }, api.url)).status).toBe(200);
    await api.stop();
  });

  it('nobody, where no route is simulated', () => {
    const route = { name: 'a', kind: 'a', working: true, carries: [], state: 'active' } as const;
    const has = (...routes: object[]) =>
      hasSimulatedNetwork({
        rules: [],
        routes: routes.map((one) => ({ ...route, simulated: true, ...one })),
      });
    expect([has(), has({ simulated: false }), has({ state: 'disabled' })]).toEqual([false, false, false]);
    expect([has({}), has({ state: 'draining' })]).toEqual([true, true]);
  });

  it.each([
    [{ 'sec-fetch-site': 'cross-site', origin: 'http://127.0.0.1:9' }, 403],
    [{ 'sec-fetch-site': 'same-site' }, 403],
    [{ origin: 'https://evil.example' }, 403],
    [{ origin: 'null' }, 403],
    [{}, 403],
    [{ host: '127.0.0.1:9', origin: 'http://127.0.0.1:9' }, 303],
  ])('a form with %j: %i', async (headers: Record<string, string>, status) => {
    const form = { number: '+48728000000', action: 'on' };
    expect((await ask('/simulator/phone', { headers, form })).status).toBe(status);
  });
});
