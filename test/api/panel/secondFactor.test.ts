import { Secret, TOTP } from 'otpauth';
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { routes } from '../../../panel/routes.ts';
import { newAuthenticator, type Authenticator } from '../../support/authenticator.ts';
import { database, newAccount } from '../../support/factories.ts';
import {
  askedBy,
  type Browser,
  mailsTo,
  newAddress,
  newBrowser,
  newPerson,
  newSession,
  PANEL_URL,
  type PanelUnderTest,
  type Person,
  type Seen,
  SESSION,
  startPanel,
} from '../../support/panel.ts';

let panel: PanelUnderTest;
beforeAll(async () => {
  panel = await startPanel();
});
afterAll(() => panel.api.stop());

const text = (part: string): string => expect.stringContaining(part) as string;

/** The code that an app shows now, or some steps of 30 s later. */
const codeOf = (secret: string, later = 0) =>
  TOTP.generate({ secret: Secret.fromBase32(secret), timestamp: Date.now() + later * 30_000 });
const wrong = (code: string) => String((Number(code) + 1) % 1_000_000).padStart(6, '0');
const recoveryCodesIn = ({ text: page }: Seen): string[] =>
  page.match(/\b(?:[A-Z2-7]{4}-){3}[A-Z2-7]{4}\b/g) ?? [];

interface WithApp extends Person {
  secret: string;
  recoveryCodes: string[];
}

async function addApp(browser: Browser) {
  const [, secret = ''] = /id="secret">([A-Z2-7]{32})</.exec(
    (await browser.post('/panel/you/factors/totp')).text,
  )!;
  const seen = await browser.post('/panel/you/factors/totp', { secret, code: codeOf(secret) });
  return { secret, recoveryCodes: recoveryCodesIn(seen) };
}

/** A person with an authenticator app, who has proved it. */
async function withApp(): Promise<WithApp> {
  const person = await newPerson(panel, 'owner');
  return { ...person, ...(await addApp(person.browser)) };
}

/** What a page asks an authenticator. */
const optionsIn = ({ text: page }: Seen) =>
  JSON.parse(/data-passkey="([^"]*)"/.exec(page)![1]!.replaceAll('&quot;', '"')) as {
    challenge: string;
    userVerification?: string;
    authenticatorSelection?: object;
  };

async function addPasskey(browser: Browser, authenticator: Authenticator, label = 'Telefon'): Promise<Seen> {
  const options = optionsIn(await browser.post('/panel/you/factors/passkey'));
  return browser.post('/panel/you/factors/passkey', { label, response: authenticator.create(options) });
}

const isIn = async (browser: Browser): Promise<boolean> =>
  (await browser.get('/panel/overview')).status === 200;

/** Whether a browser gets in with a session that was there before. */
async function opens(token: string): Promise<boolean> {
  const thief = newBrowser(panel);
  thief.cookies.set(SESSION, token);
  return isIn(thief);
}

/** Lets the session of a person have been confirmed some time ago. */
const confirmedAgo = (session: string, ago: string) =>
  database()`update sessions set confirmed_at = now() - ${ago}::interval where id = ${session}`;

describe('a first factor alone', () => {
  const ANSWERED: Record<string, object> = {
    'GET /panel/confirm': { status: 200 },
    'POST /panel/confirm': { status: 422 },
    'POST /panel/language': { status: 303, to: '/panel' },
    'POST /panel/sign-out': { status: 303, to: '/panel' },
  };

  it('opens no page and no form of a person who has a second one', async () => {
    const person = await withApp();
    for (const { path, methods } of routes)
      for (const method of methods) {
        const { browser } = await newSession(panel, person);
        const at = path.replace(':token', 'A'.repeat(43)).replace(/:\w+|\*rest/, 'x');
        const form = method === 'POST' ? { form: { label: 'x' } } : {};
        const seen = await browser.ask(method, at, { headers: { 'sec-fetch-site': 'same-origin' }, ...form });
        const call = `${method} ${path}`;
        expect([call, seen]).toMatchObject([
          call,
          ANSWERED[call] ?? {
            status: 303,
            to: expect.stringMatching(/^\/panel\/confirm(?:\?next=[\w%-]*)?$/) as string,
          },
        ]);
        expect(seen.text).not.toContain('<nav');
      }
  });

  it.each(['link', 'code'])('by %s leads to the second one, and then where it was going', async (by) => {
    const { address, secret } = await withApp();
    const browser = newBrowser(panel);
    const mail = await askedBy(browser, address, { next: '/panel/keys' });
    if (by === 'link') await browser.post(mail.link);
    else await browser.post('/panel/code', { code: mail.code });
    const first = browser.cookies.get(SESSION)!;
    expect((await browser.get('/panel/keys')).to).toBe('/panel/confirm?next=%2Fpanel%2Fkeys');
    expect((await browser.get('/panel/confirm?next=%2Fpanel%2Fkeys')).text).toMatch(
      /name="code".*name="next" value="\/panel\/keys"/s,
    );
    const code = codeOf(secret, 1);
    expect((await browser.post('/panel/confirm', { code, next: '//evil.example' })).to).toBe(
      '/panel/overview',
    );
    expect([await isIn(browser), await opens(first)]).toEqual([true, false]);
  });

  it('no longer does in sessions that there are when a second one is added', async () => {
    const person = await newPerson(panel, 'owner');
    const { browser: other } = await newSession(panel, person);
    expect(await isIn(other)).toBe(true);
    await addApp(person.browser);
    expect([await isIn(person.browser), await isIn(other)]).toEqual([true, false]);
  });
});

describe('an authenticator app', () => {
  it('is added with the code that it shows, brings ten recovery codes, and is told of', async () => {
    const person = await newPerson(panel, 'owner');
    const { browser, id, address, account } = person;
    const second = (await newAccount({ mode: 'test' })).id;
    await database()`insert into memberships (person_id, account_id, role) values (${id}, ${second}, 'reader')`;
    const token = browser.cookies.get(SESSION)!;
    const asked = await browser.post('/panel/you/factors/totp');
    expect(asked.text).toMatch(/<svg class="qr" viewBox="0 0 \d+ \d+" role="img"[^>]*><path d="M/);
    expect(asked.text).not.toContain(' style=');
    const [, secret = ''] = /name="secret" value="([A-Z2-7]{32})"/.exec(asked.text)!;
    for (const code of ['', '12345', wrong(codeOf(secret)), codeOf(secret, 5)])
      expect(await browser.post('/panel/you/factors/totp', { secret, code })).toMatchObject({
        status: 422,
        text: text(secret),
      });
    expect(await opens(token)).toBe(true);
    const added = await browser.post('/panel/you/factors/totp', { secret, code: codeOf(secret) });
    expect(new Set(recoveryCodesIn(added)).size).toBe(10);
    expect([await isIn(browser), await opens(token)]).toEqual([true, false]);
    expect((await browser.get('/panel/you/factors')).text).toMatch(/Niewykorzystane kody: 10/);
    expect((await mailsTo(address))[0]).toMatchObject({
      subject: 'Zmiana logowania do panelu Goniec',
      text: text('dodano aplikację'),
    });
    const again = await addApp(browser);
    expect(again.recoveryCodes).toEqual([]);
    const log = await database()`
      select l.account_id, l.action, l.subject, l.details, host(a.address) as from from audit_log l
        join audit_addresses a on a.audit_id = l.id where l.actor = ${id} order by l.account_id`;
    const record = { action: 'factors add', subject: id, details: { kind: 'totp' }, from: browser.network };
    expect([...log]).toEqual([account, second].sort().map((accountId) => ({ accountId, ...record })));
  });

  it('has each code accepted once, at once, too', async () => {
    const person = await withApp();
    const code = codeOf(person.secret, 1);
    const sessions = await Promise.all(Array.from({ length: 4 }, () => newSession(panel, person)));
    const uses = await Promise.all(
      sessions.map(({ browser }) =>
        browser.post('/panel/confirm', { code: ` ${code.slice(0, 3)} ${code.slice(3)}` }),
      ),
    );
    expect(uses.map(({ status }) => status).sort()).toEqual([303, 422, 422, 422]);
    const { browser } = await newSession(panel, person);
    for (const used of [code, codeOf(person.secret)])
      expect(await browser.post('/panel/confirm', { code: used })).toMatchObject({
        status: 422,
        text: text('został już użyty'),
      });
  });

  it('has five guesses in a row compared at most, of 40 at once, and then one in 15 minutes', async () => {
    const person = await withApp();
    const { browser } = await newSession(panel, person);
    const guess = (code: string) => browser.post('/panel/confirm', { code });
    const right = codeOf(person.secret, 1);
    const guesses = await Promise.all(Array.from({ length: 40 }, () => guess(wrong(right))));
    expect(guesses.filter(({ text: page }) => /Ten kod nie pasuje/.test(page))).toHaveLength(5);
    expect(await guess(right)).toMatchObject({ status: 422, text: text('Za dużo błędnych kodów') });
    await database()`update people set totp_guessed_at = now() - interval '16 minutes' where id = ${person.id}`;
    const later = await Promise.all(Array.from({ length: 5 }, () => guess(wrong(right))));
    expect(later.filter(({ text: page }) => /Ten kod nie pasuje/.test(page))).toHaveLength(1);
    await database()`update people set totp_guessed_at = now() - interval '16 minutes' where id = ${person.id}`;
    expect((await guess(right)).status).toBe(303);
    const [row] = await database()`select totp_guesses as left from people where id = ${person.id}`;
    expect(row).toEqual({ left: 0 });
  });

  it.each(['', '12345', '１２３４５６', 'x'.repeat(9000)])('has %j count as no guess', async (code) => {
    const { browser, id } = await withApp();
    expect((await browser.post('/panel/confirm', { code })).status).toBe(422);
    expect([...(await database()`select totp_guesses as count from people where id = ${id}`)]).toEqual([
      { count: 0 },
    ]);
  });
});

describe('a recovery code', () => {
  it('works once, however it is typed, also while codes of the app are not compared', async () => {
    const person = await withApp();
    await database()`update people set totp_guesses = 5, totp_guessed_at = now() where id = ${person.id}`;
    const [code = ''] = person.recoveryCodes;
    const typed = code.toLowerCase().replaceAll('-', ' ');
    const sessions = await Promise.all(Array.from({ length: 3 }, () => newSession(panel, person)));
    const uses = await Promise.all(
      sessions.map(({ browser }) => browser.post('/panel/confirm', { code: typed })),
    );
    expect(uses.map(({ status }) => status).sort()).toEqual([303, 422, 422]);
    expect((await person.browser.get('/panel/you/factors')).text).toContain('Niewykorzystane kody: 9');
    const stranger = await withApp();
    const { browser } = await newSession(panel, stranger);
    expect((await browser.post('/panel/confirm', { code: person.recoveryCodes[1]! })).status).toBe(422);
  });

  it('is of no use once new ones are made', async () => {
    const person = await withApp();
    const renewed = recoveryCodesIn(await person.browser.post('/panel/you/factors/recovery'));
    expect(renewed).toHaveLength(10);
    const { browser } = await newSession(panel, person);
    expect((await browser.post('/panel/confirm', { code: person.recoveryCodes[0]! })).status).toBe(422);
    expect((await browser.post('/panel/confirm', { code: renewed[0]! })).status).toBe(303);
    expect((await mailsTo(person.address, 2))[1]!.text).toContain('Zrobiono nowe kody zapasowe');
    expect((await person.browser.get('/panel/activity')).text).toContain('<td>Nowe kody zapasowe');
  });

  it('is made for nobody without a second factor', async () => {
    const { browser, id } = await newPerson(panel, 'owner');
    expect((await browser.post('/panel/you/factors/recovery')).to).toBe('/panel/you/factors');
    expect((await database()`select from recovery_codes where person_id = ${id}`).count).toBe(0);
  });
});

describe('a passkey', () => {
  it('is added beside recovery codes, and opens the panel', async () => {
    const person = await newPerson(panel, 'owner');
    const authenticator = newAuthenticator();
    const asked = await person.browser.post('/panel/you/factors/passkey');
    expect(optionsIn(asked)).toMatchObject({
      rp: { id: new URL(PANEL_URL).hostname },
      authenticatorSelection: { userVerification: 'required' },
    });
    expect(asked.text).toMatch(/data-without-passkey.*<script src="\/assets\/passkey\.[0-9a-f]+\.js" defer/s);
    const added = await addPasskey(person.browser, authenticator, 'Telefon <b>');
    expect(recoveryCodesIn(added)).toHaveLength(10);
    expect((await person.browser.get('/panel/you/factors')).text).toContain('Telefon &lt;b>');
    const { browser } = await newSession(panel, person);
    const options = optionsIn(await browser.get('/panel/confirm'));
    expect(options).toMatchObject({
      userVerification: 'required',
      allowCredentials: [{ id: authenticator.id }],
    });
    const token = browser.cookies.get(SESSION)!;
    const response = authenticator.get(options);
    expect((await browser.post('/panel/confirm', { response })).status).toBe(303);
    expect([await isIn(browser), await opens(token)]).toEqual([true, false]);
    const [row] =
      await database()`select counter, last_used_at is not null as used from passkeys where id = ${authenticator.id}`;
    expect(row).toEqual({ counter: 2, used: true });
    expect((await browser.post('/panel/confirm', { response })).status).toBe(422);
  });

  it.each([
    ['of another site', { origin: 'https://panel.example.evil.example' }],
    ['for another host', { host: 'example' }],
    ['without a check of the person', { flags: 0x01 }],
    ['with a counter that went back', { counter: 0 }],
  ])('that answers %s is refused', async (_, answer) => {
    const person = await newPerson(panel, 'owner');
    const authenticator = newAuthenticator();
    await addPasskey(person.browser, authenticator);
    const { browser } = await newSession(panel, person);
    const response = authenticator.get(optionsIn(await browser.get('/panel/confirm')), answer);
    expect(await browser.post('/panel/confirm', { response })).toMatchObject({
      status: 422,
      text: text('Klucz dostępu nie zadziałał'),
    });
    expect(await isIn(browser)).toBe(false);
  });

  it('answers its own session, once, within five minutes', async () => {
    const person = await newPerson(panel, 'owner');
    const authenticator = newAuthenticator();
    await addPasskey(person.browser, authenticator);
    const [mine, other] = [await newSession(panel, person), await newSession(panel, person)];
    const challenge = async () => optionsIn(await mine.browser.get('/panel/confirm'));
    const answered = async (browser: Browser, response: string) =>
      (await browser.post('/panel/confirm', { response })).status;
    const options = await challenge();
    await other.browser.get('/panel/confirm');
    expect(await answered(other.browser, authenticator.get(options))).toBe(422);
    await database()`update sessions set challenge_expires_at = now() where id = ${mine.session}`;
    expect(await answered(mine.browser, authenticator.get(options))).toBe(422);
    const once = authenticator.get(await challenge());
    // A page that is opened besides takes nothing from the first one.
    await challenge();
    const uses = await Promise.all([1, 2, 3].map(() => answered(mine.browser, once)));
    expect(uses.filter((status) => status === 303)).toHaveLength(1);
  });

  it('of another person, unknown or nonsense opens nothing and is not added', async () => {
    const [person, stranger] = [await newPerson(panel, 'owner'), await newPerson(panel, 'owner')];
    const [authenticator, theirs] = [newAuthenticator(), newAuthenticator()];
    await addPasskey(person.browser, authenticator);
    await addPasskey(stranger.browser, theirs);
    const { browser } = await newSession(panel, person);
    for (const from of [theirs, newAuthenticator()]) {
      const response = from.get(optionsIn(await browser.get('/panel/confirm')));
      expect((await browser.post('/panel/confirm', { response })).status).toBe(422);
    }
    for (const response of ['', 'null', '[]', '{"id":1}', `{"id":"${authenticator.id}"}`, 'x'.repeat(9000)]) {
      await browser.get('/panel/confirm');
      expect((await browser.post('/panel/confirm', { response })).status).toBe(422);
      await person.browser.post('/panel/you/factors/passkey');
      const added = await person.browser.post('/panel/you/factors/passkey', { label: 'x', response });
      expect(added.status).toBe(422);
    }
    expect(await addPasskey(person.browser, theirs)).toMatchObject({
      status: 422,
      text: text('już jest dodany'),
    });
    expect(await addPasskey(person.browser, newAuthenticator(), ' ')).toMatchObject({
      status: 422,
      text: text('<a href="#label">'),
    });
    const { count } = await database()`select from passkeys where person_id = ${person.id}`;
    expect(count).toBe(1);
  });

  it('is one of ten at most', async () => {
    const { browser, id } = await newPerson(panel, 'owner');
    await database()`
      insert into passkeys (id, person_id, label, public_key, counter)
      select n || ${id}, ${id}, 'x', '', 0 from generate_series(1, 9) n`;
    await database()`update sessions set assurance = 'two_factors' where person_id = ${id}`;
    const added = [];
    for (let tried = 0; tried < 2; tried += 1)
      added.push((await addPasskey(browser, newAuthenticator())).status);
    expect(added).toEqual([200, 422]);
  });
});

describe('removing', () => {
  it('the last factor takes the recovery codes with it, is told of, and one factor is enough again', async () => {
    const person = await withApp();
    const { browser, id, address } = person;
    const authenticator = newAuthenticator();
    expect((await addPasskey(browser, authenticator)).to).toBe('/panel/you/factors');
    const codes = async () => (await database()`select from recovery_codes where person_id = ${id}`).count;
    const { browser: other } = await newSession(panel, person);
    await browser.post('/panel/you/factors/remove', { factor: 'totp' });
    expect([await codes(), await isIn(other)]).toEqual([10, false]);
    await browser.post('/panel/you/factors/remove', { factor: authenticator.id });
    expect([await codes(), await isIn(other), await isIn(browser)]).toEqual([0, true, true]);
    const told = (await mailsTo(address, 4)).map((mail) => mail.text.split('\n\n')[1]);
    expect(told.slice(2)).toEqual([
      'Z logowania usunięto aplikację uwierzytelniającą.',
      'Z logowania usunięto klucz dostępu.',
    ]);
    const log =
      await database()`select action, details->>'kind' as kind from audit_log where actor = ${id} order by id`;
    expect([...log]).toEqual([
      { action: 'factors add', kind: 'totp' },
      { action: 'factors add', kind: 'passkey' },
      { action: 'factors remove', kind: 'totp' },
      { action: 'factors remove', kind: 'passkey' },
    ]);
  });

  it('is possible also where no further factor or code is, for an hour after five changes', async () => {
    const { browser, id, address } = await withApp();
    await database()`
      insert into requested_emails (kind, address, asker) select 'factors', ${address}, ${id} from generate_series(1, 4)`;
    const refused = { status: 422, text: text('za dużo zmian') };
    expect(await addPasskey(browser, newAuthenticator())).toMatchObject(refused);
    expect(await browser.post('/panel/you/factors/recovery')).toMatchObject(refused);
    expect((await browser.post('/panel/you/factors/remove', { factor: 'totp' })).status).toBe(303);
    const { secret } = await addApp(browser);
    expect((await database()`select from totp where person_id = ${id}`).count).toBe(0);
    await database()`update requested_emails set at = now() - interval '61 minutes' where asker = ${id}`;
    const seen = await browser.post('/panel/you/factors/totp', { secret, code: codeOf(secret) });
    expect(recoveryCodesIn(seen)).toHaveLength(10);
    expect((await newBrowser(panel).post('/panel', { address })).to).toBe('/panel/code');
  });

  it('what belongs to others, or is not there, is 404', async () => {
    const [person, stranger] = [await newPerson(panel, 'owner'), await newPerson(panel, 'owner')];
    const authenticator = newAuthenticator();
    await addPasskey(stranger.browser, authenticator);
    for (const factor of [authenticator.id, 'totp', ''])
      expect((await person.browser.post('/panel/you/factors/remove', { factor })).status).toBe(404);
    expect((await database()`select from passkeys where id = ${authenticator.id}`).count).toBe(1);
  });
});

describe('a form about keys, secrets or people', () => {
  const guarded = routes.filter(({ stepUp }) => stepUp);

  it('is taken within 15 minutes of a sign-in, and not later', async () => {
    expect(guarded.map(({ path }) => path)).toEqual(
      expect.arrayContaining([
        '/panel/keys',
        '/panel/keys/:id/revoke',
        '/panel/tokens/:id/rotate',
        '/panel/you/factors/remove',
      ]),
    );
    const { browser, session, account } = await newPerson(panel, 'owner');
    const form = { label: 'Sklep', 'scope-read': 'on' };
    await confirmedAgo(session, '14 minutes');
    expect((await browser.post('/panel/keys', form)).status).toBe(200);
    await confirmedAgo(session, '15 minutes');
    const { count } = await database()`select from api_keys where account_id = ${account}`;
    const headers = { 'sec-fetch-site': 'same-origin', referer: `${PANEL_URL}/panel/keys?x=1` };
    for (const { path } of guarded)
      expect([path, await browser.post(path.replace(':id', 'x'), form, headers)]).toMatchObject([
        path,
        { status: 303, to: '/panel/confirm?next=%2Fpanel%2Fkeys' },
      ]);
    expect((await browser.post('/panel/keys', form)).to).toBe('/panel/confirm?next=');
    expect((await database()`select from api_keys where account_id = ${account}`).count).toBe(count);
    expect((await browser.get('/panel/keys')).status).toBe(200);
  });

  it('is taken again after a code by e-mail, in a session made anew that shows the same account', async () => {
    const { browser, id, address, session } = await newPerson(panel, 'owner');
    const second = (await newAccount({ mode: 'test' })).id;
    await database()`insert into memberships (person_id, account_id, role) values (${id}, ${second}, 'owner')`;
    await browser.post('/panel/account', { account: second });
    await confirmedAgo(session, '1 hour');
    const token = browser.cookies.get(SESSION)!;
    const asked = await browser.get('/panel/confirm?next=%2Fpanel%2Fkeys');
    expect(asked.text).toMatch(
      new RegExp(`action="/panel".*name="address" value="${address}".*name="next" value="/panel/keys"`, 's'),
    );
    const { code } = await askedBy(browser, address, { next: '/panel/keys' });
    expect((await browser.post('/panel/code', { code })).to).toBe('/panel/keys');
    expect(await opens(token)).toBe(false);
    expect((await browser.post('/panel/keys', { label: 'Sklep', 'scope-read': 'on' })).status).toBe(200);
    expect(
      (await database()`select from api_keys where account_id = ${second} and created_by = ${id}`).count,
    ).toBe(1);
  });

  it('is taken again after the second factor, and e-mail alone does not do', async () => {
    const { browser, session, secret, address } = await withApp();
    await confirmedAgo(session, '1 hour');
    const token = browser.cookies.get(SESSION)!;
    const asked = await browser.get('/panel/confirm?next=%2Fpanel%2Fkeys');
    expect(asked.text).toContain('name="code"');
    expect(asked.text).not.toContain(address);
    const proved = await browser.post('/panel/confirm', { code: codeOf(secret, 1), next: '/panel/keys' });
    expect(proved).toMatchObject({ status: 303, to: '/panel/keys' });
    expect([await isIn(browser), await opens(token)]).toEqual([true, false]);
    expect((await browser.post('/panel/you/factors/remove', { factor: 'totp' })).to).toBe(
      '/panel/you/factors',
    );
  });
});

test('asking for the e-mail again keeps the page that is wanted', async () => {
  const [address, browser] = [newAddress(), newBrowser(panel)];
  await askedBy(browser, address, { next: '/panel/keys' });
  expect((await browser.get('/panel/code')).text).toMatch(/name="next" value="\/panel\/keys"/);
});

test('the database holds no secret of an app, recovery code or session that could be used', async () => {
  const { secret, recoveryCodes, browser } = await withApp();
  const { bytes } = Secret.fromBase32(secret);
  const plain = recoveryCodes.map((code) => code.replaceAll('-', ''));
  const secrets = [secret, ...recoveryCodes, ...plain, browser.cookies.get(SESSION)!];
  const forms = [
    ...secrets,
    Buffer.from(bytes).toString('hex'),
    ...secrets.map((one) => Buffer.from(one).toString('hex')),
  ];
  const sql = database();
  const tables = await sql<{ name: string }[]>`
    select tablename as name from pg_tables where schemaname = 'public'`;
  for (const { name } of tables) {
    const found =
      await sql`select from ${sql(name)} t where t::text like any(${forms.map((form) => `%${form}%`)})`;
    expect([name, found.count]).toEqual([name, 0]);
  }
  const log = panel.log.join('');
  for (const one of secrets) expect(log).not.toContain(one);
});
