import { describe, expect, inject, it } from 'vitest';
import { startCutOffApi } from '../support/cutOffApi.ts';
import { eventually } from '../support/eventually.ts';
import { database, newAccount, type TestAccount } from '../support/factories.ts';
import { sendLink } from '../support/links.ts';
import {
  optOutPath,
  type PageVisit,
  POLICY,
  unknownOptOutPath,
  unsubscribePath,
  visit,
} from '../support/pages.ts';

const NUMBER = '+48500400200';
const PREVIEW = 'facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)';
const base = () => inject('service').apiUrl;

const entries = async ({ api }: TestAccount) => (await api.get('/v1/blacklist')).body.data;

const words = ({ text }: PageVisit) => text.replace(/<[^>]*>/g, ' ').replace(/\s+/g, ' ');

describe('GET /o/{token}', () => {
  it('blacklists the number for the account that sent the link, and says so', async () => {
    const [account, other] = [await newAccount(), await newAccount()];
    const page = await visit(base() + (await optOutPath(account, NUMBER)));
    expect(page.status).toBe(200);
    expect(words(page)).toContain(
      'Na numer +48*****200 nie będziemy już wysyłać wiadomości od nadawcy SKLEP .',
    );
    expect(await entries(account)).toMatchObject([{ msisdn: NUMBER, reason: 'opt_out', expires_at: null }]);
    expect(await entries(other)).toEqual([]);
  });

  it('again and again, also at once, it is the same', async () => {
    const account = await newAccount();
    const path = await optOutPath(account, NUMBER);
    const first = await visit(base() + path);
    const before = await entries(account);
    const pages = await Promise.all(Array.from({ length: 10 }, () => visit(base() + path)));
    expect(pages.map(({ status, text }) => [status, text])).toEqual(pages.map(() => [200, first.text]));
    expect(await entries(account)).toEqual(before);
  });

  it.each(['.', ')', '”', '/', '%C2%A0', '%E2%80%8B', '),', '.Pozdrawiamy', '%E2%80%9D.', '%'])(
    'ends where its token ends: %s behind it is not of it',
    async (behind) => {
      const account = await newAccount();
      const page = await visit(base() + (await optOutPath(account, NUMBER)) + behind);
      expect(page.status).toBe(200);
      expect(await entries(account)).toHaveLength(1);
      const { token } = await sendLink(account);
      expect((await visit(`${base()}/l/${token}${behind}`)).status).toBe(302);
      const unsubscribing = await visit(base() + (await unsubscribePath(account, 'a@b.pl')) + behind);
      expect(unsubscribing.status).toBe(200);
      const longer = await visit(`${base()}${await optOutPath(account, NUMBER)}a`);
      expect(longer.status).toBe(404);
    },
  );

  it('overwrites an entry with an end', async () => {
    const account = await newAccount();
    const expires = new Date(Date.now() + 60_000).toISOString();
    await account.api.post('/v1/blacklist', { msisdn: NUMBER, reason: 'urlop', expires_at: expires });
    await visit(base() + (await optOutPath(account, NUMBER)));
    expect(await entries(account)).toMatchObject([{ reason: 'opt_out', expires_at: null }]);
  });

  it('escapes what it shows', async () => {
    const account = await newAccount();
    const page = await visit(base() + (await optOutPath(account, NUMBER, `<b>"A&'`)));
    expect(page.text).toContain('&lt;b>&quot;A&amp;');
    expect(page.text).not.toContain('<b>');
  });

  it.each(['/o/0000000000', '/o/%E0%A4%A'])('%s: 404 with a page that says it is inactive', async (path) => {
    const page = await visit(base() + path);
    expect(page.status).toBe(404);
    expect(words(page)).toContain('Link jest nieaktywny');
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
  });

  it('needs no key, gives no cookie, loads a style sheet, runs nothing, and is not kept', async () => {
    const account = await newAccount();
    for (const path of [await optOutPath(account, NUMBER), unknownOptOutPath()]) {
      const { headers, text } = await visit(base() + path);
      expect(headers.get('content-type')).toBe('text/html; charset=utf-8');
      expect(headers.get('set-cookie')).toBeNull();
      expect(headers.get('x-request-id')).toMatch(/^req_[0-9a-z]{26}$/);
      expect(headers.get('cache-control')).toBe('no-store');
      expect(headers.get('referrer-policy')).toBe('no-referrer');
      expect(headers.get('x-robots-tag')).toBe('noindex, nofollow');
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('content-security-policy')).toBe(POLICY);
      expect(text).toMatch(/^<!doctype html>\s*<html lang="pl">/);
      expect(text.match(/<h1>/g)).toHaveLength(1);
      const [sheet, ...others] = [...text.matchAll(/\bhref="([^"]*)"/g)].map(([, to = '']) => to);
      expect(others).toEqual([]);
      expect(text).not.toMatch(/<script|<img|<style|<iframe|\bsrc=|\bstyle=|https?:|url\(|\bon\w+=/);
      const { status, headers: kept, text: css } = await visit(base() + sheet!);
      expect([status, kept.get('content-type'), kept.get('cache-control')]).toEqual([
        ...[200, 'text/css; charset=utf-8', 'public, max-age=31536000, immutable'],
      ]);
      expect(css).not.toMatch(/https?:|url\(|@import/);
      expect((await visit(`${base()}${sheet}.css`)).status).toBe(404);
      expect(text).not.toContain('500400200');
    }
  });
});

describe('programs that open links by themselves', () => {
  const automatic: [string, { method?: string; headers?: Record<string, string> }][] = [
    ['a messenger that makes a preview', { headers: { 'user-agent': PREVIEW } }],
    ['HEAD', { method: 'HEAD' }],
    ['Sec-Purpose', { headers: { 'sec-purpose': 'prefetch;prerender' } }],
    ['X-Moz', { headers: { 'x-moz': 'prefetch' } }],
  ];

  it.each(automatic)('%s: changes nothing', async (_, init) => {
    const account = await newAccount();
    const { status } = await visit(base() + (await optOutPath(account, NUMBER)), init);
    expect(status).toBe(200);
    expect(await entries(account)).toEqual([]);
  });

  it('are shown a button that opts out', async () => {
    const account = await newAccount();
    const url = base() + (await optOutPath(account, NUMBER));
    const headers = { 'user-agent': PREVIEW };
    const page = await visit(url, { headers });
    expect(words(page)).toContain(
      'Czy numer +48*****200 ma już nie otrzymywać wiadomości od nadawcy SKLEP ? Tak, rezygnuję',
    );
    expect(page.text).toMatch(/<form method="post">\s*<button type="submit">/);
    expect(await entries(account)).toEqual([]);
    const pressed = await visit(url, { method: 'POST', headers });
    expect([pressed.status, words(pressed)]).toEqual([
      200,
      expect.stringContaining('nie będziemy już wysyłać'),
    ]);
    expect(await entries(account)).toMatchObject([{ msisdn: NUMBER, reason: 'opt_out' }]);
  });

  it.each(['curl/8.5.0', ''])('are no tools that a person runs: %j', async (userAgent) => {
    const account = await newAccount();
    const path = await optOutPath(account, NUMBER);
    const page = await visit(base() + path, { headers: { 'user-agent': userAgent } });
    expect(words(page)).toContain('nie będziemy już wysyłać');
    expect(await entries(account)).toMatchObject([{ msisdn: NUMBER, reason: 'opt_out' }]);
  });
});

describe.concurrent('when the database does not answer', () => {
  it.each(['cut', 'freeze'] as const)(
    '%s: a page that tells to come again, and then it works',
    async (fault) => {
      const path = await optOutPath(await newAccount(), NUMBER);
      const { api, database: proxy, stop } = await startCutOffApi();
      try {
        proxy[fault]();
        const page = await visit(api.url + path);
        proxy.restore();
        expect([502, 504]).toContain(page.status);
        expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
        expect(words(page)).toContain('Otwórz ten link jeszcze raz za kilka minut');
        expect(words(page)).toContain(page.headers.get('x-request-id')!);
        await eventually(
          () => visit(api.url + path),
          (again) => again.status === 200,
        );
      } finally {
        proxy.restore();
        await stop();
      }
    },
  );
});

describe('the link in a text', () => {
  const to = Array.from({ length: 12 }, (_, i) => `+48500${String(400_000 + i)}`);
  const later = new Date(Date.now() + 86_400_000).toISOString();
  const tokensOf = async ({ api }: TestAccount, from: string, recipients = to) => {
    const body = await api.accepted({ to: recipients, from, text: '{{opt_out}}', send_at: later });
    return new Map(body.messages.map((message) => [message.to, message.text.slice(-10)]));
  };
  const senders = ['A1', 'B1'];

  it('is one for each number and sender of an account; the same every time', async () => {
    const [account, other] = [await newAccount({ senders }), await newAccount({ senders })];
    const first = await tokensOf(account, 'A1');
    expect(new Set(first.values()).size).toBe(12);
    for (const token of first.values()) expect(token).toMatch(/^[0-9A-Za-z]{10}$/);
    expect(await tokensOf(account, 'A1')).toEqual(first);
    for (const another of [await tokensOf(account, 'B1'), await tokensOf(other, 'A1')]) {
      expect([...another.values()].filter((token) => [...first.values()].includes(token))).toEqual([]);
    }
  });

  it('works in each of several first messages that are accepted at the same time', async () => {
    const account = await newAccount({ senders, balance: 100_000 });
    const sent = await Promise.all(
      Array.from({ length: 8 }, (_, i) => tokensOf(account, 'A1', i % 2 === 0 ? to : [...to].reverse())),
    );
    for (const [number, first] of sent[0]!) {
      for (const token of new Set(sent.map((tokens) => tokens.get(number)!))) {
        const page = await visit(`${base()}/o/${token}`);
        expect([page.status, page.text.includes(`*****${number.slice(-3)}`)], first).toEqual([200, true]);
      }
    }
    expect(await entries(account)).toHaveLength(12);
    const [stored] = await database()`
      select count(*) as links from opt_out_links where account_id = ${account.id}`;
    expect(stored).toEqual({ links: 12 });
  });
});
