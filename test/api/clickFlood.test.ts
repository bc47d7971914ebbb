import { expect, it } from 'vitest';
import { countClicks } from '../../db/links/links.ts';
import { database, newAccount, untilStatus } from '../support/factories.ts';
import { addresses, carry, counted, sendLink, sendLinks, visit } from '../support/links.ts';
import { startReceiver } from '../support/webhookReceiver.ts';

// Stated here on its own: how many of a link's clicks are kept.
const KEPT = 50;

const times = <T>(count: number, one: (i: number) => T): T[] =>
  Array.from({ length: count }, (_, i) => one(i));
const loggedOf = async (token: string): Promise<(string | null)[]> => {
  const rows = await database()<{ userAgent: string | null }[]>`
    select user_agent from link_clicks where token = ${token} order by clicked_at, place`;
  return rows.map(({ userAgent }) => userAgent);
};

it('all clicks of a flood are counted, of each link the latest fifty are kept', async () => {
  const account = await newAccount();
  const [link, other] = await sendLinks(account, addresses(2));
  const click = (token: string) => (i: number) => ({
    ...{ token, userAgent: String(i), ipHash: null, robot: i % 2 === 0 },
  });
  const flood = [...times(120, click(link!.token)), ...times(3, click(other!.token))];
  expect(new Set(await countClicks(database(), flood))).toEqual(
    new Set([{ url: link!.url }, { url: other!.url }]),
  );
  expect((await loggedOf(link!.token)).toSorted()).toEqual(times(KEPT, (i) => String(70 + i)).toSorted());
  expect(await loggedOf(other!.token)).toEqual(['0', '1', '2']);
  await countClicks(database(), times(2, click(link!.token)));
  expect((await loggedOf(link!.token)).toSorted()).toEqual(
    ['0', '1', ...times(KEPT - 2, (i) => String(72 + i))].toSorted(),
  );
  const { body } = await account.api.get(`/v1/links/${link!.token}`);
  expect(body.clicks).toBe(122);
  expect(body.click_log.slice(0, 2).map(({ user_agent }) => user_agent)).toEqual(['1', '0']);
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
    await Promise.all(times(200, (i) => visit(token, i % 4 === 0 ? robot : {})));
    const link = await counted(account, token, 200);
    expect(link.clicks).toBe(200);
    const calls = await receiver.until((all) => all.some(({ event }) => event.type === 'link.clicked'));
    const clicked = calls.filter(({ event }) => event.type === 'link.clicked');
    expect(clicked).toHaveLength(1);
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

it('a locked link holds up no other request, and its clicks are counted later', async () => {
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

it('a locked message does not hold up its link', async () => {
  const account = await newAccount();
  const { token, message } = await sendLink(account);
  await database()`update message_links set answerable_at = now() where message_id = ${message}`;
  await database().begin(async (tx) => {
    await tx`select from messages where id = ${message} for update`;
    expect((await visit(token)).status).toBe(302);
  });
});
