import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { transaction } from '../../../db/connection.ts';
import { idFloor, newId } from '../../../db/ids.ts';
import { sign } from '../../../pipeline/webhookAttempts.ts';
import { eventually } from '../../support/eventually.ts';
import { database, newAccount } from '../../support/factories.ts';
import { startHttpReceiver } from '../../support/httpReceiver.ts';
import { newPerson, type PanelUnderTest, type Person, startPanel } from '../../support/panel.ts';
import { isSigned } from '../../support/webhookReceiver.ts';

let panel: PanelUnderTest;
beforeAll(async () => {
  panel = await startPanel();
});
afterAll(() => panel.api.stop());
const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0)) await close();
});

const PATH = '/panel/webhooks';

interface Call {
  raw: Buffer;
  headers: IncomingHttpHeaders;
}

async function receive(answer: (response: ServerResponse) => void = (response) => response.end()) {
  const calls: Call[] = [];
  const server = await startHttpReceiver((response, raw, { headers }) => {
    calls.push({ raw, headers });
    answer(response);
  });
  open.push(() => server.close());
  return { url: `${server.url}/hook`, calls };
}

/** The text of an element without children, as a browser has it. */
const textOf = (html: string, id: string): string =>
  (new RegExp(`id="${id}">([^<]*)<`).exec(html)?.[1] ?? '')
    .replaceAll('&quot;', '"')
    .replaceAll('&lt;', '<')
    .replaceAll('&amp;', '&');

/** Sets the address in the panel. @returns the secret that it shows, or an empty text */
const setAddress = async ({ browser }: Person, url: string): Promise<string> =>
  textOf((await browser.post(`${PATH}/address`, { url })).text, 'secret');

/** Sends a test event. @returns the path of its page, once it was delivered or has failed */
async function tested({ browser }: Person, state = 'dostarczone'): Promise<string> {
  const { to } = await browser.post(`${PATH}/test`);
  await eventually(
    () => browser.get(to!),
    ({ text }) => text.includes(`<dd>${state}</dd>`),
  );
  return to!;
}

describe('a delivery', () => {
  it('is shown byte by byte as the receiver got it, with the start of what it answered, as text', async () => {
    const receiver = await receive((response) =>
      response.writeHead(202, { 'X-Mine': '<i>&' }).end(`<script>${'x'.repeat(5_000)}`),
    );
    const person = await newPerson(panel, 'developer');
    const secret = await setAddress(person, receiver.url);
    const path = await tested(person);
    const { text } = await person.browser.get(path);
    const { raw, headers } = receiver.calls[0]!;
    expect(textOf(text, 'body')).toBe(raw.toString('utf8'));
    expect(JSON.parse(raw.toString())).toMatchObject({
      id: path.split('/').at(-1),
      type: 'webhook.test',
      data: {},
    });
    expect(isSigned(String(headers['x-service-signature']), raw, secret)).toBe(true);
    for (const [name, header] of [
      ['Content-Type', 'content-type'],
      ['User-Agent', 'user-agent'],
      ['X-Service-Signature', 'x-service-signature'],
    ] as const)
      expect(text).toContain(`${name}: ${String(headers[header])}`);
    for (const shown of ['>202<', 'x-mine: &lt;i>&amp;', '&lt;script>xxx']) expect(text).toContain(shown);
    expect(text).not.toContain('x'.repeat(1_000));
    expect(text).not.toContain('<script>x');
  });

  it('is sent again with the same id and body, and another signature', async () => {
    const receiver = await receive();
    const person = await newPerson(panel, 'owner');
    const secret = await setAddress(person, receiver.url);
    const path = await tested(person);
    expect(await person.browser.post(`${path}/resend`)).toMatchObject({ status: 303, to: path });
    await eventually(
      () => Promise.resolve(receiver.calls.length),
      (calls) => calls === 2,
    );
    const [first, second] = receiver.calls;
    expect(second!.raw.equals(first!.raw)).toBe(true);
    expect(isSigned(String(second!.headers['x-service-signature']), second!.raw, secret)).toBe(true);
    await eventually(
      () => person.browser.get(path),
      ({ text }) => text.includes('Próba 2'),
    );
  });

  it('of another account is not found, nor sent again', async () => {
    const receiver = await receive();
    const theirs = await newPerson(panel, 'owner');
    await setAddress(theirs, receiver.url);
    const path = await tested(theirs);
    const { browser } = await newPerson(panel, 'owner');
    expect((await browser.get(path)).status).toBe(404);
    expect((await browser.post(`${path}/resend`)).status).toBe(404);
    for (const missing of ['evt_00000000000000000000000000', 'x'])
      expect((await browser.get(`${PATH}/${missing}`)).status).toBe(404);
    expect((await browser.get(PATH)).text).not.toContain(path);
    expect(receiver.calls).toHaveLength(1);
  });
});

describe('an address and its secret', () => {
  it('show the secret when it is new alone, and sign with the former one for a day', async () => {
    const receiver = await receive();
    const person = await newPerson(panel, 'owner');
    const { browser, account } = person;
    const first = await setAddress(person, receiver.url);
    expect(first).toMatch(/^whsec_/);
    expect(await setAddress(person, `${receiver.url}2`)).toBe('');
    expect(await setAddress(person, receiver.url)).toBe('');
    const shown = (await browser.get(`${PATH}/address`)).text;
    expect(shown).toContain(`whsec_…${first.slice(-4)}`);
    expect(shown).not.toContain(first);
    const second = textOf((await browser.post(`${PATH}/address`, { rotate: 'yes' })).text, 'secret');
    expect(second).not.toBe(first);
    await tested(person);
    const { raw, headers } = receiver.calls[0]!;
    expect(isSigned(String(headers['x-service-signature']), raw, second)).toBe(true);
    expect(isSigned(String(headers['x-service-signature-previous']), raw, first)).toBe(true);
    const written = JSON.stringify([
      ...(await database()`select details from audit_log where account_id = ${account}`),
      panel.log,
    ]);
    for (const secret of [first, second]) expect(written).not.toContain(secret);
  });

  it.each([
    ['address', 'webhook_url'],
    ['earlier', 'legacy_webhook_url'],
  ])('at %s: the secret is rotated alone, whatever address is set meanwhile', async (path, column) => {
    const { browser, account } = await newPerson(panel, 'owner');
    const set = (form: Record<string, string>) => browser.post(`${PATH}/${path}`, form);
    await set({ url: 'https://sklep.example/a', legacy_url: 'https://sklep.example/a' });
    const sql = database();
    const rotated = await transaction(sql, async (tx) => {
      await tx`update accounts set ${tx(column)} = 'https://sklep.example/b' where id = ${account}`;
      const [self] = await tx<{ pid: number }[]>`select pg_backend_pid() as pid`;
      const rotating = set({ rotate: 'yes' });
      await eventually(
        () => sql`select from pg_stat_activity where ${self!.pid} = any(pg_blocking_pids(pid))`,
        ({ count }) => count > 0,
      );
      return { rotating };
    });
    expect(textOf((await rotated.rotating).text, 'secret')).toMatch(/^whsec_/);
    const [stored] = await sql`select ${sql(column)} as url from accounts where id = ${account}`;
    expect(stored).toEqual({ url: 'https://sklep.example/b' });
  });

  it('of the earlier interface are kept apart', async () => {
    const { browser, account } = await newPerson(panel, 'developer');
    const set = (form: Record<string, string>) => browser.post(`${PATH}/earlier`, form);
    const made = await set({ legacy_url: 'https://sklep.example/stary' });
    expect(textOf(made.text, 'secret')).toMatch(/^whsec_/);
    expect(await set({ legacy_url: 'https://sklep.example/nowy' })).toMatchObject({ to: `${PATH}/address` });
    expect(textOf((await set({ rotate: 'yes' })).text, 'secret')).not.toBe(textOf(made.text, 'secret'));
    const [stored] = await database()`
      select legacy_webhook_url as earlier, webhook_url as now from accounts where id = ${account}`;
    expect(stored).toEqual({ earlier: 'https://sklep.example/nowy', now: null });
  });

  it.each([
    'javascript:alert(1)',
    'ftp://sklep.example',
    'https://u:p@sklep.example',
    '<b>"',
    `https://${'x'.repeat(2_100)}`,
  ])('are not set to what is no address, number %#', async (url) => {
    const { browser } = await newPerson(panel, 'owner');
    for (const [path, field] of [
      ['address', 'url'],
      ['earlier', 'legacy_url'],
    ] as const) {
      const seen = await browser.post(`${PATH}/${path}`, { [field]: url });
      expect([seen.status, seen.text.includes(`href="#${field}"`)]).toEqual([422, true]);
      expect(seen.text).not.toContain('<b>"');
    }
  });
});

describe('the log', () => {
  const rows = [
    { type: 'message.sent', state: 'delivered', code: 200, day: '2026-11-10' },
    { type: 'message.sent', state: 'exhausted', code: 500, day: '2026-11-10' },
    { type: 'message.delivered', state: 'exhausted', code: null, day: '2026-11-11' },
    { type: 'message.delivered', state: 'delivered', code: 200, day: '2026-11-12' },
    { type: 'delivery_report', state: 'exhausted', code: 500, day: '2026-11-12' },
  ];
  let person: Person;
  const ids: string[] = [];
  const message = newId('msg');
  beforeAll(async () => {
    person = await newPerson(panel, 'owner', (await newAccount()).id);
    for (const { type, state, code, day } of rows) {
      const at = Date.parse(`${day}T22:5${ids.length}:00+01:00`);
      const id = idFloor('evt', at) + newId('evt').slice(-16);
      ids.push(id);
      await database()`
        insert into webhook_events (id, account_id, subject_kind, subject_id, type, snapshot, state, exhausted_at, created_at)
        values (${id}, ${person.account}, 'message', ${ids.length === 1 ? message : newId('msg')}, ${type}, '{}', ${state},
                ${state === 'exhausted' ? new Date() : null}, ${new Date(at)})`;
      await database()`
        insert into webhook_attempts (event_id, attempt, url, duration_ms, status_code, error)
        values (${id}, 1, 'https://sklep.example', 5, ${code}, ${code === null ? 'ECONNREFUSED: 10.0.0.1' : null})`;
    }
  });

  it.each([
    ['', [4, 3, 2, 1, 0]],
    ['state=exhausted', [4, 2, 1]],
    ['status_code=500', [4, 1]],
    ['type=message.sent&status_code=500', [1]],
    ['state=delivered&type=message.delivered', [3]],
    ['state=pending', []],
    [`id=${message}`, [0]],
    ['id=x', []],
    ['from=2026-11-11&to=2026-11-11', [2]],
    ['from=2026-11-12&state=exhausted', [4]],
    ['to=2026-11-10', [1, 0]],
    ['state=exhausted&status_code=200', []],
  ] as [string, number[]][])('with the filters %s', async (query, expected) => {
    const { text } = await person.browser.get(`${PATH}?${query}`);
    const found = [...text.matchAll(/\/panel\/webhooks\/(evt_\w+)/g)].map(([, id]) => ids.indexOf(id!));
    expect(found).toEqual(expected);
    expect(text).not.toContain('10.0.0.1');
  });

  it('leads from the id of an event to it, and refuses what filters cannot mean', async () => {
    expect(await person.browser.get(`${PATH}?id=${ids[0]}`)).toMatchObject({ to: `${PATH}/${ids[0]}` });
    for (const [query, field] of [
      ['from=2026-02-30', 'from'],
      ['status_code=99', 'status_code'],
      ['state=lost', 'state'],
    ])
      expect(await person.browser.get(`${PATH}?${query}`)).toMatchObject({
        status: 422,
        text: expect.stringContaining(`href="#${field}"`) as string,
      });
  });

  it('sends again what nobody took since a day, and says where there is nothing', async () => {
    const receiver = await receive((response) => response.writeHead(500).end());
    const failed = await newPerson(panel, 'owner', (await newAccount()).id);
    await setAddress(failed, receiver.url);
    const empty = await failed.browser.post(`${PATH}/resend`, { since: '2026-11-01' });
    expect(empty).toMatchObject({
      status: 422,
      text: expect.stringContaining('nie ma nieudanych') as string,
    });
    const made = Array.from({ length: 27 }, () => newId('evt')).sort();
    await database()`
      insert into webhook_events (id, account_id, subject_kind, subject_id, type, snapshot, state, exhausted_at)
      select id, ${failed.account}, 'test', id, 'webhook.test', '{}', 'exhausted', now() from unnest(${made}::text[]) id`;
    // The latest were sent again as often as may be.
    await database()`
      insert into webhook_resends (event_id, round, account_id, requested_by, attempts_before, state)
      select id, n, ${failed.account}, 'account', 0, 'exhausted' from unnest(${made.slice(-5)}::text[]) id, generate_series(1, 10) n`;
    expect(await failed.browser.post(`${PATH}/resend`, { since: '2026-11-01' })).toMatchObject({
      to: `${PATH}?state=pending`,
    });
    const resent = await database()`
      select event_id as id from webhook_resends where account_id = ${failed.account} and round < 2 and requested_by = 'account'
         and event_id <> all(${made.slice(-5)}) order by event_id`;
    expect(resent.map(({ id }) => id as string)).toEqual(made.slice(2, 22));
    await eventually(
      () => Promise.resolve(receiver.calls.length),
      (calls) => calls > 0,
    );
    expect(made).toContain((JSON.parse(receiver.calls[0]!.raw.toString()) as { id: string }).id);
    await eventually(
      () => failed.browser.get(`${PATH}?state=pending`),
      ({ text }) => text.includes('ponawiane'),
    );
  });

  it('finds what is far back among many that do not match', async () => {
    const { id: account, api } = await newAccount();
    const { browser } = await newPerson(panel, 'owner', account);
    const old = idFloor('evt', Date.parse('2026-10-01T12:00:00Z')) + newId('evt').slice(-16);
    const later = Array.from({ length: 10_050 }, () => newId('evt'));
    await database()`
      insert into webhook_events (id, account_id, subject_kind, subject_id, type, snapshot, state, created_at)
      select id, ${account}, 'message', id, 'message.delivered', '{}'::jsonb, 'delivered', now() from unnest(${later}::text[]) id
       union all select ${old}, ${account}, 'message', ${old}, 'message.sent', '{}', 'delivered', '2026-10-01T12:00:00Z'`;
    const listed = await api.get(
      '/v1/account/webhook/deliveries?type=message.sent&until=2026-10-02T00:00:00Z',
    );
    expect(listed.body.data.map(({ id }) => id)).toEqual([old]);
    expect((await browser.get(`${PATH}?type=message.sent`)).text).toContain(`${PATH}/${old}`);
  });

  it('takes five test events a minute, and none without an address', async () => {
    const person = await newPerson(panel, 'owner');
    expect((await person.browser.post(`${PATH}/test`)).status).toBe(409);
    await setAddress(person, (await receive()).url);
    const statuses: number[] = [];
    for (let n = 0; n < 6; n += 1) statuses.push((await person.browser.post(`${PATH}/test`)).status);
    expect(statuses).toEqual([303, 303, 303, 303, 303, 429]);
  });
});

describe('the code that checks signatures, in', () => {
  const secret = 'whsec_ąę 1';
  let folder: string;
  let header: string;
  const body = '{"id":"evt_1","text":"zażółć"}\n';
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'goniec-samples-'));
    header = sign(body, secret, Math.floor(Date.now() / 1000));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  const languages = [
    [
      'Node',
      'sample.mjs',
      ['node', 'sample.mjs'],
      (code: string) => `${code}
import { readFileSync } from 'node:fs';
const { SECRET, HEADER } = process.env;
if (isGenuine(SECRET, HEADER, readFileSync('body.json'))) console.log('genuine');`,
    ],
    [
      'Python',
      'sample.py',
      ['python3', 'sample.py'],
      (code: string) => `${code}
import os
if is_genuine(os.environ["SECRET"], os.environ["HEADER"], open("body.json", "rb").read()): print("genuine")`,
    ],
    [
      'PHP',
      'sample.php',
      ['php', 'sample.php'],
      (code: string) => `${code}
if (isGenuine(getenv('SECRET'), getenv('HEADER'), file_get_contents('body.json'))) echo "genuine";`,
    ],
    ['OpenSSL', 'sample.sh', ['sh', 'sample.sh'], (code: string) => code],
  ] as [string, string, [string, string], (code: string) => string][];
  const isInstalled = (program: string) => spawnSync(program, ['--version']).error === undefined;

  it.for(languages)('%s', async ([name, file, [program, argument], complete], { skip }) => {
    const { browser } = await newPerson(panel, 'developer');
    const code = textOf((await browser.get(`${PATH}/signatures`)).text, `sample-${name}`);
    expect(code).toMatch(/300/);
    if (!isInstalled(program)) skip();
    writeFileSync(join(folder, file), complete(code));
    const outcome = (HEADER: string, sent = body) => {
      writeFileSync(join(folder, 'body.json'), sent);
      const env = { ...process.env, SECRET: secret, HEADER };
      return spawnSync(program, [argument], { cwd: folder, env, encoding: 'utf8' }).stdout.trim();
    };
    const old = sign(body, secret, Math.floor(Date.now() / 1000) - 301);
    expect([outcome(header), outcome(header, `${body} `), outcome(old), outcome('t=1,v1=x')]).toEqual([
      ...['genuine', '', '', ''],
    ]);
  });
});
