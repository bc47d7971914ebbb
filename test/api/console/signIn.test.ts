import { Secret, TOTP } from 'otpauth';
import { inject } from 'vitest';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { randomBytes } from 'node:crypto';
import { serviceLine } from '../../admin/support.ts';
import { newAuthenticator } from '../../support/authenticator.ts';
import { COOKIE, type ConsoleUnderTest, newStaff, openConsole } from '../../support/console.ts';
import { giveDomain } from '../../support/email.ts';
import { database, newAccount } from '../../support/factories.ts';
import { type Browser, mailsTo, newBrowser } from '../../support/panel.ts';

let opened: ConsoleUnderTest;
beforeAll(async () => {
  const house = await newAccount({ balance: 100_000 });
  await giveDomain(house.id);
  opened = await openConsole(house.id);
});
afterAll(() => opened.api.stop());

async function line(...words: string[]): Promise<Record<string, string>> {
  const { databaseUrl, secretsKey } = inject('service');
  const env = { DATABASE_URL: databaseUrl, SECRETS_KEY: secretsKey, ADMIN_ACTOR: 'root' };
  const { out, err, code } = await serviceLine(env, ...words, '--json');
  expect(code, err).toBe(0);
  return JSON.parse(out) as Record<string, string>;
}

async function addStaff(role = 'support') {
  const tag = randomBytes(6).toString('hex');
  const address = `${tag}@staff.example`;
  const made = await line('staff', 'add', '--address', address, '--name', `Anna ${tag}`, '--role', role);
  return { address, secret: made['totp_secret']! };
}

const codeOf = (secret: string, later = 0) =>
  TOTP.generate({ secret: Secret.fromBase32(secret), timestamp: Date.now() + later * 30_000 });

async function asked(browser: Browser, address: string): Promise<{ code: string; link: string }> {
  const before = (await database()`select from sign_ins where address = ${address}`).count;
  expect((await browser.post('/console/sign-in', { address })).status).toBe(200);
  const { text, code } = (await mailsTo(address, before + 1)).at(-1)!;
  return { code, link: /\/console\/link\/[\w-]{43}/.exec(text)![0] };
}

const entered = async (browser: Browser) => (await browser.get('/console/you')).status === 200;

describe('one of staff', () => {
  it('signs in by the code of an e-mail and the one of the app, each once', async () => {
    const { address, secret } = await addStaff();
    const browser = newBrowser(opened);
    const { code } = await asked(browser, address);
    expect((await browser.post('/console/code', { code })).to).toBe('/console/confirm?next=%2Fconsole');
    const unproved = browser.cookies.get(COOKIE);
    expect(await entered(browser)).toBe(false);
    const now = codeOf(secret);
    expect((await browser.post('/console/confirm', { code: now, next: '/console/you' })).to).toBe(
      '/console/you',
    );
    expect(browser.cookies.get(COOKIE)).not.toBe(unproved);
    expect(await entered(browser)).toBe(true);
    const again = newBrowser(opened);
    expect((await again.post('/console/code', { code })).status).toBe(422);
    const { link } = await asked(again, address);
    expect((await again.post(link)).to).toBe('/console/confirm');
    expect((await again.post(link)).status).toBe(404);
    expect((await again.post('/console/confirm', { code: now })).status).toBe(422);
    expect(await entered(again)).toBe(false);
    expect((await again.post('/console/confirm', { code: codeOf(secret, 1) })).to).toBe('/console');
    expect((await again.post('/console/sign-out')).to).toBe('/console/sign-in');
    expect(await entered(again)).toBe(false);
  });

  it('is paused after five wrong codes, however many come at once', async () => {
    const { address, secret } = await addStaff();
    const browser = newBrowser(opened);
    const { link } = await asked(browser, address);
    await browser.post(link);
    const wrong = String((Number(codeOf(secret)) + 1) % 1_000_000).padStart(6, '0');
    await Promise.all(Array.from({ length: 8 }, () => browser.post('/console/confirm', { code: wrong })));
    const right = await browser.post('/console/confirm', { code: codeOf(secret) });
    expect(right.status).toBe(422);
    expect(right.text).toContain('15 minutes');
  });

  it('signs in by a passkey alone, whose answer is good once and for this browser', async () => {
    const { address, secret } = await addStaff();
    const browser = newBrowser(opened);
    await browser.post((await asked(browser, address)).link);
    await browser.post('/console/confirm', { code: codeOf(secret) });
    const key = newAuthenticator();
    const here = { origin: `http://localhost:${opened.api.port}`, host: 'localhost' };
    const question = async (of: Browser, path: string) => {
      const { text } = await of.get(path);
      return JSON.parse(/data-passkey="([^"]*)"/.exec(text)![1]!.replaceAll('&quot;', '"')) as {
        challenge: string;
      };
    };
    const made = await question(browser, '/console/you');
    const add = { label: 'Laptop', challenge: made.challenge, response: key.create(made, here) };
    expect((await browser.post('/console/you/passkeys', add)).to).toBe('/console/you');

    const other = newBrowser(opened);
    const wanted = await question(other, '/console/sign-in');
    const answer = { challenge: wanted.challenge, response: key.get(wanted, here) };
    const stranger = newBrowser(opened);
    await stranger.get('/console/sign-in');
    expect((await stranger.post('/console/sign-in', answer)).status).toBe(422);
    const browserCookie = other.cookies.get('goniec_browser')!;
    expect((await other.post('/console/sign-in', answer)).to).toBe('/console');
    expect(await entered(other)).toBe(true);
    const replay = newBrowser(opened);
    replay.cookies.set('goniec_browser', browserCookie);
    expect((await replay.post('/console/sign-in', answer)).status).toBe(422);
  });

  it('is out at once when removed, and after a reset by the old app and its sessions', async () => {
    const { address, secret } = await addStaff();
    const browser = newBrowser(opened);
    await browser.post((await asked(browser, address)).link);
    await browser.post('/console/confirm', { code: codeOf(secret) });
    expect(await entered(browser)).toBe(true);
    const { totp_secret: other } = await line('staff', 'reset', '--address', address);
    expect(await entered(browser)).toBe(false);
    await browser.post((await asked(browser, address)).link);
    expect((await browser.post('/console/confirm', { code: codeOf(secret, 1) })).status).toBe(422);
    await browser.post('/console/confirm', { code: codeOf(other!) });
    expect(await entered(browser)).toBe(true);
    await line('staff', 'remove', '--address', address);
    expect(await entered(browser)).toBe(false);
  });
});

it('a page that follows by itself keeps nobody signed in', async () => {
  const { browser, name } = await newStaff(opened, 'support');
  const idle = async (headers: Record<string, string>) => {
    await database()`
      update staff_sessions set last_seen_at = now() - interval '29 minutes'
       where staff_id = (select id from staff where name = ${name})`;
    expect((await browser.ask('GET', '/console/bulks', { headers })).status).toBe(200);
    const [session] = await database()<{ idle: boolean }[]>`
      select s.last_seen_at < now() - interval '28 minutes' as idle
        from staff_sessions s join staff t on t.id = s.staff_id where t.name = ${name}`;
    return session!.idle;
  };
  expect(await idle({ 'hx-request': 'true' })).toBe(true);
  expect(await idle({})).toBe(false);
});

it('a session adds passkeys only while it is fresh', async () => {
  const { browser, name } = await newStaff(opened, 'support');
  const offers = async () =>
    (await browser.get('/console/you')).text.includes('action="/console/you/passkeys"');
  expect(await offers()).toBe(true);
  await database()`
    update staff_sessions set created_at = now() - interval '11 minutes'
     where staff_id = (select id from staff where name = ${name})`;
  expect(await offers()).toBe(false);
  const added = await browser.post('/console/you/passkeys', { label: 'x', challenge: 'x', response: '{}' });
  expect(added.text).toContain('within ten minutes of signing in');
});

it('nobody else is told more, or gets an e-mail', async () => {
  const { address } = await addStaff();
  const unknown = `x${address}`;
  const seen = await Promise.all(
    [address, unknown].map(async (one) => {
      const { status, text } = await newBrowser(opened).post('/console/sign-in', { address: one });
      return { status, text: text.replaceAll(one, '') };
    }),
  );
  expect(seen[0]).toEqual(seen[1]);
  expect((await database()`select from sign_ins where address = ${unknown}`).count).toBe(0);
});

it('the one that asks is led to the page again, and nowhere else', async () => {
  const browser = newBrowser(opened);
  expect((await browser.get('/console/commands')).to).toBe('/console/sign-in?next=%2Fconsole%2Fcommands');
  for (const next of ['//evil.example', '/\\evil.example', 'https://evil.example', '/panel'])
    expect((await browser.get(`/console/sign-in?next=${encodeURIComponent(next)}`)).text).toContain(
      'name="next" value="/console"',
    );
});
