import { afterAll, beforeAll, expect, test } from 'vitest';
import { countClicks } from '../../db/links/links.ts';
import { linkTokens } from '../support/madeLinks.ts';
import { clickOn } from '../support/clicked.ts';
import { type HttpReceiver, startHttpReceiver } from '../support/httpReceiver.ts';
import { type Pipeline, startPipeline } from './pipeline.ts';
import { until } from '../support/eventually.ts';

// The number of history events is what the first click of a link costs. Whoever raises it says why in its commit.
// To a receiver that has been quick a webhook takes 12; here it is the first one of its receiver.
const BUDGET = 16;

let pipeline: Pipeline;
let receiver: HttpReceiver;
/** How the receiver answers the next calls; 200 when it has no orders. */
const orders: number[] = [];

beforeAll(async () => {
  receiver = await startHttpReceiver((response) => response.writeHead(orders.shift() ?? 200).end());
  pipeline = await startPipeline('real');
});
afterAll(async () => {
  await pipeline?.close();
  await receiver?.close();
});

interface Link {
  account: string;
  token: string;
}

async function newLink(options: { webhook?: boolean } = {}): Promise<Link> {
  const account = await pipeline.account(options.webhook ? { webhookUrl: receiver.url } : {});
  const wanted = [{ recipient: '+48500100200', url: 'https://example.com/oferta' }];
  const [token] = (await linkTokens(pipeline.sql, account, wanted)).values();
  return { account, token: token! };
}

interface Event {
  id: string;
  state: string;
  attempts: number;
}

async function eventsOf({ token }: Link): Promise<Event[]> {
  return await pipeline.sql<Event[]>`
    select id, state, (select count(*)::int from webhook_attempts where event_id = e.id) as attempts
      from webhook_events e where subject_id = ${token}`;
}

async function untilDelivered(link: Link): Promise<Event> {
  await until('its event is delivered', async () => (await eventsOf(link))[0]?.state === 'delivered');
  const [event] = await eventsOf(link);
  await pipeline.client.workflow.getHandle(event!.id).result();
  return event!;
}

const reserved = async ({ account }: Link) =>
  (await pipeline.sql`select from reservations where account_id = ${account}`).length;

async function clicksOf({ token }: Link): Promise<number> {
  const [row] = await pipeline.sql<
    { clicks: number }[]
  >`select clicks from tracked_links where token = ${token}`;
  return row!.clicks;
}

test('a click without a webhook is counted, and no workflow is started for it', async () => {
  const link = await newLink();
  await clickOn(pipeline.sql, link.token);
  expect([await clicksOf(link), await eventsOf(link), await reserved(link)]).toEqual([1, [], 0]);
});

test('the first click notifies the webhook within its budget, the second one is only counted', async () => {
  const link = await newLink({ webhook: true });
  await clickOn(pipeline.sql, link.token);
  const { id, attempts } = await untilDelivered(link);
  const handle = pipeline.client.workflow.getHandle(id);
  const { events } = await handle.fetchHistory();
  const types = events!.map(({ eventType }) => String(eventType));
  expect(types.length, types.join(' ')).toBeLessThanOrEqual(BUDGET);
  expect(attempts).toBe(1);
  await clickOn(pipeline.sql, link.token);
  expect([await clicksOf(link), (await eventsOf(link)).length, await reserved(link)]).toEqual([2, 1, 0]);
});

test('the webhook is tried again as for any event', async () => {
  orders.push(500);
  const link = await newLink({ webhook: true });
  await clickOn(pipeline.sql, link.token);
  expect(await untilDelivered(link)).toMatchObject({ attempts: 2 });
});

test('thirty clicks at once are thirty, and one event; those on a locked link are told so', async () => {
  const link = await newLink({ webhook: true });
  const click = { token: link.token, userAgent: null, ipHash: null, robot: false };
  let counted = 0;
  while (counted < 30) {
    const some = Array.from({ length: 30 - counted }, () => countClicks(pipeline.sql, [click]));
    counted += (await Promise.all(some)).filter(([one]) => one !== 'locked').length;
  }
  expect([await clicksOf(link), (await eventsOf(link)).length]).toEqual([30, 1]);
  const [times] = await pipeline.sql`
    select first_click_at = (select min(clicked_at) from link_clicks where token = l.token) as first,
           last_click_at = (select max(clicked_at) from link_clicks where token = l.token) as last
      from tracked_links l where token = ${link.token}`;
  expect(times).toEqual({ first: true, last: true });
});
