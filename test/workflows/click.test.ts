import { WorkflowExecutionAlreadyStartedError } from '@temporalio/client';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createForgottenClicks } from '../../pipeline/catchUp.ts';
import { countClick } from '../../db/links/links.ts';
import { newId } from '../../db/ids.ts';
import { linkTokens } from '../support/madeLinks.ts';
import { clickStart } from '../../workflows/startOptions.ts';
import { type HttpReceiver, startHttpReceiver } from '../support/httpReceiver.ts';
import { type Pipeline, startPipeline } from './pipeline.ts';
import { storeClick } from '../support/storedClick.ts';
import { until } from '../support/eventually.ts';

// The number of history events is what a click costs. Whoever raises a budget says why in its commit.
// To a receiver that has been quick a webhook takes 12; here it is the first one of its receiver.
const BUDGET = { counted: 6, firstWithWebhook: 15 };

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

/** Stores a click, as a visit does. */
async function store({ token }: Link): Promise<string> {
  const id = newId('clk');
  await storeClick(pipeline.sql, { id, token, userAgent: 'Mozilla/5.0', robot: false });
  return id;
}

async function start({ account }: Link, id: string): Promise<void> {
  await pipeline.client.workflow.start('click', clickStart({ id, accountId: account }));
}

async function click(link: Link): Promise<string> {
  const id = await store(link);
  await start(link, id);
  return id;
}

async function eventsOf(workflowId: string): Promise<string[]> {
  const handle = pipeline.client.workflow.getHandle(workflowId);
  await handle.result();
  const { events } = await handle.fetchHistory();
  return events!.map(({ eventType }) => String(eventType));
}

async function clicksOf({ token }: Link): Promise<number> {
  const [row] = await pipeline.sql<
    { clicks: number }[]
  >`select clicks from tracked_links where token = ${token}`;
  return row!.clicks;
}

async function webhooksOf({ token }: Link): Promise<{ state: string; attempts: number }[]> {
  return await pipeline.sql<{ state: string; attempts: number }[]>`
    select state, (select count(*)::int from webhook_attempts where event_id = e.id) as attempts
      from webhook_events e where subject_id = ${token}`;
}

test('a click without a webhook is counted within its budget', async () => {
  const link = await newLink();
  const events = await eventsOf(await click(link));
  expect(events.length, events.join(' ')).toBeLessThanOrEqual(BUDGET.counted);
  expect([await clicksOf(link), await webhooksOf(link)]).toEqual([1, []]);
});

test('the first click tells the webhook within its budget, the second one is only counted', async () => {
  const link = await newLink({ webhook: true });
  const first = await click(link);
  const events = await eventsOf(first);
  expect(events.length, events.join(' ')).toBeLessThanOrEqual(BUDGET.firstWithWebhook);
  expect(await webhooksOf(link)).toEqual([{ state: 'delivered', attempts: 1 }]);
  const second = await click(link);
  expect((await eventsOf(second)).length).toBeLessThanOrEqual(BUDGET.counted);
  const results = await Promise.all(
    [first, second].map((id) => pipeline.client.workflow.getHandle(id).result() as Promise<unknown>),
  );
  expect(results).toEqual([{ event: true }, { event: false }]);
  expect([await clicksOf(link), (await webhooksOf(link)).length]).toEqual([2, 1]);
});

test('the webhook is tried again as for any event', async () => {
  orders.push(500);
  const link = await newLink({ webhook: true });
  await eventsOf(await click(link));
  expect(await webhooksOf(link)).toEqual([{ state: 'delivered', attempts: 2 }]);
});

describe('counting', () => {
  test('is done once however often it is tried, and an event that was not delivered is found again', async () => {
    const link = await newLink({ webhook: true });
    const id = await store(link);
    const tries = await Promise.all(Array.from({ length: 8 }, () => countClick(pipeline.sql, id)));
    const event = tries.find((found) => found !== null);
    expect(event).toMatch(/^evt_/);
    expect(await countClick(pipeline.sql, id)).toBe(event);
    expect(await clicksOf(link)).toBe(1);
    await start(link, id);
    await eventsOf(id);
    expect(await webhooksOf(link)).toEqual([{ state: 'delivered', attempts: 1 }]);
    expect(await countClick(pipeline.sql, id)).toBeNull();
    expect(await countClick(pipeline.sql, newId('clk'))).toBeUndefined();
  });

  test('of thirty clicks at once makes thirty and one event; the times are those of the clicks', async () => {
    const link = await newLink({ webhook: true });
    const ids = await Promise.all(Array.from({ length: 30 }, () => store(link)));
    // Counted in another order than clicked.
    const events = await Promise.all(ids.toReversed().map((id) => countClick(pipeline.sql, id)));
    expect(events.filter((event) => event !== null)).toHaveLength(1);
    expect(await clicksOf(link)).toBe(30);
    const [times] = await pipeline.sql`
      select first_click_at = (select min(clicked_at) from link_clicks where token = l.token) as first,
             last_click_at = (select max(clicked_at) from link_clicks where token = l.token) as last
        from tracked_links l where token = ${link.token}`;
    expect(times).toEqual({ first: true, last: true });
  });
});

test('a click whose start was lost is found after five seconds; younger ones are left alone', async () => {
  const link = await newLink({ webhook: true });
  const ids = [await store(link), await store(link)];
  const clicked = (id: string, ago: string) =>
    pipeline.sql`update link_clicks set clicked_at = now() - ${ago}::interval where id = ${id}`;
  // So young that it stays so however long the other takes.
  await clicked(ids[1]!, '-1 minute');
  await clicked(ids[0]!, '1 hour');
  await createForgottenClicks(pipeline.sql, pipeline.client)();
  await eventsOf(ids[0]!);
  expect(await clicksOf(link)).toBe(1);
  await clicked(ids[1]!, '0 seconds');
  // The worker's own look is the one that finds it.
  await until('the second click is counted', async () => (await clicksOf(link)) === 2);
  expect((await webhooksOf(link)).length).toBe(1);
  await expect(start(link, ids[0]!)).rejects.toThrow(WorkflowExecutionAlreadyStartedError);
});

test('a click whose workflow was terminated before it counted is started again', async () => {
  const link = await newLink();
  const id = newId('clk');
  // The click is not there yet, so this run counts nothing; ended by hand, it may run again.
  const lost = await pipeline.client.workflow.start('click', {
    ...clickStart({ id, accountId: link.account }),
    taskQueue: 'nobody-works-here',
  });
  await lost.terminate();
  await storeClick(pipeline.sql, { id, token: link.token, userAgent: null, robot: false });
  await until('the click is counted', async () => (await clicksOf(link)) === 1);
});

test('a cancel in Temporal changes nothing', async () => {
  const link = await newLink({ webhook: true });
  const id = await click(link);
  // It may have ended already.
  await pipeline.client.workflow
    .getHandle(id)
    .cancel()
    .catch(() => undefined);
  await eventsOf(id);
  expect([await clicksOf(link), await webhooksOf(link)]).toEqual([1, [{ state: 'delivered', attempts: 1 }]]);
});

test('the history names neither the recipient nor the link, and says in words what it was', async () => {
  const link = await newLink({ webhook: true });
  const id = await click(link);
  await eventsOf(id);
  const handle = pipeline.client.workflow.getHandle(id);
  const json = JSON.stringify(JSON.parse(historyToJSON(await handle.fetchHistory())));
  const payloads = [...json.matchAll(/"data":\s*"([A-Za-z0-9+/=]+)"/g)].map(([, data]) =>
    Buffer.from(data!, 'base64').toString('utf8'),
  );
  for (const personal of ['48500100200', link.token, 'example.com', 'Mozilla']) {
    expect([json, ...payloads].join('\n')).not.toContain(personal);
  }
  expect(await (await handle.describe()).staticSummary()).toBe('Click on a tracked link');
});
