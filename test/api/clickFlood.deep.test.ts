import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import type { RunningApi } from '../../api/server.ts';
import { eventually } from '../support/eventually.ts';
import { database, newAccount, type TestAccount, untilStatus } from '../support/factories.ts';
import { addresses, BROWSER, carry, counted, sendLink, sendLinks, visit } from '../support/links.ts';
import { startCutOffApi } from '../support/cutOffApi.ts';
import { type ServiceProcess, spawnProcess } from '../support/service.ts';
import { startReceiver } from '../support/webhookReceiver.ts';

// Stated here on its own: rows of a minute for one link and network, for one link, and for an account beyond first clicks.
const [NETWORK, LINK, ACCOUNT] = [60, 120, 600];

let proxied: RunningApi;
let stop: () => Promise<void>;
beforeAll(async () => {
  const cutOff = await startCutOffApi({ trustProxy: true });
  ({ api: proxied, stop } = cutOff);
});
afterAll(() => stop());

/** A visitor from network number `network`. */
const from = (network: number): RequestInit => ({
  headers: { 'user-agent': BROWSER, 'x-forwarded-for': `10.${network >> 8}.${network & 255}.7` },
});
const rowsOf = async (token: string) =>
  (await database()`select from link_clicks where token = ${token}`).length;
const clicksOf = async (token: string) => {
  const [link] = await database()<{ clicks: number; unloggedClicks: number; lastClickAt: Date }[]>`
    select clicks, unlogged_clicks, last_click_at from tracked_links where token = ${token}`;
  return link!;
};
const sum = (numbers: readonly number[]) => numbers.reduce((all, one) => all + one, 0);

describe('rows of one link', () => {
  it('the sixtieth click of a network within a minute still has its row, the next one is only counted', async () => {
    const account = await newAccount();
    const { token } = await sendLink(account);
    for (let i = 0; i < NETWORK; i += 1) await visit(token);
    expect(await rowsOf(token)).toBe(NETWORK);
    await counted(account, token, NETWORK);
    const before = await clicksOf(token);
    expect(before).toMatchObject({ clicks: NETWORK, unloggedClicks: 0 });
    expect((await visit(token)).status).toBe(302);
    expect(await rowsOf(token)).toBe(NETWORK);
    const after = await clicksOf(token);
    expect(after).toMatchObject({ clicks: NETWORK + 1, unloggedClicks: 1 });
    expect(after.lastClickAt.getTime()).toBeGreaterThan(before.lastClickAt.getTime());
    // Another network's has its row; so has the same one's a minute later, to the second.
    await visit(token, from(1), proxied.url);
    expect(await rowsOf(token)).toBe(NETWORK + 1);
    const age = (by: string) =>
      database()`update link_clicks set clicked_at = clicked_at - ${by}::interval where token = ${token}`;
    await age('45 seconds');
    await visit(token);
    expect(await rowsOf(token)).toBe(NETWORK + 1);
    await age('15 seconds');
    await visit(token);
    expect(await rowsOf(token)).toBe(NETWORK + 2);
    expect((await counted(account, token, NETWORK + 4)).clicks).toBe(NETWORK + 4);
  });

  it('the 120th click of a link within a minute has its row, over however many networks, the next one not', async () => {
    const account = await newAccount();
    const { token } = await sendLink(account);
    for (let i = 0; i < LINK; i += 1) await visit(token, from(i), proxied.url);
    expect(await rowsOf(token)).toBe(LINK);
    await visit(token, from(LINK), proxied.url);
    expect(await rowsOf(token)).toBe(LINK);
    expect((await counted(account, token, LINK + 1)).clicks).toBe(LINK + 1);
  });

  it('hundreds at once, at two processes, from one network and from many: exact', async () => {
    const second: ServiceProcess = await spawnProcess('api', inject('service'));
    try {
      const account = await newAccount();
      const [one, many] = await sendLinks(account, addresses(2));
      const urls = [inject('service').apiUrl, second.url, proxied.url];
      const answers = await Promise.all(
        Array.from({ length: 600 }, (_, i) =>
          i % 2 === 0
            ? visit(one!.token, {}, urls[i % 4 === 0 ? 0 : 1])
            : visit(many!.token, from(i), proxied.url),
        ),
      );
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([302]));
      expect([await rowsOf(one!.token), await rowsOf(many!.token)]).toEqual([NETWORK, LINK]);
      for (const { token } of [one!, many!]) expect((await counted(account, token, 300)).clicks).toBe(300);
    } finally {
      await second.stop();
    }
  });
});

describe('rows of an account', () => {
  it('beyond 600 of a minute only first clicks have theirs', async () => {
    const account = await newAccount();
    const links = await sendLinks(account, addresses(ACCOUNT / (NETWORK - 1) + 3));
    const hits = links.flatMap(({ token }) => Array.from({ length: NETWORK }, () => token));
    for (let i = 0; i < hits.length; i += 100) {
      await Promise.all(hits.slice(i, i + 100).map((token) => visit(token)));
    }
    const rows = await Promise.all(links.map(({ token }) => rowsOf(token)));
    expect(Math.min(...rows)).toBeGreaterThanOrEqual(1);
    expect(sum(rows) - links.length).toBe(ACCOUNT);
    // A new minute, and another account's all the time.
    const other = await newAccount();
    const { token } = await sendLink(other);
    await visit(token);
    await visit(token);
    expect(await rowsOf(token)).toBe(2);
    await database()`
      update click_windows set started_at = started_at - interval '60 s' where account_id = ${account.id}`;
    const [short] = links.filter((_, i) => rows[i]! < NETWORK);
    const had = await rowsOf(short!.token);
    await visit(short!.token);
    expect(await rowsOf(short!.token)).toBe(had + 1);
    const clicks = async () =>
      sum(await Promise.all(links.map(async (link) => (await clicksOf(link.token)).clicks)));
    expect(await eventually(clicks, (all) => all >= hits.length + 1)).toBe(hits.length + 1);
  });
});

describe('what becomes of a flood', () => {
  it('the first click has its webhook, however many come at once with it; reports count them all', async () => {
    const receiver = await startReceiver();
    try {
      const account = await newAccount();
      const { body } = await account.api.put('/v1/account/webhook', { url: receiver.url });
      receiver.useSecret(body.webhook_secret);
      // Given to the network: only then its clicks are the message's own.
      const message = (await account.api.send({ to: '500100200', text: 'x' })).body.id;
      await untilStatus(account, message, 'delivered');
      const [token] = (await carry(account.id, message, '+48500100200', addresses(1))) as [string];
      const robot = { headers: { 'user-agent': 'facebookexternalhit/1.1' } };
      await Promise.all(Array.from({ length: 200 }, (_, i) => visit(token, i % 4 === 0 ? robot : {})));
      const link = await counted(account, token, 200);
      expect(link.clicks).toBe(200);
      const calls = await receiver.until((all) => all.some(({ event }) => event.type === 'link.clicked'));
      const clicked = calls.filter(({ event }) => event.type === 'link.clicked');
      expect(clicked).toHaveLength(1);
      // Of clicks that come at once any may be counted first.
      const { link: told, clicked_at: at } = clicked[0]!.event.data as unknown as {
        link: Record<string, unknown>;
        clicked_at: string;
      };
      expect(told).toMatchObject({ clicks: 1, first_click_at: at, last_click_at: at });
      expect([link.first_click_at! <= at, at <= link.last_click_at!]).toEqual([true, true]);
      const [effects] = await database()`
        select clicks, robot_clicks from message_effects where message_id = ${message}`;
      expect(effects).toEqual({ clicks: 200, robotClicks: 50 });
    } finally {
      await receiver.close();
    }
  });

  it('repeated visits of an opt-out link write nothing', async () => {
    const account: TestAccount = await newAccount();
    const { optOutPath, visit: open } = await import('../support/pages.ts');
    const url = inject('service').apiUrl + (await optOutPath(account, '+48500400299'));
    await open(url);
    const state = () =>
      database()`select xmin::text, xmax::text, ctid::text from blacklist where account_id = ${account.id}`;
    const before = [...(await state())];
    await Promise.all(Array.from({ length: 100 }, () => open(url)));
    expect([...(await state())]).toEqual(before);
  });
});
