import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { countAddressTraces, eraseAddressee } from '../../../db/emails/retention.ts';
import { ownPath, signInAddress } from '../../../domain/people.ts';
import { database } from '../../support/factories.ts';
import { hold } from '../../support/heldLocks.ts';
import {
  askedBy,
  BROWSER,
  type Browser,
  mailsTo,
  newAddress,
  newBrowser,
  newNetwork,
  newPerson,
  type PanelUnderTest,
  SESSION,
  startPanel,
} from '../../support/panel.ts';

let panel: PanelUnderTest;
beforeAll(async () => {
  panel = await startPanel();
});
afterAll(() => panel.api.stop());

const browser = (network?: string) => newBrowser(panel, network);
const sessionsOf = async (address: string) =>
  (await database()`select from sessions s join people p on p.id = s.person_id where p.address = ${address}`)
    .count;
const accountsOf = async (address: string) => [
  ...(await database()<{ mode: string; credits: number; role: string; contact: string; name: string }[]>`
    select a.mode, a.test_credits as credits, m.role, a.contact_email as contact, a.name
      from people p join memberships m on m.person_id = p.id join accounts a on a.id = m.account_id
     where p.address = ${address}`),
];

async function isIn(who: Browser): Promise<boolean> {
  const { status, to } = await who.get('/panel/overview');
  if (status !== 200) expect(to).toBe('/panel?next=%2Fpanel%2Foverview');
  return status === 200;
}

/** Signs in by a link. */
async function signedIn(address: string, by = browser()): Promise<Browser> {
  const { link } = await askedBy(by, address);
  expect(await by.post(link)).toMatchObject({ status: 303, to: '/panel/overview' });
  return by;
}

describe('signing up', () => {
  it('takes an address and the link in an e-mail, and opens a test account with 25 free messages', async () => {
    const [address, mine] = [newAddress(), browser()];
    expect(await mine.get('/panel?next=/panel/you')).toMatchObject({
      status: 200,
      text: expect.stringMatching(/<input type="hidden" name="next" value="\/panel\/you"/) as string,
    });
    expect(await mine.post('/panel', { address, next: '/panel/you' })).toMatchObject({
      status: 303,
      to: '/panel/code',
    });
    expect((await mine.get('/panel/code')).text).toContain(address);
    const [mail] = await mailsTo(address);
    expect(mail).toMatchObject({ subject: 'Logowanie do panelu Goniec' });
    const entered = await mine.post(mail!.link);
    expect(entered).toMatchObject({ status: 303, to: '/panel/you' });
    expect(entered.headers.getSetCookie()[0]).toMatch(
      /^__Host-goniec_session=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax; Secure$/,
    );
    expect(mine.cookies.has(BROWSER)).toBe(false);
    expect((await mine.get('/panel/overview')).text).toContain('<dd>25</dd>');
    expect(await accountsOf(address)).toEqual([
      { mode: 'test', credits: 25, role: 'owner', contact: address, name: 'klient.example' },
    ]);
    const log = await database()`
      select l.details, host(a.address) as from from audit_log l join people p on p.id = l.actor
        join audit_addresses a on a.audit_id = l.id where p.address = ${address} and l.action = 'sign up'`;
    expect(log).toMatchObject([{ details: { role: 'owner' }, from: mine.network }]);
    expect(JSON.stringify(log)).not.toContain(address.split('@')[0]);
  });

  it('by the code works where it was asked for, in any form, and uses the link up', async () => {
    const [address, mine] = [newAddress(), browser()];
    const { code, link } = await askedBy(mine, address);
    const typed = ` ${code.slice(0, 3)}-${code.slice(3)} `;
    expect(await mine.post('/panel/code', { code: typed })).toMatchObject({
      status: 303,
      to: '/panel/overview',
    });
    expect(await accountsOf(address)).toHaveLength(1);
    const later = browser();
    expect(await later.post(link)).toMatchObject({
      status: 410,
      text: expect.stringContaining('już użyty') as string,
    });
    expect(await isIn(later)).toBe(false);
    // Who has signed in with it goes on.
    expect(await mine.get(link)).toMatchObject({ status: 303, to: '/panel/overview' });
  });

  it('happens once for an address, however it is written; later sign-ins open no account', async () => {
    const [name, host] = [newAddress().split('@')[0]!, 'sklep-żółw.example'];
    const address = signInAddress(`${name}@${host}`)!;
    const first = browser();
    await first.post('/panel', { address: ` ${name.toUpperCase()}@${host.normalize('NFD').toUpperCase()} ` });
    await first.post((await mailsTo(address))[0]!.link);
    await signedIn(address);
    expect(await accountsOf(address)).toHaveLength(1);
    expect(await sessionsOf(address)).toBe(2);
  });

  it('is answered alike for an address that is known, unknown, or of a suspended account', async () => {
    const known = await newPerson(panel, 'owner');
    const suspended = await newPerson(panel, 'owner');
    await database()`update accounts set status = 'suspended' where id = ${suspended.account}`;
    const answers = [];
    for (const address of [newAddress(), known.address, suspended.address]) {
      const mine = browser();
      const asked = await mine.post('/panel', { address });
      const page = await mine.get('/panel/code');
      answers.push({ status: asked.status, to: asked.to, page: page.text.replaceAll(address, 'X') });
      const [mail] = await mailsTo(address);
      answers.push(mail!.text.replace(mail!.code, '').replace(mail!.token, ''));
    }
    expect(answers.slice(2, 4)).toEqual(answers.slice(0, 2));
    expect(answers.slice(4)).toEqual(answers.slice(0, 2));
  });

  it('is in English where the page is', async () => {
    const [address, mine] = [newAddress(), browser()];
    const english = { 'accept-language': 'de, en-GB;q=0.8', 'sec-fetch-site': 'same-origin' };
    await mine.post('/panel', { address }, english);
    expect((await mailsTo(address))[0]).toMatchObject({
      subject: 'Sign in to the Goniec panel',
      code: expect.stringMatching(/^\d{6}$/) as string,
    });
    expect((await mine.get('/panel')).text).toContain('<html lang="pl">');
    await mine.post('/panel/language', { language: 'en', back: '/panel/code' });
    expect((await mine.get('/panel')).text).toContain('<html lang="en">');
  });
});

describe('a link', () => {
  it('is opened by programs first, and works for the person all the same', async () => {
    const [address, mine, scanner] = [newAddress(), browser(), browser()];
    const { link } = await askedBy(mine, address);
    for (const method of ['HEAD', 'GET', 'GET', 'GET'])
      expect((await scanner.ask(method, link)).status).toBe(200);
    expect(scanner.cookies.size).toBe(0);
    // Programs that run scripts find none: only the browser that asked is told to submit.
    expect((await scanner.get(link)).text).not.toMatch(/<script|data-submit/);
    expect((await mine.get(link)).text).toMatch(
      /data-submit.*<script src="\/assets\/submit\.[0-9a-f]+\.js" defer/s,
    );
    expect(await sessionsOf(address)).toBe(0);
    expect((await mine.post(link)).status).toBe(303);
    expect(await isIn(mine)).toBe(true);
  });

  it('signs in the browser that presses the button, wherever it was asked for', async () => {
    const [address, mine, phone] = [newAddress(), browser(), browser()];
    const { link } = await askedBy(mine, address);
    expect((await phone.get(link)).text).toContain(address);
    await phone.post(link);
    expect([await isIn(phone), await isIn(mine)]).toEqual([true, false]);
  });

  it('used 20 times at once makes one session', async () => {
    const [address, mine] = [newAddress(), browser()];
    const { link } = await askedBy(mine, address);
    const uses = await Promise.all(Array.from({ length: 20 }, () => browser().post(link)));
    expect(uses.map(({ status }) => status).sort()).toEqual([303, ...Array<number>(19).fill(410)]);
    expect(await sessionsOf(address)).toBe(1);
    expect(await accountsOf(address)).toHaveLength(1);
  });

  it('of one person used with others at once opens one account', async () => {
    const address = newAddress();
    const links = [];
    for (let asked = 0; asked < 3; asked += 1) links.push((await askedBy(browser(), address)).link);
    const uses = await Promise.all(links.map((link) => browser().post(link)));
    expect(uses.map(({ status }) => status)).toEqual([303, 303, 303]);
    expect(await accountsOf(address)).toHaveLength(1);
  });

  it('that is old says so and offers another, and one that was never ours opens nothing', async () => {
    const [address, mine] = [newAddress(), browser()];
    const { link, code } = await askedBy(mine, address);
    await database()`update sign_ins set expires_at = now() where address = ${address}`;
    for (const seen of [await mine.get(link), await mine.post(link)])
      expect(seen).toMatchObject({
        status: 410,
        text: expect.stringContaining(`value="${address}"`) as string,
      });
    expect((await mine.post('/panel/code', { code })).status).toBe(422);
    for (const path of [`/panel/link/${'A'.repeat(43)}`, '/panel/link/x', `/panel/link/${'%00'.repeat(9)}`])
      for (const seen of [await mine.get(path), await mine.post(path)]) expect(seen.status).toBe(404);
    expect(await isIn(mine)).toBe(false);
  });
});

describe('a code', () => {
  it('works in no other browser, not even one that was sent a code to the same address', async () => {
    const [address, mine, other, stranger] = [newAddress(), browser(), browser(), browser()];
    const { code } = await askedBy(mine, address);
    await askedBy(other, address);
    expect(await other.post('/panel/code', { code })).toMatchObject({ status: 422 });
    expect(await stranger.post('/panel/code', { code })).toMatchObject({ status: 303, to: '/panel' });
    stranger.cookies.set(BROWSER, 'A'.repeat(43));
    expect((await stranger.post('/panel/code', { code })).status).toBe(303);
    expect([await isIn(other), await isIn(stranger)]).toEqual([false, false]);
    expect((await mine.post('/panel/code', { code })).to).toBe('/panel/overview');
  });

  const wrong = (code: string) => String((Number(code) + 1) % 1_000_000).padStart(6, '0');

  it('is compared with five guesses at most, of 600 at once', async () => {
    const [address, mine] = [newAddress(), browser()];
    const { code, link } = await askedBy(mine, address);
    const guesses = await Promise.all(
      Array.from({ length: 600 }, () => mine.post('/panel/code', { code: wrong(code) })),
    );
    const compared = guesses.filter(({ text }) => /To nie ten kod/.test(text)).length;
    // The fifth is told that none is left, as all later ones are.
    expect(compared).toBeLessThanOrEqual(4);
    expect(guesses.filter(({ status }) => status !== 422 && status !== 429)).toEqual([]);
    expect((await database()`select guesses from sign_ins where address = ${address}`)[0]).toEqual({
      guesses: 5,
    });
    expect(await mine.post('/panel/code', { code })).toMatchObject({
      status: 422,
      text: expect.stringContaining('już nie działa') as string,
    });
    expect((await mine.post(link)).status).toBe(303);
  });

  it('that is new brings no guesses beyond those of the day, and its link still works', async () => {
    const [address, mine] = [newAddress(), browser()];
    await askedBy(mine, address);
    await database()`
      insert into sign_ins (id, address, network, browser_hash, link_hash, code_hash, guesses, created_at)
      select 'x' || n || ${address}, address, network, ''::bytea, sha256((${address} || n)::bytea), ''::bytea, 5, now() - interval '23 hours'
        from sign_ins, generate_series(1, 5) n where address = ${address}`;
    await mine.post('/panel', { address });
    const { code, link } = (await mailsTo(address, 2))[1]!;
    expect((await mine.post('/panel/code', { code })).status).toBe(422);
    expect((await mine.post(link)).status).toBe(303);
  });

  it.each(['', '12345', '1234567', 'abcdef', '１２３４５６', '0x1234', '-12345', '1'.repeat(9000)])(
    'typed as %j counts as no guess',
    async (code) => {
      const [address, mine] = [newAddress(), browser()];
      await askedBy(mine, address);
      expect((await mine.post('/panel/code', { code })).status).toBe(422);
      expect((await database()`select guesses from sign_ins where address = ${address}`)[0]).toEqual({
        guesses: 0,
      });
    },
  );
});

describe('limits', () => {
  it('of five e-mails an hour to an address hold from all networks, and at once', async () => {
    const address = newAddress();
    const asks = await Promise.all(Array.from({ length: 20 }, () => browser().post('/panel', { address })));
    const refused = asks.filter(({ status }) => status === 429);
    expect(refused).toHaveLength(15);
    expect(Number(refused[0]!.headers.get('retry-after'))).toBeGreaterThan(3000);
    expect(await mailsTo(address, 5)).toHaveLength(5);
    await database()`
      update requested_emails set at = now() - interval '61 minutes' where address = ${address}`;
    expect((await browser().post('/panel', { address })).status).toBe(303);
  });

  it.each([
    ['an IPv4 address', newNetwork(), (network: string) => network, newNetwork()],
    [
      'a /64 of IPv6',
      `2001:db8:${newNetwork().split('.').slice(1, 3).join(':')}::1`,
      (network: string) => network.replace('::1', ':a:b:c:d'),
      '2001:db8:ffff:1::1',
    ],
  ])('of 20 e-mails a day hold for %s', async (_, network, neighbour, elsewhere) => {
    const asks = await Promise.all(
      Array.from({ length: 21 }, (__, index) =>
        browser(index % 2 === 0 ? network : neighbour(network)).post('/panel', { address: newAddress() }),
      ),
    );
    expect(asks.filter(({ status }) => status === 429)).toHaveLength(1);
    expect((await browser(elsewhere).post('/panel', { address: newAddress() })).status).toBe(303);
  });

  it('of five accounts a day hold for a network; the link works another day, and known people sign in', async () => {
    const network = newNetwork();
    await database()`
      insert into sign_ins (id, address, network, browser_hash, link_hash, code_hash, opened_account)
      select 'y' || n || ${network}, 'x@y.example', ${network}::inet, ''::bytea, sha256((${network} || n)::bytea), ''::bytea, true
        from generate_series(1, 5) n`;
    const [address, mine] = [newAddress(), browser(network)];
    const { link } = await askedBy(mine, address);
    expect((await mine.post(link)).status).toBe(429);
    expect([await accountsOf(address), await sessionsOf(address)]).toEqual([[], 0]);
    const { address: known } = await newPerson(panel, 'reader');
    await signedIn(known, browser(network));
    await database()`
      update sign_ins set created_at = now() - interval '25 hours' where network = ${network}::inet and opened_account`;
    expect((await mine.post(link)).status).toBe(303);
  });
});

describe('an e-mail to an address that the own account no longer writes to', () => {
  it.each([
    ['unsubscribe', '0', true],
    ['manual', '0', true],
    ['bounce', '23 hours', false],
    ['complaint', '23 hours', false],
    ['bounce', '25 hours', true],
    ['complaint', '25 hours', false],
    ['bounce', '25 hours', false, 'nobody'],
  ])('for %s, since %s', async (reason, age, isSent, whose = 'a person') => {
    const address = whose === 'nobody' ? newAddress() : (await newPerson(panel, 'owner')).address;
    const sql = database();
    await sql`
      insert into suppressions (account_id, address, reason, created_at)
      values (${panel.house}, ${address}, ${reason}, now() - ${age}::interval)`;
    expect(await browser().post('/panel', { address })).toMatchObject({ status: 303, to: '/panel/code' });
    const sent = await sql`
      select e.status <> 'suppressed' as sent from emails e join email_recipients r on r.email_id = e.id
       where r.address = ${address}`;
    expect([...sent]).toEqual([{ sent: isSent }]);
    const listed =
      await sql`select from suppressions where account_id = ${panel.house} and address = ${address}`;
    expect(listed.count).toBe(age === '25 hours' && isSent ? 0 : 1);
  });
});

describe('a session', () => {
  it('begins in another account, when the first one is left at that moment', async () => {
    const person = await newPerson(panel, 'reader');
    const other = await newPerson(panel, 'reader');
    const sql = database();
    await sql`
      insert into memberships (person_id, account_id, role) values (${person.id}, ${other.account}, 'reader')`;
    const { link } = await askedBy(person.browser, person.address);
    const removal = await hold(
      (tx) => tx`delete from memberships where person_id = ${person.id} and account_id = ${person.account}`,
    );
    const signingIn = person.browser.post(link);
    await removal.releaseToWaiting();
    expect(await signingIn).toMatchObject({ status: 303, to: '/panel/overview' });
    const [session] = await sql`select account_id from sessions where person_id = ${person.id}`;
    expect(session).toEqual({ accountId: other.account });
  });

  it('is made anew at each sign-in, and ends the one before', async () => {
    const [address, mine] = [newAddress(), browser()];
    mine.cookies.set(SESSION, 'A'.repeat(43));
    await signedIn(address, mine);
    const first = mine.cookies.get(SESSION)!;
    expect(first).not.toBe('A'.repeat(43));
    await signedIn(address, mine);
    expect(mine.cookies.get(SESSION)).not.toBe(first);
    const thief = browser();
    thief.cookies.set(SESSION, first);
    expect([await isIn(mine), await isIn(thief)]).toEqual([true, false]);
  });

  it.each([
    ['unused for 12 hours', { lastSeenAt: '12 hours 1 minute', createdAt: '13 hours' }, false],
    ['used within 12 hours', { lastSeenAt: '11 hours 59 minutes', createdAt: '13 hours' }, true],
    [
      'used all the time, of more than seven days',
      { lastSeenAt: '1 minute', createdAt: '7 days 1 minute' },
      false,
    ],
  ])('%s', async (_, { lastSeenAt, createdAt }, open) => {
    const { browser: mine, session } = await newPerson(panel, 'reader');
    await database()`
      update sessions set last_seen_at = now() - ${lastSeenAt}::interval, created_at = now() - ${createdAt}::interval
       where id = ${session}`;
    expect(await isIn(mine)).toBe(open);
  });

  it('ends by signing out', async () => {
    const { browser: mine } = await newPerson(panel, 'reader');
    const token = mine.cookies.get(SESSION)!;
    expect(await mine.post('/panel/sign-out')).toMatchObject({ status: 303, to: '/panel' });
    expect(mine.cookies.has(SESSION)).toBe(false);
    mine.cookies.set(SESSION, token);
    expect(await isIn(mine)).toBe(false);
  });
});

describe('what is kept', () => {
  it('holds no link, code, session, browser or key that could be used, in the database or the log', async () => {
    const [address, mine] = [newAddress(), browser()];
    const sql = database();
    const { token, code } = await askedBy(mine, address);
    const browserSecret = mine.cookies.get(BROWSER)!;
    await mine.get(`/panel/link/${token}`);
    await mine.post('/panel/code', { code });
    const { text } = await mine.post('/panel/keys', { label: 'Sklep', 'scope-send': 'on' });
    const [key] = /pk_test_\w{40}/.exec(text)!;
    const secrets = [token, browserSecret, mine.cookies.get(SESSION)!, key];
    const tables = await sql<{ name: string }[]>`
      select tablename as name from pg_tables where schemaname = 'public' and tablename <> 'simulator_emails'`;
    const forms = secrets.flatMap((secret) => [
      secret,
      Buffer.from(secret).toString('hex'),
      Buffer.from(secret, 'base64url').toString('hex'),
    ]);
    for (const { name } of tables) {
      const found =
        await sql`select from ${sql(name)} t where t::text like any(${forms.map((form) => `%${form}%`)})`;
      expect([name, found.count]).toEqual([name, 0]);
    }
    const plain = await sql`
      select c.text, e.subject from emails e join email_contents c on c.email_id = e.id join email_recipients r on r.email_id = e.id
       where r.address = ${address}`;
    expect(plain).toMatchObject([{ text: null, subject: expect.not.stringContaining(code) as string }]);
    const log = panel.log.join('');
    expect(log).toContain('/panel/link/:token');
    for (const form of [...secrets, code, address]) expect(log).not.toContain(form);
  });

  it('of a person who is erased is nothing, and the person is out', async () => {
    const [address, mine] = [newAddress(), browser()];
    await signedIn(address, mine);
    expect(await countAddressTraces(database(), { address, accountId: null })).toMatchObject({ people: 1 });
    await eraseAddressee(database(), { address, accountId: null });
    expect(await isIn(mine)).toBe(false);
    for (const table of ['sign_ins', 'requested_emails'])
      expect((await database()`select from ${database()(table)} where address = ${address}`).count).toBe(0);
  });
});

const NO_ADDRESSES = [
  ...[
    '',
    'jan',
    'jan@localhost',
    'Jan <jan@sklep.pl>',
    'jan@sklep.pl\nBcc: x@y.pl',
    'jan@sklep.pl, ola@sklep.pl',
  ],
  // A Cyrillic а.
  ...['"jan doe"@sklep.pl', 'jan@[127.0.0.1]', 'jаn@sklep.pl', 'jan\u0000@sklep.pl'],
  ...[`${'a'.repeat(65)}@sklep.pl`, `a@${'b'.repeat(300)}.pl`],
];

test.each<[string, string | null]>([
  ...NO_ADDRESSES.map((typed): [string, null] => [typed, null]),
  ['JAN+x@Sklep.PL', 'jan+x@sklep.pl'],
  ['jan@ｓｋｌｅｐ.pl', 'jan@sklep.pl'],
  // A Cyrillic е.
  ['jan@sklеp.pl', 'jan@xn--sklp-x4d.pl'],
])('the address %j is %j', async (typed, address) => {
  expect(signInAddress(typed)).toBe(address);
  if (address !== null) return;
  const seen = await browser().post('/panel', { address: typed });
  expect(seen).toMatchObject({ status: 422, text: expect.stringContaining('role="alert"') as string });
});

test('a hostile address is shown as text', async () => {
  const seen = await browser().post('/panel', { address: '"><script>alert(1)</script>' });
  expect(seen.text).toContain('&quot;>&lt;script>');
  expect(seen.text).not.toContain('<script>alert');
});

const OTHER_PLACES = [
  ...['', '//evil.example', '/\\evil.example', 'https://evil.example', '/panel//evil.example', '/panelevil'],
  ...['/v1/account', '/panel/../v1', '/panel\\x', '/panel/\n', '/panel?x=//evil', 'javascript:alert(1)'],
  `/panel/${'a'.repeat(600)}`,
];

test('only a path of the panel is opened afterwards', () => {
  expect(OTHER_PLACES.map(ownPath)).toEqual(OTHER_PLACES.map(() => null));
  for (const path of ['/panel', '/panel/keys', '/panel/messages?to=%2B48500&x=1'])
    expect(ownPath(path)).toBe(path);
});

describe('with sign-ups stopped', () => {
  it('people sign in, nobody signs up, and no answer tells who is known', async () => {
    const stopped = await startPanel({ SIGN_UP_EMAILS_A_DAY: 0 });
    const known = await newPerson(stopped, 'owner');
    const unknown = newAddress();
    const mine = newBrowser(stopped);
    const answers = [];
    for (const [address, by] of [
      [unknown, newBrowser(stopped)],
      [known.address, mine],
    ] as const) {
      const { status, text, headers } = await by.post('/panel', { address });
      const page = (await by.get('/panel/code')).text;
      answers.push(
        [status, text, headers.get('retry-after'), page].map((part) => String(part).replaceAll(address, 'X')),
      );
    }
    expect(answers[1]).toEqual(answers[0]);
    expect(answers[0]!.slice(0, 2)).toEqual(['429', expect.stringContaining('jest teraz wstrzymane')]);
    const [mail] = await mailsTo(known.address);
    expect(await mine.post('/panel/code', { code: mail!.code })).toMatchObject({ to: '/panel/overview' });
    const sent = await database()`
      select from emails e join sign_ins s on s.id = e.idx where s.address = ${unknown}`;
    expect(sent.count).toBe(0);
    await stopped.api.stop();
  });

  it('for the day, says when they are possible again; at the end of the whole budget nobody gets an e-mail', async () => {
    const [{ used }] = await database()<[{ used: number }]>`
      select coalesce(max(used), 0) as used from daily_use where name = 'sign_in_emails' and day = (now() at time zone 'Europe/Warsaw')::date`;
    const few = await startPanel({
      SIGN_UP_EMAILS_A_DAY: Math.max(used, 1),
      SIGN_IN_EMAILS_A_DAY: 1_000_000,
    });
    const none = await startPanel({ SIGN_UP_EMAILS_A_DAY: 0, SIGN_IN_EMAILS_A_DAY: 0 });
    await browser().post('/panel', { address: newAddress() });
    const later = await newBrowser(few).post('/panel', { address: newAddress() });
    expect(later).toMatchObject({
      status: 429,
      text: expect.stringContaining('możesz założyć jutro') as string,
    });
    expect(Number(later.headers.get('retry-after'))).toBeGreaterThan(0);
    const { address, browser: mine } = await newPerson(none, 'owner');
    const usedUp = { text: expect.stringContaining('Wysłaliśmy już dziś wszystkie e-maile') as string };
    expect(await newBrowser(none).post('/panel', { address })).toMatchObject({ status: 429, ...usedUp });
    for (const [path, form] of [
      ['/panel/team', { address: newAddress(), role: 'reader' }],
      ['/panel/you/address', { address: newAddress() }],
    ] as const)
      expect(await mine.post(path, form)).toMatchObject({ status: 422, ...usedUp });
    await Promise.all([few.api.stop(), none.api.stop()]);
  });
});
