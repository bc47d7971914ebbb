import { expect, inject, it } from 'vitest';
import { newId } from '../../db/ids.ts';
import { storeClicks } from '../../db/links/links.ts';
import { eventually } from '../support/eventually.ts';
import { database, newAccount, untilStatus } from '../support/factories.ts';
import { addresses, carry, counted, sendLink, sendLinks, visit } from '../support/links.ts';
import { optOutPath, visit as open } from '../support/pages.ts';
import { startReceiver } from '../support/webhookReceiver.ts';

// Stated here on its own: rows of a minute for one link and network, for one link, and for an account beyond first clicks.
const [NETWORK, LINK, ACCOUNT] = [60, 120, 600];

const rowsOf = async (token: string) =>
  (await database()`select from link_clicks where token = ${token}`).length;
const clicksOf = async (token: string) => {
  const [link] = await database()<{ clicks: number; unloggedClicks: number; lastClickAt: Date }[]>`
    select clicks, unlogged_clicks, last_click_at from tracked_links where token = ${token}`;
  return link!;
};

/** Stores clicks as an API would that kept them, all at once: a minute is over sooner than so many visits on a slow machine. */
const store = async (token: string, networks: (Buffer | null)[]): Promise<void> => {
  const clicks = networks.map((ipHash) => ({ id: newId('clk'), userAgent: null, ipHash, robot: false }));
  // Counting has the link for a moment; nothing is stored then.
  await eventually(
    () => storeClicks(database(), [{ token, clicks }]),
    (stored) => stored.get(token) !== 'locked',
  );
};
const network = (number: number) => Buffer.alloc(32, number);
const times = <T>(count: number, one: (i: number) => T): T[] =>
  Array.from({ length: count }, (_, i) => one(i));

it('the sixtieth click of a network within a minute still has its row, the next one is only counted', async () => {
  const account = await newAccount();
  const { token } = await sendLink(account);
  expect((await visit(token)).status).toBe(302);
  const [own] = await database()<
    { ipHash: Buffer }[]
  >`select ip_hash from link_clicks where token = ${token}`;
  await store(
    token,
    times(NETWORK - 1, () => own!.ipHash),
  );
  expect(await rowsOf(token)).toBe(NETWORK);
  await counted(account, token, NETWORK);
  // As if all had come in this moment.
  const age = (by: string) =>
    database()`update link_clicks set clicked_at = now() - ${by}::interval where token = ${token}`;
  await age('0 seconds');
  const before = await clicksOf(token);
  expect(before).toMatchObject({ clicks: NETWORK, unloggedClicks: 0 });
  expect((await visit(token)).status).toBe(302);
  expect(await rowsOf(token)).toBe(NETWORK);
  const after = await clicksOf(token);
  expect(after).toMatchObject({ clicks: NETWORK + 1, unloggedClicks: 1 });
  expect(after.lastClickAt.getTime()).toBeGreaterThan(before.lastClickAt.getTime());
  // Another network's has its row; so has the same one's a minute later.
  await store(token, [network(1)]);
  expect(await rowsOf(token)).toBe(NETWORK + 1);
  await age('60 seconds');
  await visit(token);
  expect(await rowsOf(token)).toBe(NETWORK + 2);
  expect((await counted(account, token, NETWORK + 3)).clicks).toBe(NETWORK + 3);
});

it('visitors whose address is not known are one network', async () => {
  const account = await newAccount();
  const { token } = await sendLink(account);
  await store(
    token,
    times(NETWORK + 3, () => null),
  );
  expect(await rowsOf(token)).toBe(NETWORK);
  expect((await counted(account, token, NETWORK + 3)).clicks).toBe(NETWORK + 3);
});

it('the 120th click of a link within a minute has its row, over however many networks, the next one not', async () => {
  const account = await newAccount();
  const { token } = await sendLink(account);
  await store(token, times(LINK + 1, network));
  expect(await rowsOf(token)).toBe(LINK);
  expect((await counted(account, token, LINK + 1)).clicks).toBe(LINK + 1);
});

it('beyond 600 of an account within a minute only first clicks have theirs', async () => {
  const account = await newAccount();
  const links = await sendLinks(account, addresses(ACCOUNT / (NETWORK - 1) + 3));
  const clicks = links.map(({ token }) => ({
    token,
    clicks: times(NETWORK, () => ({ id: newId('clk'), userAgent: null, ipHash: network(1), robot: false })),
  }));
  await storeClicks(database(), clicks);
  const rows = await Promise.all(links.map(({ token }) => rowsOf(token)));
  expect(Math.min(...rows)).toBeGreaterThanOrEqual(1);
  expect(rows.reduce((all, one) => all + one, 0) - links.length).toBe(ACCOUNT);
  // A new minute, and another account's all the time.
  const other = await newAccount();
  const { token } = await sendLink(other);
  await store(token, [network(1), network(1)]);
  expect(await rowsOf(token)).toBe(2);
  await database()`
    update click_windows set started_at = started_at - interval '60 s' where account_id = ${account.id}`;
  const [short] = links.filter((_, i) => rows[i]! < NETWORK);
  const had = await rowsOf(short!.token);
  await store(short!.token, [network(1)]);
  expect(await rowsOf(short!.token)).toBe(had + 1);
});

it('the first click has its webhook, however many come at once with it; reports count them all', async () => {
  const receiver = await startReceiver();
  try {
    const account = await newAccount();
    const { body } = await account.api.put('/v1/account/webhook', { url: receiver.url });
    receiver.useSecret(body.webhook_secret);
    // Given to the network: only then its clicks are the message's own.
    const message = (await account.api.accepted({ to: '500100200', text: 'x' })).id;
    await untilStatus(account, message, 'delivered');
    const [token] = (await carry(account.id, message, '+48500100200', addresses(1))) as [string];
    const robot = { headers: { 'user-agent': 'facebookexternalhit/1.1' } };
    await Promise.all(times(20, (i) => visit(token, i % 4 === 0 ? robot : {})));
    const link = await counted(account, token, 20);
    expect(link.clicks).toBe(20);
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
    const [effects] = await eventually(
      () => database()`select clicks, robot_clicks from message_effects where message_id = ${message}`,
      ([row]) => row?.['clicks'] === 20,
    );
    expect(effects).toEqual({ clicks: 20, robotClicks: 5 });
  } finally {
    await receiver.close();
  }
});

it('a link that somebody else has locked keeps nobody else waiting, and its hits are stored after that', async () => {
  const [account, other] = [await newAccount(), await newAccount()];
  const [{ token }, free] = [await sendLink(account), await sendLink(other)];
  let waiting: Promise<Response>[] = [];
  await database().begin(async (tx) => {
    await tx`select from tracked_links where token = ${token} for update`;
    waiting = times(12, () => visit(token));
    expect((await visit(free.token)).status).toBe(302);
    expect((await other.api.get('/v1/account')).status).toBe(200);
  });
  expect(new Set((await Promise.all(waiting)).map(({ status }) => status))).toEqual(new Set([302]));
  expect((await counted(account, token, 12)).clicks).toBe(12);
});

it('repeated visits of an opt-out link write nothing', async () => {
  const account = await newAccount();
  const url = inject('service').apiUrl + (await optOutPath(account, '+48500400299'));
  await open(url);
  const state = () =>
    database()`select xmin::text, xmax::text, ctid::text from blacklist where account_id = ${account.id}`;
  const before = [...(await state())];
  await Promise.all(times(20, () => open(url)));
  expect([...(await state())]).toEqual(before);
});
