import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Pipeline, startPipeline } from '../workflows/pipeline.ts';
import { until } from '../support/eventually.ts';

const HOUR = 3_600_000;
const page = readFileSync(new URL('../../ops/temporal/queries.md', import.meta.url), 'utf8');
const queries = [...page.matchAll(/^\| \[(.+?)\]\((\S+)\)\s*\| `(.+?)`\s*\|$/gm)].map(
  ([, question = '', link = '', query = '']) => ({ question, link, query }),
);

let pipeline: Pipeline;
let values: Record<string, string>;
const ids: Record<string, string> = {};

/** One message in each state that the queries ask for. */
beforeAll(async () => {
  pipeline = await startPipeline('real');
  const account = await pipeline.account();
  const send = async (name: string, options: object) => {
    const message = await pipeline.send(account, options);
    ids[name] = message.id;
    ids[`${name} request`] = message.requestId;
  };
  await send('scheduled', { sendAt: Date.now() + HOUR });
  await send('sent', { ending: '903' });
  await send('unanswered', { ending: '905' });
  await send('queued', { route: 'nowhere' });
  await send('undelivered', { ending: '901' });
  await send('canceled', { sendAt: Date.now() + HOUR });
  await send('terminated', { sendAt: Date.now() + HOUR });
  await pipeline.untilStatus(ids['sent']!, 'sent');
  await pipeline.client.workflow.getHandle(ids['canceled']!).cancel();
  await pipeline.client.workflow.getHandle(ids['terminated']!).terminate();
  await pipeline.client.workflow.execute('reconciliation', { workflowId: 'regular', taskQueue: 'messages' });
  ids['regular'] = 'regular';
  await pipeline.client.workflow.start('notify', { workflowId: 'slow', taskQueue: 'nobody' });
  ids['slow'] = 'slow';
  const at = (ms: number): string => new Date(Date.now() + ms).toISOString();
  values = {
    $ACCOUNT: account,
    $REQUEST: ids['scheduled request']!,
    $TIME: at(2 * HOUR),
    $FROM: at(0),
    $TO: at(2 * HOUR),
    $ROUTE: 'simulator',
  };
});
afterAll(() => pipeline?.close());

const found = async (query: string, more: Record<string, string> = {}): Promise<string[]> => {
  let filled = query;
  for (const [name, value] of Object.entries({ ...values, ...more })) filled = filled.replaceAll(name, value);
  expect(filled).not.toContain('$');
  const list: string[] = [];
  for await (const { workflowId } of pipeline.client.workflow.list({ query: filled })) list.push(workflowId);
  return list;
};

const EXPECTED: Record<string, { has: string; hasNot?: string; values?: Record<string, string> }> = {
  'what is under way for one account': { has: 'scheduled', hasNot: 'canceled' },
  'the messages of one request': { has: 'scheduled', hasNot: 'sent' },
  'sleeps until its send time': { has: 'scheduled', hasNot: 'sent' },
  'its send time is over, and it still waits': { has: 'scheduled', hasNot: 'queued' },
  'scheduled for a certain day': { has: 'scheduled', hasNot: 'queued' },
  'not yet taken by a route': { has: 'queued', hasNot: 'sent', values: { $ROUTE: 'nowhere' } },
  'submits that nobody answered': { has: 'unanswered', hasNot: 'sent' },
  'waits for a delivery report for long': { has: 'sent', hasNot: 'unanswered' },
  'failed, expired or not delivered on one route': {
    has: 'undelivered',
    hasNot: 'sent',
    values: { $TIME: '2020-01-01T00:00:00Z' },
  },
  'cancelled in Temporal by staff': { has: 'canceled', hasNot: 'terminated' },
  'ended badly: should be none': { has: 'terminated', hasNot: 'canceled' },
  'short work that has not ended for long': { has: 'slow', hasNot: 'sent' },
  'the regular work': { has: 'regular', hasNot: 'sent' },
};

test('every query of the page is known here', () => {
  expect(queries.map(({ question }) => question).sort()).toEqual(Object.keys(EXPECTED).sort());
});

test.each(queries)('$question', async ({ question, query, link }) => {
  const { has, hasNot, values: more } = EXPECTED[question]!;
  expect(new URL(link).searchParams.get('query')).toBe(query);
  // That a report is waited for is shown after a minute.
  await until(`it finds ${has}`, async () => (await found(query, more)).includes(ids[has]!));
  if (hasNot !== undefined) expect(await found(query, more)).not.toContain(ids[hasNot]);
});
