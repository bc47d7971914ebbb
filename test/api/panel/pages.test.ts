import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { ROLES } from '../../../domain/actor.ts';
import { routes } from '../../../panel/routes.ts';
import { apiClient } from '../../support/client.ts';
import { startOwnApi } from '../../support/ownApi.ts';
import { newEarlierAccount } from '../../support/earlierClient.ts';
import { eventually } from '../../support/eventually.ts';
import { database, newAccount, newKey } from '../../support/factories.ts';
import { hold } from '../../support/heldLocks.ts';
import {
  newAddress,
  newBrowser,
  newPerson,
  newSession,
  PANEL_URL,
  type PanelUnderTest,
  type Seen,
  startPanel,
} from '../../support/panel.ts';

let panel: PanelUnderTest;
beforeAll(async () => {
  panel = await startPanel();
});
afterAll(() => panel.api.stop());

const at = (path: string): string => path.replace(':token', 'A'.repeat(43)).replace(/:id|\*rest/, 'x');
const calls = routes.flatMap(({ path, access, methods }) =>
  methods.map((method) => ({ method, path, access })),
);

/** Whether the page was refused for who asks. */
const isRefused = ({ status, to }: Seen): boolean =>
  status === 403 || (to !== null && /^\/panel(?:\?next=.*)?$/.test(to));

describe.each(calls)('$method $path', ({ method, path, access }) => {
  const ask = (browser: Awaited<ReturnType<typeof newPerson>>['browser']) =>
    browser.ask(method, at(path), {
      headers: { 'sec-fetch-site': 'same-origin' },
      ...(method === 'POST' ? { form: { label: 'x' } } : {}),
    });
  const leaves = path === '/panel/sign-out' || (path.startsWith('/panel/language') && method === 'POST');

  it.each(ROLES)('for the role %s', async (role) => {
    const { browser } = await newPerson(panel, role);
    const seen = await ask(browser);
    expect(seen.status).toBeLessThan(500);
    if (leaves || path === '/panel/code') return expect(seen).toMatchObject({ status: 303 });
    expect(isRefused(seen)).toBe(Array.isArray(access) && !access.includes(role));
  });

  it('without an account, and without a session', async () => {
    const person = await newPerson(panel, 'owner');
    await database()`update sessions set account_id = null where id = ${person.session}`;
    const seen = await ask(person.browser);
    if (Array.isArray(access)) expect(seen).toMatchObject({ status: 303, to: '/panel/you' });
    const stranger = await ask(newBrowser(panel));
    expect(stranger.status).toBeLessThan(500);
    if (access !== 'anybody') expect(isRefused(stranger)).toBe(true);
  });
});

test('what visits occupy is limited for an account, too, from however many networks', async () => {
  const narrow = await startPanel({ REQUESTS_AT_ONCE: 1 });
  const [person, other] = [await newPerson(narrow, 'owner'), await newPerson(narrow, 'owner')];
  const { browser: elsewhere } = await newSession(narrow, person);
  const lock = await hold((tx) => tx`select from accounts where id = ${person.account} for no key update`);
  const first = person.browser.post('/panel/keys', { label: 'Sklep', 'scope-read': 'on' });
  await eventually(
    () => lock.waiting(),
    (count) => count > 0,
  );
  expect((await elsewhere.get('/panel/overview')).status).toBe(429);
  expect((await other.browser.get('/panel/overview')).status).toBe(200);
  await lock.release();
  expect((await first).status).toBe(200);
  expect((await elsewhere.get('/panel/overview')).status).toBe(200);
  await narrow.api.stop();
});

describe('a form', () => {
  it.each([
    [{ 'sec-fetch-site': 'same-origin' }, true],
    [{ 'sec-fetch-site': 'same-origin', origin: 'null' }, true],
    [{ origin: 'OURS' }, true],
    [{}, false],
    [{ 'sec-fetch-site': 'cross-site' }, false],
    [{ 'sec-fetch-site': 'cross-site', origin: 'OURS' }, false],
    [{ 'sec-fetch-site': 'same-site', origin: 'OURS' }, false],
    [{ 'sec-fetch-site': 'none' }, false],
    [{ origin: 'null' }, false],
    [{ origin: 'https://evil.example' }, false],
    [{ origin: 'OURS.evil.example' }, false],
  ] as [Record<string, string>, boolean][])('sent with %j', async (headers, taken) => {
    const { browser, account } = await newPerson(panel, 'owner');
    const before = (await database()`select from api_keys where account_id = ${account}`).count;
    const ours = `http://127.0.0.1:${panel.api.port}`;
    const origin = headers['origin']?.replace('OURS', ours);
    const sent = { ...headers, ...(origin === undefined ? {} : { origin }) };
    const seen = await browser.post('/panel/keys', { label: 'Sklep', 'scope-read': 'on' }, sent);
    expect(seen.status).toBe(taken ? 200 : 403);
    const { count } = await database()`select from api_keys where account_id = ${account}`;
    expect(count - before).toBe(taken ? 1 : 0);
  });

  it.each([
    ['application/json', '{"label":"x"}', 415],
    ['application/x-www-form-urlencoded', `label=${'x'.repeat(20_000)}`, 413],
    ['application/x-www-form-urlencoded', 'label=x&label=y', 400],
    ['application/x-www-form-urlencoded', Array.from({ length: 60 }, (_, n) => `f${n}=`).join('&'), 400],
    ['application/x-www-form-urlencoded', 'label=%00%ff&scope-read=on&__proto__=x&constructor=y', 200],
    ['multipart/form-data; boundary=x', '--x--', 415],
  ])('of the type %s, number %#, is answered', async (type, body, status) => {
    const { browser } = await newPerson(panel, 'owner');
    const response = await fetch(`http://127.0.0.1:${panel.api.port}/panel/keys`, {
      ...{ method: 'POST', body, redirect: 'manual' },
      headers: {
        'content-type': type,
        'sec-fetch-site': 'same-origin',
        cookie: [...browser.cookies].map((pair) => pair.join('=')).join('; '),
      },
    });
    expect(response.status).toBe(status);
    expect(await response.text()).toContain('<html lang="pl">');
  });
});

test('every page forbids caching, framing, scripts and forms of others, and tells other sites nothing', async () => {
  const { browser } = await newPerson(panel, 'owner');
  for (const path of ['/panel', '/panel/keys', '/panel/overview', '/panel/nothing', '/panel/link/x']) {
    const { headers, text } = await (path === '/panel' ? newBrowser(panel) : browser).get(path);
    expect(Object.fromEntries(headers)).toMatchObject({
      'content-security-policy':
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; " +
        "base-uri 'none'; frame-ancestors 'none'",
      'referrer-policy': 'same-origin',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'cross-origin-opener-policy': 'same-origin',
    });
    expect(text).not.toMatch(/ style=|<style|<script(?! src="\/assets\/)| on\w+=|cl_[0-9a-z]{26}.*action/);
  }
});

describe('keys', () => {
  it('made in the panel work as they say, are listed by their hint, and stop when they are revoked', async () => {
    const { browser, address, account, id } = await newPerson(panel, 'developer');
    const made = await browser.post('/panel/keys', {
      label: 'Sklep <b>',
      'scope-read': 'on',
      'scope-send': 'on',
    });
    const [key] = /pk_test_\w{40}/.exec(made.text)!;
    expect(made.text).toContain(`curl ${PANEL_URL}/v1/messages`);
    const api = apiClient(`http://127.0.0.1:${panel.api.port}`, key);
    expect((await api.get('/v1/account')).body).toMatchObject({ id: account, scopes: ['send', 'read'] });
    const listed = (await browser.get('/panel/keys')).text;
    expect(listed).not.toContain(key);
    for (const shown of ['Sklep &lt;b>', `pk_test_…${key.slice(-4)}`, 'wysyłanie i odczyt', address])
      expect(listed).toContain(shown);
    const [path] = new RegExp(`/panel/keys/key_[0-9a-z]{26}/revoke`).exec(
      listed.slice(listed.indexOf('Sklep')),
    )!;
    expect(await browser.post(path)).toMatchObject({ status: 303, to: '/panel/keys' });
    expect((await api.get('/v1/account')).status).toBe(401);
    const log = await database()`
      select l.actor, l.action, l.details->>'label' as label, l.request_id is not null as asked, host(a.address) as from
        from audit_log l join audit_addresses a on a.audit_id = l.id where l.account_id = ${account} order by l.id`;
    const common = { actor: id, asked: true, from: browser.network };
    expect([...log]).toEqual([
      { ...common, action: 'keys create', label: 'Sklep <b>' },
      { ...common, action: 'keys revoke', label: null },
    ]);
  });

  it.each([
    [{ label: '', 'scope-read': 'on' }, 'label'],
    [{ label: '\u200b\u2800', 'scope-read': 'on' }, 'label'],
    [{ label: 'x'.repeat(101), 'scope-read': 'on' }, 'label'],
    [{ label: 'a\nb', 'scope-read': 'on' }, 'label'],
    [{ label: 'Sklep' }, 'scope-send'],
    [{ label: 'Sklep', 'scope-all': 'on' }, 'scope-send'],
  ] as [Record<string, string>, string][])('asked for with %j are not made', async (form, field) => {
    const { browser, account } = await newPerson(panel, 'owner');
    const seen = await browser.post('/panel/keys', form);
    expect(seen).toMatchObject({
      status: 422,
      text: expect.stringContaining(`<a href="#${field}">`) as string,
    });
    expect((await database()`select from api_keys where account_id = ${account}`).count).toBe(1);
  });

  it('are not made for an account that is not active, nor beyond a thousand, nor beyond the changes of a day', async () => {
    const form = { label: 'Sklep', 'scope-read': 'on' };
    for (const status of ['suspended', 'closed']) {
      const { browser, account } = await newPerson(panel, 'owner');
      await database()`update accounts set status = ${status} where id = ${account}`;
      expect((await browser.post('/panel/keys', form)).status).toBe(403);
    }
    const many = await newPerson(panel, 'owner');
    await database()`
      insert into api_keys (id, account_id, hash, hint, mode, scopes, revoked_at)
      select 'k' || n || ${many.account}, ${many.account}, sha256((n || ${many.account})::bytea), 'h', 'test', '{}', now()
        from generate_series(1, 999) n`;
    expect((await many.browser.post('/panel/keys', form)).status).toBe(409);
    expect((await many.browser.get('/panel/keys')).text.length).toBeLessThan(250_000);
    const busy = await newPerson(panel, 'owner');
    await database()`
      insert into audit_log (actor, action, account_id, request_id)
      select 'k', 'a', ${busy.account}, 'r' from generate_series(1, 1000)`;
    expect((await busy.browser.post('/panel/keys', form)).status).toBe(429);
    // What ends access is never refused.
    const { keyId } = await newKey(busy.account);
    expect((await busy.browser.post(`/panel/keys/${keyId}/revoke`)).status).toBe(303);
  });

  it.each(['/panel/keys/%00/revoke', '/panel/tokens/%00/rotate', '/panel/invitation/%00'])(
    'of no such id are not found: %s',
    async (path) => {
      const { browser } = await newPerson(panel, 'owner');
      expect((await browser.post(path)).status).toBe(404);
    },
  );

  it('of the earlier interface are rotated and revoked', async () => {
    const earlier = await newEarlierAccount();
    const { browser } = await newPerson(panel, 'owner', earlier.id);
    const rotated = await browser.post(`/panel/tokens/${earlier.tokenId}/rotate`);
    const [token] = /goniec_[0-9a-f]{40}/.exec(rotated.text)!;
    const used = (key: string) =>
      fetch(`http://127.0.0.1:${panel.api.port}/v1/balance`, { headers: { authorization: `Bearer ${key}` } });
    expect([(await used(earlier.token)).status, (await used(token)).status]).toEqual([401, 200]);
    const [path] = /\/panel\/tokens\/tok_[0-9a-z]{26}\/revoke/.exec((await browser.get('/panel/keys')).text)!;
    expect((await browser.post(path)).status).toBe(303);
    expect((await used(token)).status).toBe(401);
  });
});

describe('what belongs to others', () => {
  it('is not found by its id, and stays as it is', async () => {
    const [mine, theirs] = [await newPerson(panel, 'owner'), await newPerson(panel, 'owner')];
    const { keyId } = await newKey(theirs.account);
    const earlier = await newEarlierAccount();
    for (const path of [
      `/panel/keys/${keyId}/revoke`,
      `/panel/tokens/${earlier.tokenId}/revoke`,
      `/panel/tokens/${earlier.tokenId}/rotate`,
      '/panel/keys/key_00000000000000000000000000/revoke',
    ])
      expect([path, (await mine.browser.post(path)).status]).toEqual([path, 404]);
    const [left] = await database()`
      select (select revoked_at from api_keys where id = ${keyId}) as key,
             (select revoked_at from api_tokens where id = ${earlier.tokenId}) as token`;
    expect(left).toEqual({ key: null, token: null });
    expect((await database()`select from api_tokens where account_id = ${earlier.id}`).count).toBe(1);
    expect((await mine.browser.get('/panel/keys')).text).not.toContain(keyId);
    await mine.browser.post('/panel/sessions/end', { id: theirs.session });
    expect((await theirs.browser.get('/panel/you')).status).toBe(200);
    expect((await mine.browser.post('/panel/account', { account: theirs.account })).status).toBe(404);
    expect((await mine.browser.get('/panel/you')).text).not.toContain(theirs.address);
  });

  it('is out of reach within a request of leaving the account, or of another role', async () => {
    const { browser, id, account } = await newPerson(panel, 'owner');
    await database()`update memberships set role = 'reader' where person_id = ${id}`;
    expect((await browser.get('/panel/keys')).status).toBe(403);
    await database()`delete from memberships where person_id = ${id} and account_id = ${account}`;
    expect(await browser.get('/panel/overview')).toMatchObject({
      status: 303,
      to: '/panel?next=%2Fpanel%2Foverview',
    });
  });
});

describe('a person', () => {
  it('of two accounts opens either, by the role there', async () => {
    const { browser, id, account } = await newPerson(panel, 'owner');
    const other = await newAccount({ mode: 'live', balance: 123_456 });
    await database()`insert into memberships (person_id, account_id, role) values (${id}, ${other.id}, 'billing')`;
    expect(await browser.post('/panel/account', { account: other.id })).toMatchObject({
      to: '/panel/overview',
    });
    expect((await browser.get('/panel/overview')).text).toMatch(/<dd>1234,56\szł<\/dd>/);
    expect((await browser.get('/panel/keys')).status).toBe(403);
    await browser.post('/panel/account', { account });
    expect((await browser.get('/panel/keys')).status).toBe(200);
  });

  it('sees the own sessions with place and device, and ends one or all others', async () => {
    const { browser, id, session } = await newPerson(panel, 'reader');
    await database()`
      insert into sessions (id, token_hash, person_id, assurance, address, device)
      select 's' || n || ${id}, sha256((n || ${id})::bytea), ${id}, 'address', '198.51.100.7', 'Firefox, Android'
        from generate_series(1, 3) n`;
    const { text } = await browser.get('/panel/you');
    for (const shown of ['Firefox, Android', '198.51.100.7', 'ta sesja', 'Zakończ pozostałe'])
      expect(text).toContain(shown);
    const left = async () =>
      (await database()<{ id: string }[]>`select id from sessions where person_id = ${id} order by id`).map(
        (row) => row.id,
      );
    await browser.post('/panel/sessions/end', { id: `s1${id}` });
    expect(await left()).toEqual([`s2${id}`, `s3${id}`, session].sort());
    await browser.post('/panel/sessions/end');
    expect(await left()).toEqual([session]);
  });

  it('is told where the service cannot send e-mail', async () => {
    const api = await startOwnApi({ publicUrl: PANEL_URL });
    const seen = await newBrowser({ api }).post('/panel', { address: newAddress() });
    await api.stop();
    expect(seen).toMatchObject({ status: 503, text: expect.stringContaining('Nie możemy teraz') as string });
  });
});
