import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { openReadOnlyServices } from '../../../api/server.ts';
import { decrypt, encrypt } from '../../../db/installation.ts';
import { newId } from '../../../db/ids.ts';
import type { StaffRole } from '../../../domain/staff.ts';
import { routes } from '../../../panel/routes.ts';
import { filledAccount } from '../../browser/filledAccount.ts';
import { filledBilling } from '../../browser/filledBilling.ts';
import { type Colleague, type ConsoleUnderTest, newStaff, openConsole } from '../../support/console.ts';
import { eventually } from '../../support/eventually.ts';
import { database, newAccount, type TestAccount } from '../../support/factories.ts';

const REASON = 'Zgłoszenie 4711';

let opened: ConsoleUnderTest;
let account: TestAccount;
let ids: Record<string, string>;
beforeAll(async () => {
  opened = await openConsole();
  const filled = await filledAccount();
  account = filled.account;
  const payments = await filledBilling(account.id, filled.ids['messages']!);
  const [statement] = await database()<{ id: string }[]>`
    select id from statements where account_id = ${account.id} and paid_at is not null`;
  ids = {
    ...filled.ids,
    ...payments,
    billing: payments['paid']!,
    file: `${statement!.id}.csv`,
    numbers: 'x',
  };
});
afterAll(() => opened.api.stop());

const visitOf = (id: string) => `/console/accounts/${id}/visit`;

async function visitor(role: StaffRole = 'support', id = account.id): Promise<Colleague> {
  const staff = await newStaff(opened, role);
  expect(await staff.browser.post(visitOf(id), { reason: REASON })).toMatchObject({ to: '/panel/overview' });
  return staff;
}

/** The address of a page, of something of its kind in the account. */
function addressOf(path: string): string {
  return path.replace(/([^/]+)\/:(\w+)/, (_, kind: string, name: string) => {
    return `${kind}/${ids[name] ?? ids[kind] ?? 'x'}`;
  });
}

// Workers change these on their own.
const RESTLESS = /^(webhook_|findings|outcome_signals)/;

/** What the account has in each table, with the transactions that wrote it. */
async function stateOf(id: string): Promise<Record<string, string>> {
  const sql = database();
  const tables = await sql<{ name: string; key: string }[]>`
    select c.table_name as name, c.column_name as key
      from information_schema.columns c join information_schema.tables t using (table_schema, table_name)
     where table_schema = 'public' and table_type = 'BASE TABLE'
       and (column_name = 'account_id' or (table_name, column_name) = ('accounts', 'id'))`;
  const kept = tables.filter(({ name }) => !RESTLESS.test(name));
  const states = kept.map(async ({ name, key }) => {
    const [row] = await sql<{ state: string }[]>`
      select count(*) || ' ' || coalesce(md5(string_agg(t.xmin || t::text, ',' order by t.ctid)), '') as state
        from ${sql(name)} t where ${sql(key)} = ${id}`;
    return [name, row!.state] as const;
  });
  return Object.fromEntries(await Promise.all(states));
}

/** The same once everything sent has arrived. */
async function restingStateOf(id: string): Promise<Record<string, string>> {
  const onTheirWay = () => database()`
    select from messages where account_id = ${id} and status in ('queued', 'sent')
    union all select from emails where account_id = ${id} and status in ('queued', 'sent')`;
  await eventually(onTheirWay, ({ count }) => count === 0);
  let last = '';
  return await eventually(
    () => stateOf(id),
    (state) => last === (last = JSON.stringify(state)),
  );
}

/** Secrets of the account, its people and keys, as they are stored, and as they were before. */
async function secretsOf({ id, key }: TestAccount, { browser }: Colleague): Promise<string[]> {
  const sql = database();
  const person = newId('per');
  const [webhook, earlier, totp, token] = ['whsec_w', 'whsec_e', 'JBSWY3DPEHPK3PXP', 'Szyfr-Sesji-'].map(
    (one) => one.padEnd(43, 'Ab9'),
  ) as [string, string, string, string];
  const sealed = (owner: string, secret: string) =>
    encrypt(Buffer.from(inject('service').secretsKey, 'base64'), owner, secret);
  await sql`
    update accounts
       set webhook_secret = ${sealed(id, webhook)}, legacy_webhook_secret = ${sealed(id, earlier)},
           webhook_url = webhook_url || '/tajna-sciezka', legacy_webhook_url = 'https://sklep.example/tajna-sciezka'
     where id = ${id}`;
  await sql`
    update webhook_attempts set url = url || '/tajna-sciezka'
     where event_id in (select id from webhook_events where account_id = ${id})`;
  await sql`insert into people (id, address) values (${person}, ${`${person}@sklep.example`})`;
  await sql`insert into memberships (person_id, account_id, role) values (${person}, ${id}, 'owner')`;
  await sql`insert into totp (person_id, secret, last_step) values (${person}, ${sealed(person, totp)}, 0)`;
  await sql`
    insert into sessions (id, token_hash, person_id, account_id, assurance, address)
    values (${newId('ses')}, ${Buffer.from(token)}, ${person}, ${id}, 'address', '10.0.0.1')`;
  const stored = await sql<{ secret: Buffer }[]>`
    select unnest(array[webhook_secret, legacy_webhook_secret]) as secret from accounts where id = ${id}
    union all select hash from api_keys where account_id = ${id}
    union all select secret from totp where person_id = ${person}
    union all select token_hash from sessions where person_id = ${person}`;
  expect(stored.length).toBeGreaterThan(4);
  const kept = stored.flatMap(({ secret }) =>
    (['hex', 'base64', 'base64url'] as const).map((encoding) => secret.toString(encoding)),
  );
  return [...kept, webhook, earlier, totp, token, key, 'tajna-sciezka', ...browser.cookies.values()];
}

const pages = routes.filter(({ access, methods }) => Array.isArray(access) && methods.includes('GET'));
const forms = [...new Set(routes.filter(({ methods }) => methods.includes('POST')).map(({ path }) => path))];
const people = routes.filter(({ access, methods }) => !Array.isArray(access) && methods.includes('GET'));

describe('an account as its customer sees it', () => {
  it('has every page and form of the panel, changes nothing, and shows no secret', async () => {
    const staff = await newStaff(opened, 'support');
    const secrets = await secretsOf(account, staff);
    await staff.browser.post(visitOf(account.id), { reason: REASON });
    const before = await restingStateOf(account.id);
    const bytes: string[] = [];
    // Every page, and where its links lead.
    const paths = new Set(pages.map(({ path }) => addressOf(path)));
    for (const path of paths) {
      const seen = await staff.browser.get(path);
      bytes.push(seen.text, JSON.stringify([...seen.headers]));
      if (seen.to !== null) expect([path, seen.to]).toEqual([path, expect.stringMatching(/^\/panel\//)]);
      else expect([path, seen.status]).toEqual([path, 200]);
      if (seen.to !== null || !seen.headers.get('content-type')!.startsWith('text/html')) continue;
      expect(seen.text).toMatch(
        /You see <strong>.*<\/strong> as its customer\. Nothing can be changed here\./,
      );
      expect(seen.text).not.toMatch(/action="\/panel\/(?:sign-out|language)"/);
      for (const [, to] of seen.text.matchAll(/ href="(\/panel[^"#]*)/g))
        paths.add(to!.replaceAll('&amp;', '&'));
    }
    for (const path of forms) {
      const seen = await staff.browser.post(addressOf(path).replace(/:\w+|\*/, 'x'), { label: 'x' });
      expect([path, seen.status]).toEqual([path, 403]);
      expect(seen.text).toContain('<h1>Nothing can be changed here</h1>');
      bytes.push(seen.text, JSON.stringify([...seen.headers]));
    }
    expect(await stateOf(account.id)).toEqual(before);
    const all = bytes.join('\n');
    expect(all).toContain('https://api.example');
    for (const secret of secrets) expect(all.includes(secret), secret).toBe(false);
  });

  it('is told of in the activity, with the reason, without a name, in both languages', async () => {
    const { browser, name } = await visitor('support');
    const { text } = await browser.get('/panel/activity');
    expect(text).toMatch(
      /<td>obsługa<\/td>\s*<td>\s*Obejrzenie panelu konta[^<]*<span class="hint">Zgłoszenie 4711</,
    );
    const english = (await browser.get('/panel/activity?kind=settings', { 'accept-language': 'en' })).text;
    expect(english).toMatch(/<td>support<\/td>\s*<td>\s*Panel of the account viewed/);
    expect(text + english).not.toContain(name);
    const entries = await database()`
      select actor, details from audit_log where action = 'account visit' and account_id = ${account.id} and actor = ${name}`;
    expect([...entries]).toEqual([{ actor: name, details: { reason: REASON } }]);
  });

  it('is opened for a reason, by support and administrators, each for themselves, until it is ended', async () => {
    const operator = await newStaff(opened, 'finance');
    expect((await operator.browser.get(visitOf(account.id))).status).toBe(403);
    expect((await operator.browser.post(visitOf(account.id), { reason: REASON })).status).toBe(403);
    const { browser, name } = await newStaff(opened, 'admin');
    expect((await browser.get(visitOf(account.id))).status).toBe(200);
    expect((await browser.post(visitOf(account.id), { reason: ' ' })).status).toBe(422);
    expect((await browser.post(visitOf(newId('cl')), { reason: REASON })).status).toBe(404);
    expect((await browser.get('/panel/overview')).status).toBe(404);
    await browser.post(visitOf(account.id), { reason: REASON });
    expect((await browser.get('/panel')).to).toBe('/panel/overview');
    const other = await newStaff(opened, 'admin');
    expect((await other.browser.get('/panel/overview')).status).toBe(404);
    await database()`update staff set role = 'operator' where name = ${name}`;
    expect((await browser.get('/panel/overview')).status).toBe(403);
    await database()`update staff set role = 'admin' where name = ${name}`;
    expect((await browser.post('/console/visit/end')).to).toBe(`/console/accounts/${account.id}`);
    expect((await browser.get('/panel/overview')).status).toBe(404);
  });

  it('has no page of a person, nothing of another account, and no page that would write', async () => {
    const { browser } = await visitor();
    for (const { path } of people.filter((route) => route.path !== '/panel')) {
      const seen = await browser.get(addressOf(path).replace(/:\w+|\*/, 'x'));
      expect([path, seen.status]).toEqual([path, 404]);
    }
    const other = await newAccount();
    const { id } = await other.api.accepted({ to: '+48500100200', text: 'x' });
    expect((await browser.get(`/panel/messages/${id}`)).status).toBe(404);
    // It would ask the processor.
    const waiting = await browser.get(`/panel/billing/${ids['open']}?returned=1`);
    expect(waiting.status).toBe(403);
    expect(waiting.text).toContain('<h1>Nothing can be changed here</h1>');
  });
});

it('services for it can neither write, nor reach a workflow, nor decrypt', async () => {
  const {
    databaseUrl,
    temporalAddress: address,
    temporalNamespace: namespace,
    secretsKey,
  } = inject('service');
  const { services, close } = openReadOnlyServices({
    ...{ databaseUrl, databasePool: 2, temporal: { address, namespace } },
    ...({ config: {} } as Pick<Parameters<typeof openReadOnlyServices>[0], 'config' | 'log' | 'port'>),
  });
  for (const sql of [services.sql, services.priorityPool])
    await expect(sql`update accounts set name = 'x' where id = ${account.id}`).rejects.toMatchObject({
      code: '25006',
    });
  expect(() => services.temporal.workflow).toThrow('only read');
  const sealed = encrypt(Buffer.from(secretsKey, 'base64'), account.id, 'x');
  expect(() => decrypt(services.secretsKey, account.id, sealed)).toThrow();
  await close();
});

it('the console is nowhere at the address of the API', async () => {
  const asked = async (method: string, path: string) => {
    const answer = await fetch(inject('service').apiUrl + path, { method, redirect: 'manual' });
    const ofEach = /date|request-id/;
    const headers = [...answer.headers].filter(([name]) => !ofEach.test(name));
    const body = (await answer.text()).replaceAll(answer.headers.get('x-request-id') ?? '-', '');
    return { status: answer.status, headers, body };
  };
  for (const method of ['GET', 'HEAD', 'POST', 'OPTIONS']) {
    const nothing = await asked(method, '/nothing-here');
    expect(nothing.status).toBe(404);
    for (const path of [
      '/console',
      '/console/sign-in',
      '/console/anything',
      visitOf(account.id),
      '/console/visit/end',
    ])
      expect(await asked(method, path)).toEqual(nothing);
  }
});
