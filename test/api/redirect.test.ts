import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { database, newAccount, type TestAccount } from '../support/factories.ts';
import { addresses, BROWSER, counted, sendLink, sendLinks, visit } from '../support/links.ts';
import { type CutOffApi, startCutOffApi } from '../support/cutOffApi.ts';
import { SAMSUNG } from '../support/pages.ts';
import { SHORT_URL } from '../support/service.ts';
import { startReceiver, type WebhookReceiver } from '../support/webhookReceiver.ts';

let second: CutOffApi;
beforeAll(async () => void (second = await startCutOffApi({ trustProxy: true })));
afterAll(() => second.stop());

async function eventsOf(account: TestAccount) {
  return await database()<{ state: string; type: string }[]>`
    select state, type from webhook_events where account_id = ${account.id}`;
}

describe('GET /l/{token}', () => {
  it('answers 302 to the target, keeps nothing and tells the target nothing', async () => {
    const account = await newAccount();
    const { token } = await sendLink(account, 'https://example.com/oferta?kod=A%2B1#s');
    const response = await visit(token);
    expect(response.status).toBe(302);
    expect(await response.text()).toBe('');
    expect(Object.fromEntries(response.headers)).toMatchObject({
      location: 'https://example.com/oferta?kod=A%2B1#s',
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      'x-robots-tag': 'noindex, nofollow',
      'x-request-id': expect.stringMatching(/^req_[0-9a-z]{26}$/) as string,
    });
    expect(response.headers.getSetCookie()).toEqual([]);
  });

  it.each([
    ['https://example.com/zażółć?q=gęś', 'https://example.com/za%C5%BC%C3%B3%C5%82%C4%87?q=g%C4%99%C5%9B'],
    ['https://żółw.pl/a', 'https://xn--w-uga1v8h.pl/a'],
    ['HTTP://Example.com', 'HTTP://Example.com'],
  ])('%s travels as %s', async (url, location) => {
    const { token } = await sendLink(await newAccount(), url);
    expect((await visit(token)).headers.get('location')).toBe(location);
  });

  it('counts every hit: time, user agent, a hash of the shortened address', async () => {
    const account = await newAccount();
    const { token } = await sendLink(account);
    const before = Date.now();
    await visit(token);
    await visit(token);
    const link = await counted(account, token, 2);
    expect(Date.parse(link.first_click_at!)).toBeGreaterThanOrEqual(before - 1000);
    expect(link.last_click_at! > link.first_click_at!).toBe(true);
    expect(link.click_log.map(({ user_agent, robot }) => [user_agent, robot])).toEqual([
      [BROWSER, false],
      [BROWSER, false],
    ]);
    const stored = await database()<{ hash: string }[]>`
      select encode(ip_hash, 'hex') as hash from link_clicks where token = ${token}`;
    expect(stored.map(({ hash }) => hash)).toEqual(Array(2).fill(expect.stringMatching(/^[0-9a-f]{16}$/)));
    expect(stored[0]!.hash).toBe(stored[1]!.hash);
  });

  it('marks robots and previews, and counts them like everybody', async () => {
    const account = await newAccount();
    const { token } = await sendLink(account);
    const hits: [RequestInit, boolean][] = [
      [{}, false],
      [{ headers: { 'user-agent': 'facebookexternalhit/1.1' } }, true],
      [{ headers: { 'user-agent': BROWSER, 'sec-purpose': 'prefetch;prerender' } }, true],
      [{ headers: { 'user-agent': 'curl/8.5.0' } }, false],
      [{ headers: { 'user-agent': SAMSUNG } }, true],
    ];
    for (const [init] of hits) expect((await visit(token, init)).status).toBe(302);
    const link = await counted(account, token, hits.length);
    expect(link.clicks).toBe(hits.length);
    expect(link.click_log.map(({ robot }) => robot).reverse()).toEqual(hits.map(([, robot]) => robot));
  });

  it('counts no click for HEAD, which is redirected all the same', async () => {
    const account = await newAccount();
    const { token, url } = await sendLink(account);
    const head = await visit(token, { method: 'HEAD' });
    expect([head.status, head.headers.get('location')]).toEqual([302, url]);
    expect((await visit('aaaaaaaa', { method: 'HEAD' })).status).toBe(404);
    await visit(token);
    const link = await counted(account, token, 1);
    expect([link.clicks, link.click_log.length]).toEqual([1, 1]);
  });

  it('stores what a visitor says of itself as far as it can be shown', async () => {
    const account = await newAccount();
    const { token } = await sendLink(account);
    const said = [
      'Mozilla/5.0 ' + 'x'.repeat(2000),
      Buffer.from('Przeglądarka/1.0', 'utf8').toString('latin1'),
      'tab\there',
      '\xff\xfe',
      '',
    ];
    for (const agent of said) await visit(token, { headers: { 'user-agent': agent } });
    const link = await counted(account, token, said.length);
    const shown = link.click_log.map(({ user_agent }) => user_agent).reverse();
    expect(shown[0]).toHaveLength(500);
    expect(shown.slice(1)).toEqual(['Przeglądarka/1.0', 'tab here', '\ufffd\ufffd', null]);
  });

  it.each(['aaaaaaaa', 'aaaaaaa%00', '%ff'])('%s: a page that says the link is not active', async (token) => {
    const response = await visit(token);
    expect(response.status).toBe(404);
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(response.headers.get('x-request-id')).toMatch(/^req_/);
    const text = await response.text();
    expect(text).toContain('Link jest nieaktywny');
    expect(text).toContain('lang="pl"');
    expect(text).not.toContain('aaa');
  });

  it('leads on after its account was closed', async () => {
    const account = await newAccount();
    const { token } = await sendLink(account);
    await database()`update accounts set status = 'closed' where id = ${account.id}`;
    expect((await visit(token)).status).toBe(302);
  });
});

describe('link.clicked', () => {
  let receiver: WebhookReceiver;
  beforeAll(async () => void (receiver = await startReceiver()));
  afterAll(() => receiver.close());

  async function listening(): Promise<TestAccount> {
    const account = await newAccount();
    const { body } = await account.api.put('/v1/account/webhook', { url: receiver.url });
    receiver.useSecret(body.webhook_secret);
    return account;
  }
  const callsFor = (token: string) =>
    receiver.calls.filter(({ event }) => JSON.stringify(event).includes(token));

  it('tells of the first click of each link, signed, and of no other', async () => {
    const account = await listening();
    const [a, b] = await sendLinks(account, addresses(2));
    await visit(a!.token, { headers: { 'user-agent': 'facebookexternalhit/1.1' } });
    await counted(account, a!.token, 1);
    await visit(a!.token);
    await visit(b!.token);
    const first = await counted(account, a!.token, 2);
    await receiver.until(() => callsFor(a!.token).length === 1 && callsFor(b!.token).length === 1);
    const [call] = callsFor(a!.token);
    expect(call!.verified).toBe(true);
    expect(call!.event).toEqual({
      id: expect.stringMatching(/^evt_[0-9a-z]{26}$/) as string,
      type: 'link.clicked',
      created_at: expect.any(String) as string,
      data: {
        link: {
          token: a!.token,
          short_url: `${SHORT_URL}/l/${a!.token}`,
          url: a!.url,
          message_id: a!.message,
          to: '+48500100200',
          clicks: 1,
          first_click_at: first.first_click_at,
          last_click_at: first.first_click_at,
          created_at: first.created_at,
        },
        clicked_at: first.first_click_at,
        robot: true,
      },
    });
    await eventually(
      () => eventsOf(account),
      (events) => events.length === 2 && events.every(({ state }) => state === 'delivered'),
    );
    expect([callsFor(a!.token).length, callsFor(b!.token).length]).toEqual([1, 1]);
  });

  it('is not made up for when the webhook was set after the first click', async () => {
    const account = await newAccount();
    const { token } = await sendLink(account);
    await visit(token);
    await counted(account, token, 1);
    await account.api.put('/v1/account/webhook', { url: receiver.url });
    await visit(token);
    await counted(account, token, 2);
    expect(await eventsOf(account)).toEqual([]);
  });

  it('ten first clicks at once, at two processes: ten are counted, one event is sent', async () => {
    const account = await listening();
    const { token } = await sendLink(account);
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, i) =>
        visit(token, {}, i % 2 === 0 ? inject('service').apiUrl : second.api.url),
      ),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([302]));
    const link = await counted(account, token, 10);
    expect(link.clicks).toBe(10);
    const times = link.click_log.map(({ clicked_at }) => clicked_at);
    expect([link.first_click_at, link.last_click_at]).toEqual([times.at(-1), times[0]]);
    await receiver.until(() => callsFor(token).length > 0);
    const events = await eventually(
      () => eventsOf(account),
      (found) => found.every(({ state }) => state === 'delivered'),
    );
    expect([events.length, callsFor(token).length]).toEqual([1, 1]);
  });
});

describe('when something is away', () => {
  it.each(['cut', 'freeze'] as const)(
    'Temporal (%s): the visitor notices nothing, and each click is counted',
    async (how) => {
      const account = await newAccount();
      const tokens = (await sendLinks(account, addresses(3))).map((link) => link.token);
      second.temporal[how]();
      try {
        const answers = await Promise.all(
          Array.from({ length: 24 }, (_, i) => visit(tokens[i % 3]!, {}, second.api.url)),
        );
        expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([302]));
        for (const token of tokens) expect((await counted(account, token, 8)).click_log).toHaveLength(8);
      } finally {
        second.temporal.restore();
      }
    },
  );

  it('the database: a page that asks to come back', async () => {
    const { token } = await sendLink(await newAccount());
    second.database.cut();
    try {
      const response = await visit(token, {}, second.api.url);
      expect([502, 504]).toContain(response.status);
      expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
      expect(await response.text()).toContain('Nie udało się otworzyć linku');
    } finally {
      second.database.restore();
    }
    await eventually(
      () => visit(token, {}, second.api.url),
      ({ status }) => status === 302,
    );
  });

  it('behind a trusted proxy the visitors’ networks are told apart, and visitors of one network are not', async () => {
    const account = await newAccount();
    const { token } = await sendLink(account);
    for (const from of [
      '203.0.113.5',
      '203.0.113.77:51234',
      '198.51.100.5:51234',
      '2001:db8:1:2::3',
      '[2001:db8:1:ff::4]:443',
    ]) {
      await visit(token, { headers: { 'user-agent': BROWSER, 'x-forwarded-for': from } }, second.api.url);
    }
    const rows = await database()<{ hash: string }[]>`
      select encode(ip_hash, 'hex') as hash from link_clicks where token = ${token} order by place`;
    const [a, b, c, d, e] = rows.map(({ hash }) => hash);
    expect([a === b, d === e, new Set([a, c, d]).size]).toEqual([true, true, 3]);
  });
});
