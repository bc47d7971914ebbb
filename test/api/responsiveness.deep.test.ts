import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { endpoints } from '../../api/endpoints.ts';
import type { Endpoint } from '../../api/http/endpoint.ts';
import { BODY_LIMIT as TOOLS_LIMIT } from '../../mcp/mount.ts';
import { tools } from '../../mcp/tools.ts';
import { earlierEndpoints } from '../../api/v1_2/endpoints.ts';
import { QUOTAS } from '../../domain/money.ts';
import { newId } from '../../db/ids.ts';
import { database, newAccount, type TestAccount } from '../support/factories.ts';
import { newEarlierAccount, newToken } from '../support/earlierClient.ts';
import { giveDomain } from '../support/email.ts';
import { eventually } from '../support/eventually.ts';
import { endBulk } from '../support/endBulk.ts';
import { type HealthWatch, watchHealth } from '../support/healthWatch.ts';
import { type HostileBody, hostileBodies, hostileFields, readerOf } from '../support/hostileBodies.ts';
import { callOf, postRaw } from '../support/rawTool.ts';
import { type ServiceProcess, spawnProcess } from '../support/service.ts';
import { metricsPort } from '../telemetry/observed.ts';
import { scrape } from '../telemetry/exposition.ts';

// What one request may keep from another's `GET /v1/health`: 100 ms, and on whatever machine this runs ten times as much. What was
// found is printed.
const BLOCK_MAX_MS = 1_000;

let api: ServiceProcess;
let metrics: number;
let health: HealthWatch;
let account: TestAccount;
let token: string;
let id: { group: string; contact: string; template: string };

beforeAll(async () => {
  api = await spawnProcess('api', inject('service'), { METRICS_PORT: '0' });
  metrics = await metricsPort(api);
  account = await newAccount({ balance: 100_000_000, rateLimit: 10_000_000 });
  ({ token } = await newToken(account.id, 1_000_000));
  await giveDomain(account.id);
  const group = await account.api.post('/v1/groups', { name: 'Grupa' });
  const contact = await account.api.post('/v1/contacts', { msisdn: '500100200' });
  const template = await account.api.post('/v1/templates', { name: 'x', body: 'x', type: 'mms' });
  id = { group: group.body.id, contact: contact.body.id, template: template.body.id };
  // The first request of each kind compiles what it needs.
  for (const endpoint of withBody) await send(endpoint, small);
  health = watchHealth(api.url);
});
afterAll(async () => {
  await health?.stop();
  await api.stop();
});

const withBody = [...endpoints, ...earlierEndpoints].filter(({ body }) => body !== undefined);
const small: HostileBody = { name: 'small', type: 'application/json', body: '{}' };

const limitOf = ({ bodyLimit = 64 * 1024 }: Endpoint): number => bodyLimit;

function pathOf({ path }: Endpoint): string {
  const of = path.startsWith('/v1/groups')
    ? id.group
    : path.startsWith('/v1/contacts')
      ? id.contact
      : id.template;
  return path.replace(':contactId', id.contact).replace(':id', of).replace(/:\w+/, '500100200');
}

async function ask(path: string, init: RequestInit = {}, key = account.key): Promise<number> {
  const headers = { authorization: `Bearer ${key}`, ...(init.headers as Record<string, string>) };
  const response = await fetch(api.url + path, { ...init, headers });
  await response.arrayBuffer();
  return response.status;
}

const post = (path: string, body: unknown): Promise<number> =>
  ask(path, { method: 'POST', body: JSON.stringify(body), headers: { 'content-type': 'application/json' } });

const send = (endpoint: Endpoint, { type, body }: HostileBody): Promise<number> =>
  ask(
    pathOf(endpoint),
    { method: endpoint.method, body, headers: { 'content-type': type } },
    endpoint.interface === 'v1' ? token : account.key,
  );

async function longestBlockMs(): Promise<number> {
  // A connection that was kept may just be closed.
  const scraped = await scrape(metrics).catch(() => scrape(metrics));
  return scraped.sum('goniec_longest_block_seconds')! * 1000;
}

let longest = 0;
afterAll(() => console.log(`the longest wait for an answer: ${longest.toFixed(0)} ms`));

/** The longest that the process stood still during some work, or another had to wait for its health. */
async function blockOf(work: () => Promise<unknown>): Promise<number> {
  await longestBlockMs();
  health.slowestMs();
  await work();
  const ms = Math.max(await longestBlockMs(), health.slowestMs());
  longest = Math.max(longest, ms);
  return ms;
}

/** Fails for a body that blocks by itself, and for one that is no refusal but a failure. */
async function expectNoneBlocks(
  bodies: readonly HostileBody[],
  sendOne: (body: HostileBody) => Promise<number>,
): Promise<void> {
  const blocking: [string, number][] = [];
  const failing: [string, number][] = [];
  for (const one of bodies) {
    let status = 0;
    const ms = await blockOf(async () => (status = await sendOne(one)));
    if (ms > BLOCK_MAX_MS) blocking.push([one.name, ms]);
    if (status >= 500) failing.push([one.name, status]);
  }
  expect(blocking).toEqual([]);
  expect(failing).toEqual([]);
}

describe('no body keeps the process from others', () => {
  it.each(
    withBody.map((one): [string, Endpoint] => [`${one.interface ?? 'v2'} ${one.method} ${one.path}`, one]),
  )('%s', async (_, endpoint) => {
    const hostile = hostileBodies(readerOf(endpoint), limitOf(endpoint));
    await expectNoneBlocks(hostile, (one) => send(endpoint, one));
  });

  const call = async ({ body }: HostileBody): Promise<number> => {
    const answer = await postRaw(api.url, account.key, 'legacy', { name: 'x', body });
    await answer.arrayBuffer();
    return answer.status;
  };

  it('of what is no call of a tool', async () => {
    const fields = ['jsonrpc', 'id', 'method', 'params'];
    await expectNoneBlocks(hostileBodies({ fields }, TOOLS_LIMIT), call);
  });

  it.each(tools.map((one) => [one.name, one] as const))(
    'of a call of the tool %s',
    async (name, { inputSchema, endpoint }) => {
      const fields = Object.keys(inputSchema.properties ?? {});
      const room = TOOLS_LIMIT - callOf('legacy', name, '').length;
      const calls = hostileFields({ fields, example: endpoint.example }, room).map((one) => ({
        ...one,
        body: callOf('legacy', name, one.body),
      }));
      await expectNoneBlocks(calls, call);
    },
  );
});

describe('nor does what the limits allow', () => {
  const number = (i: number) => `+4860010${String(i).padStart(4, '0')}`;
  const numbers = (count: number) => Array.from({ length: count }, (_, i) => number(i));
  const fields = Object.fromEntries(
    Array.from({ length: 20 }, (_, i) => [
      `ł${'a'.repeat(28)}${String(i).padStart(2, '0')}`,
      'ż'.repeat(200),
    ]),
  );
  const contacts = (count: number) =>
    numbers(count).map((msisdn, i) => ({
      ...{ msisdn, first_name: 'ą'.repeat(100), last_name: 'ć'.repeat(100), fields },
      groups: Array.from({ length: 20 }, (_, k) => `grupa ${(i + k) % 40}`),
    }));
  const rich = async (work: () => Promise<number>, status: number) => {
    let answered = 0;
    const ms = await blockOf(async () => (answered = await work()));
    expect(answered).toBe(status);
    expect(ms).toBeLessThan(BLOCK_MAX_MS);
  };

  it('500 contacts with all their fields, then pages and a table of them', async () => {
    await rich(() => post('/v1/contacts', contacts(500)), 201);
    await rich(() => ask('/v1/contacts?limit=200'), 200);
    await rich(() => ask('/v1/contacts', { headers: { accept: 'text/csv' } }), 200);
    await rich(() => ask('/v1/groups'), 200);
  });

  it('1,000 contacts in a hundred groups with the longest names each: a page, a table and what an assistant gets', async () => {
    const { id: owner, key } = await newAccount({ rateLimit: 1_000_000 });
    await database()`
      insert into contacts (account_id, id, msisdn)
      select ${owner}, 'ct_' || lpad(i::text, 26, '0'), '+48600' || (100000 + i) from generate_series(1, 1000) i`;
    await database()`
      insert into contact_groups (account_id, id, name)
      select ${owner}, 'gr_' || lpad(i::text, 26, '0'), repeat('|"', 38) || lpad(i::text, 4, '0')
        from generate_series(1, 100) i`;
    await database()`
      insert into group_members (account_id, group_id, contact_id)
      select c.account_id, g.id, c.id from contacts c join contact_groups g on g.account_id = c.account_id
       where c.account_id = ${owner}`;
    await rich(() => ask('/v1/contacts?limit=200', {}, key), 200);
    await rich(() => ask('/v1/contacts', { headers: { accept: 'text/csv' } }, key), 200);
    const body = callOf('legacy', 'list_contacts', '{"limit":200}');
    await rich(async () => {
      const answer = await postRaw(api.url, key, 'legacy', { name: 'list_contacts', body });
      await answer.arrayBuffer();
      return answer.status;
    }, 200);
  });

  it('500 messages of 20 parts, personal ones too, and their estimate', async () => {
    const text = `{{imie}} {{link:https://example.com/}} ${'a'.repeat(1_150)}`;
    await rich(() => post('/v1/messages/estimate', { to: numbers(500), text }), 200);
    await rich(() => post('/v1/messages/estimate', { to: numbers(500), text: 'a'.repeat(3_060) }), 200);
    const tomorrow = new Date(Date.now() + 86_400_000).toISOString();
    await rich(() => post('/v1/messages', { to: numbers(500), text, send_at: tomorrow }), 201);
    await rich(() => ask('/v1/messages?limit=200'), 200);
  });

  // Emoji have the most bytes by their length, and what has tracked links is written all or nothing.
  it.each([
    ['', '', false],
    [' with an Idempotency-Key, and the same again', '', true],
  ])('500 MMS as long as they may be%s', async (_, link, keyed) => {
    const sender = await newAccount({ balance: 100_000_000, rateLimit: 1_000_000 });
    const tomorrow = new Date(Date.now() + 86_400_000).toISOString();
    // Fields and links: four in all.
    const paragraphs = '<par><text>{{imie}}ż</text></par>'.repeat(link === '' ? 4 : 3);
    const smil = `<smil><body>${paragraphs}<text>${link}${'😀'.repeat(9_700)}</text></body></smil>`;
    const body = JSON.stringify({ to: numbers(500), subject: 'x', smil, send_at: tomorrow });
    let sent = 0;
    const send500 = (key: string) => {
      const headers = { 'content-type': 'application/json', ...(keyed ? { 'idempotency-key': key } : {}) };
      return ask('/v1/mms', { method: 'POST', body, headers }, sender.key);
    };
    await rich(() => send500(`long ${(sent += 1)}`), 201);
    if (keyed) await rich(() => send500('long 1'), 201);
    await endBulk(sender.id);
  });

  // Reading numbers that are not Polish, or may be so, costs the most.
  it.each([
    ['abroad', (i: number) => `+49151${10_000_000 + i}`],
    ['of ten digits', (i: number) => `45${20_100_000 + i}`],
  ])('10,000 recipients %s of one text', async (_, recipient) => {
    const sender = await newEarlierAccount({ balance: 100_000_000 });
    const recipients = Array.from({ length: 10_000 }, (__, i) => recipient(i));
    const date = new Date(Date.now() + 86_400_000).toISOString();
    const body = JSON.stringify({ recipients, message: 'ż'.repeat(1_300), date });
    const headers = { 'content-type': 'application/json' };
    await rich(() => ask('/v1/sms/bulk', { method: 'POST', body, headers }, sender.token), 200);
    await endBulk(sender.id);
  });

  it('e-mails as large as one may be, by either kind of key', async () => {
    const escaped = '\\u0105'.repeat(500_000);
    const file = (bytes: number) => ({
      filename: 'a.pdf',
      content: Buffer.alloc(bytes, 7).toString('base64'),
    });
    const mail = (attachments: object[]) => {
      const rest = { to: 'silent@klient.example', subject: 'x', idx: newId('em'), attachments };
      return `{"html":"${escaped}","text":"${escaped}",${JSON.stringify(rest).slice(1)}`;
    };
    const headers = { 'content-type': 'application/json' };
    for (const files of [[file(10_000_000)], Array.from({ length: 20 }, () => file(500_000))])
      for (const key of [account.key, token])
        await rich(() => ask('/v1/email', { method: 'POST', body: mail(files), headers }, key), 200);
    await rich(() => ask('/v1/email?limit=200'), 200);
  });

  it('e-mails of 10 MB of eight accounts at once, and each is bounded by its heavy requests', async () => {
    const accounts = await Promise.all(
      Array.from({ length: 8 }, async () => {
        const one = await newAccount({ balance: 100_000, rateLimit: 1_000_000 });
        await giveDomain(one.id);
        return one;
      }),
    );
    const content = Buffer.alloc(10_000_000, 7).toString('base64');
    const mail = { to: 'silent@klient.example', subject: 'x', text: 'x' };
    const body = JSON.stringify({ ...mail, attachments: [{ filename: 'a.pdf', content }] });
    const headers = { 'content-type': 'application/json' };
    const post10 = async ({ key }: TestAccount) =>
      await ask('/v1/email', { method: 'POST', body, headers }, key);
    const before = await peakMegabytes();
    const statuses = new Set<number>();
    // The worker reads what was accepted before, on the same cores.
    const handedOver = () =>
      eventually(
        () => database()`select from emails where status = 'queued' and file_bytes > 0 limit 1`,
        (left) => left.length === 0,
      );
    await handedOver();
    const ms = await blockOf(async () => {
      for (const status of await Promise.all(accounts.map(post10))) statuses.add(status);
    });
    const grown = (await peakMegabytes()) - before;
    console.log(
      `8 e-mails of 10 MB at once: ${grown} MB more than ${before}, ${ms.toFixed(0)} ms the longest wait`,
    );
    // On a machine that is too slow a send is ended in time, and nothing of it is sent.
    expect([200, 502, 504]).toEqual(expect.arrayContaining([...statuses]));
    expect(ms).toBeLessThan(BLOCK_MAX_MS);
    expect(grown).toBeLessThan(500);
    const own = await Promise.all(Array.from({ length: 12 }, () => post10(accounts[0]!)));
    expect(own.filter((status) => status === 429).length).toBeGreaterThan(0);
    // The large requests that an account may have under way.
    expect(own.filter((status) => status !== 429).length).toBeGreaterThanOrEqual(2);
    expect((await peakMegabytes()) - before).toBeLessThan(500);
  });

  // The most memory that the process has had.
  async function peakMegabytes(): Promise<number> {
    const status = await readFile(`/proc/${api.child.pid}/status`, 'utf8');
    return Math.round(Number(/VmHWM:\s+(\d+)/.exec(status)![1]) / 1024);
  }

  it('all templates that an account may have', async () => {
    const body = '{{ą}} '.repeat(1_200);
    await database()`
      insert into templates (id, account_id, name, type, body)
      select 'tpl_' || lpad(i::text, 26, '0'), ${account.id}, 'x', 'sms', ${body}
        from generate_series(1, ${Math.floor(QUOTAS.template_bytes.usual / Buffer.byteLength(body))}) i`;
    await rich(() => ask('/v1/templates'), 200);
  });

  it('all templates that an account may have, in the worst characters, as an assistant gets them', async () => {
    const { id: owner, key } = await newAccount({ rateLimit: 1_000_000 });
    await database()`
      insert into templates (id, account_id, name, type, body)
      select 'tpl_' || lpad(${owner.slice(-20)} || i::text, 26, '0'), ${owner}, 'x', 'mms', repeat(chr(1), 100000)
        from generate_series(1, 50) i`;
    const resource = {
      ...{ jsonrpc: '2.0', id: 1, method: 'resources/read' },
      params: { uri: 'goniec://templates' },
    };
    for (const body of [callOf('legacy', 'list_templates', '{}'), JSON.stringify(resource)])
      await rich(async () => {
        const answer = await postRaw(api.url, key, 'legacy', { name: 'list_templates', body });
        await answer.arrayBuffer();
        return answer.status;
      }, 200);
  });

  it.each([
    ['sms', '/v1/messages/estimate', '{{a}}'.repeat(2_000)],
    ['vms', '/v1/voice/estimate', '{{a}}'.repeat(2_000)],
    ['mms', '/v1/mms/estimate', `<smil><body><text>${'{{a}}'.repeat(1_990)}</text></body></smil>`],
  ])('a template of %s that params fill with far too much', async (type, path, body) => {
    const made = await account.api.post('/v1/templates', { name: 'x', type, body });
    const subject = type === 'mms' ? { subject: 'x' } : {};
    const request = {
      to: number(1),
      template_id: made.body.id,
      params: { a: '€'.repeat(1_000) },
      ...subject,
    };
    await rich(() => post(path, request), 400);
  });
});
