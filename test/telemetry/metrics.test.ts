import { randomUUID } from 'node:crypto';
import { request } from 'node:http';
import { connect } from 'node:net';
import { once } from 'node:events';
import { Client, Connection } from '@temporalio/client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { addSimulatedReply } from '../../db/routes/simulator.ts';
import { MESSAGES_QUEUE } from '../../workflows/contracts.ts';
import { eventually } from '../support/eventually.ts';
import type { Sample, Scrape } from './exposition.ts';
import {
  listening,
  observedAccount,
  type Observed,
  type ObservedAccount,
  startObserved,
} from './observed.ts';
import { alertRules, dashboardQueries, selectorsOf, valuesAskedFor } from './queries.ts';

const RECIPIENT = '+48500100200';
const INBOUND = '+48500900900';

let observed: Observed;
let account: ObservedAccount;
/** Of API and worker, before anything happened. */
const atStart: Sample[] = [];

beforeAll(async () => {
  observed = await startObserved();
  for (const scrape of [observed.scrapeApi, observed.scrapeWorker]) atStart.push(...(await scrape()).samples);
  account = await observedAccount(observed, { inboundNumber: INBOUND });
});
afterAll(() => observed?.stop());

const send = (more: Record<string, unknown> = {}, sender = account) =>
  sender.call('POST', '/v1/messages', { to: RECIPIENT, text: 'Bukiet czeka', ...more });

/** Waits until a figure of a process is as it should be. */
async function figure(
  process: () => Promise<Scrape>,
  [name, labels]: [string, Record<string, string>],
  expected: number,
): Promise<void> {
  await eventually(
    async () => (await process()).sum(name, labels),
    (value) => value === expected,
  );
}

describe('what the API serves', () => {
  test('requests by pattern, method and status, with their duration; never a path as it came', async () => {
    await send({ to: 'no number' });
    await account.call('GET', '/v1/messages/msg_00000000000000000000000000');
    await account.call('GET', '/v1/messages/%2B48500100200');
    await account.call('GET', '/secret-path-4711');
    await account.call('DELETE', '/v1/health');
    const requests = (labels: Record<string, string>): [string, Record<string, string>] => [
      'goniec_http_requests_total',
      labels,
    ];
    const { scrapeApi } = observed;
    await figure(scrapeApi, requests({ method: 'POST', route: '/v1/messages', status: '400' }), 1);
    await figure(scrapeApi, requests({ method: 'GET', route: '/v1/messages/:id', status: '404' }), 2);
    await figure(scrapeApi, requests({ method: 'GET', route: 'none', status: '404' }), 1);
    await figure(scrapeApi, requests({ method: 'DELETE', route: '/v1/health', status: '405' }), 1);
    const { text, sum } = await scrapeApi();
    expect(text).not.toMatch(/[a-z]-4711|48500100200|msg_/);
    const labels = { method: 'GET', route: '/v1/messages/:id' };
    expect(sum('goniec_http_request_duration_seconds_count', labels)).toBe(2);
    expect(sum('goniec_http_request_duration_seconds_sum', labels)).toBeLessThan(10);
    expect(sum('goniec_http_requests_in_flight')).toBe(0);
  });

  test('what is no HTTP, strange methods and callers who leave, under bounded labels', async () => {
    const { port } = new URL(observed.started.service.apiUrl);
    const garbage = connect(Number(port), '127.0.0.1', () => garbage.write('\0garbage\r\n\r\n'));
    garbage.resume();
    await once(garbage, 'close');
    await new Promise((resolve) =>
      request({ port, host: '127.0.0.1', method: 'PROPFIND', path: '/v1/health' }, (answer) => {
        answer.resume().on('end', resolve);
      }).end(),
    );
    // Its body never comes, so it is still read when the caller leaves.
    const leaving = connect(Number(port), '127.0.0.1', () =>
      leaving.write(
        `POST /v1/messages HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${account.key}\r\n` +
          'Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{',
      ),
    );
    leaving.on('error', () => undefined);
    await figure(observed.scrapeApi, ['goniec_http_requests_in_flight', {}], 1);
    leaving.destroy();

    const { scrapeApi } = observed;
    const name = 'goniec_http_requests_total';
    await figure(scrapeApi, [name, { method: 'POST', route: '/v1/messages', status: 'aborted' }], 1);
    await figure(scrapeApi, [name, { method: 'other', route: 'none', status: '400' }], 1);
    await figure(scrapeApi, [name, { method: 'other', route: '/v1/health', status: '405' }], 1);
    await figure(scrapeApi, ['goniec_http_requests_in_flight', {}], 0);
  });

  test('what became of messages that were to be sent', async () => {
    const poor = await observedAccount(observed, { balance: 15 });
    await account.call('POST', '/v1/blacklist', { msisdn: '+48500100777' });
    expect((await send({ to: ['500100201', '500100777'] })).status).toBe(201);
    expect((await send({ send_at: new Date(Date.now() + 3_600_000).toISOString() })).status).toBe(201);
    expect((await send({ to: ['500100201', '500100202'] }, poor)).status).toBe(402);
    const { sum } = await observed.scrapeApi();
    const requested = (outcome: string) => sum('goniec_messages_requested_total', { outcome });
    expect(requested('queued')).toBe(1);
    expect(requested('rejected')).toBe(1);
    expect(requested('scheduled')).toBe(1);
    expect(requested('insufficient_funds')).toBe(2);
    // A worker starts what was accepted.
    const calls = 'goniec_temporal_call_duration_seconds_count';
    await figure(observed.scrapeWorker, [calls, { operation: 'start', outcome: 'ok' }], 2);
  });

  test('its pool, its process, and the clicks it took', async () => {
    await account.call('POST', '/v1/contacts', { msisdn: RECIPIENT });
    const { text } = await send({ text: 'Oferta: {{link:https://example.com/a}}' });
    const link = /s\.example(\/l\/\w+)/.exec(text)![1]!;
    const visit = await fetch(observed.started.service.apiUrl + link, {
      redirect: 'manual',
      headers: { 'user-agent': 'Googlebot/2.1' },
    });
    expect(visit.status).toBe(302);
    await figure(observed.scrapeApi, ['goniec_link_clicks_total', { robot: 'true' }], 1);
    const { sum } = await observed.scrapeApi();
    expect(sum('goniec_database_pool_connections_max', { pool: 'api' })).toBe(10);
    const open = sum('goniec_database_pool_connections', { pool: 'api' });
    expect(open).toBeGreaterThan(0);
    expect(open).toBeLessThanOrEqual(10);
    expect(sum('goniec_database_pool_waiting_statements', { pool: 'api' })).toBe(0);
    expect(sum('goniec_database_up')).toBe(1);
    expect(sum('process_cpu_seconds_total')).toBeGreaterThan(0);
    expect(sum('goniec_temporal_sdk_up')).toBeUndefined();
  });
});

describe('what a worker serves', () => {
  test('a message from submit to delivery, its webhooks, its reply', async () => {
    const tested = await observedAccount(observed, { inboundNumber: INBOUND });
    const { receiver } = await listening(tested, (call) => (call === 1 ? 500 : 200));
    // What the tests before have sent is to be counted by now.
    await eventually(
      () => observed.sql`select from messages where status in ('queued', 'sent')`,
      ({ count }) => count === 0,
    );
    const before = await observed.scrapeWorker();
    const rise = async (name: string, labels: Record<string, string>, by: number): Promise<void> => {
      const { scrapeWorker } = observed;
      await eventually(
        async () => (await scrapeWorker()).sum(name, labels) ?? 0,
        (value) => value >= (before.sum(name, labels) ?? 0) + by,
      );
    };
    await send({ to: '+48500100300' }, tested);
    await send({ to: '+48500100902' }, tested);
    await receiver.until((calls) => calls.some(({ event }) => event.type === 'message.delivered'));
    await addSimulatedReply(observed.sql, { from: '+48500100300', to: INBOUND, text: 'Dziękuję' });
    await receiver.until((calls) => calls.some(({ event }) => event.type === 'message.received'));

    await rise('goniec_messages_ended_total', { status: 'delivered' }, 1);
    await rise('goniec_messages_ended_total', { status: 'failed' }, 1);
    await rise('goniec_message_submit_delay_seconds_count', {}, 1);
    await rise('goniec_message_delivery_delay_seconds_count', {}, 1);
    await rise('goniec_submit_duration_seconds_count', { route: 'simulator', answer: 'accepted' }, 1);
    await rise('goniec_submit_duration_seconds_count', { route: 'simulator', answer: 'refused' }, 1);
    await rise('goniec_delivery_reports_total', { route: 'simulator', state: 'delivered' }, 1);
    await rise('goniec_webhook_attempt_duration_seconds_count', { outcome: 'refused' }, 1);
    await rise('goniec_webhook_events_total', { outcome: 'delivered' }, receiver.calls.length - 1);
    await rise('goniec_replies_total', { outcome: 'matched' }, 1);
    await receiver.close();

    const { sum } = await observed.scrapeWorker();
    // The simulated network delivers after a second.
    expect(sum('goniec_message_delivery_delay_seconds_bucket', { le: '0.5' })).toBe(0);
    expect(sum('goniec_message_delivery_delay_seconds_bucket', { le: '10' })).toBeGreaterThan(0);
    expect(sum('goniec_database_pool_connections_max', { pool: 'worker' })).toBe(10);
  });

  test('a webhook that nobody takes', async () => {
    const tested = await observedAccount(observed);
    const { receiver } = await listening(tested, () => 500);
    await send({ to: '+48500100400' }, tested);
    await figure(observed.scrapeWorker, ['goniec_webhook_events_total', { outcome: 'exhausted' }], 1);
    await receiver.close();
  });

  test('the Temporal SDK, by the same address', async () => {
    const { sum, types } = await observed.scrapeWorker();
    expect(sum('goniec_temporal_sdk_up')).toBe(1);
    expect(sum('temporal_workflow_completed_total', { workflow_type: 'message' })).toBeGreaterThan(0);
    expect(types.get('temporal_activity_execution_latency_seconds')).toBe('histogram');
  });
});

test('names and units are as Prometheus wants them, and no label tells of people, accounts or messages', async () => {
  for (const { samples, types } of [await observed.scrapeApi(), await observed.scrapeWorker()]) {
    for (const [name, type] of types) {
      if (!name.startsWith('goniec_')) continue;
      expect(name.endsWith('_total'), name).toBe(type === 'counter');
      if (type === 'histogram') expect(name).toMatch(/_seconds$/);
    }
    const labels = JSON.stringify(samples.map((sample) => sample.labels));
    expect(labels).not.toMatch(/(cl|msg|req|evt|in|clk|key)_[0-9a-z]{26}|500[0-9]{6}|Bukiet|Zofii|whsec|[?]/);
    const own = samples.filter(({ name }) => name.startsWith('goniec_'));
    const known =
      /^(activity|answer|job|kind|le|method|operation|outcome|pool|robot|route|schedule|state|status|worker)$/;
    for (const label of own.flatMap((sample) => Object.keys(sample.labels))) expect(label).toMatch(known);
    expect(samples.length).toBeLessThan(3000);
  }
});

// Prometheus itself adds these to what it scrapes.
const SCRAPED_LABELS = ['job', 'instance'];

/** Makes the workers fail a workflow task, as a release that does not fit would. */
async function failWorkflowTask(): Promise<void> {
  const { temporalAddress: address, temporalNamespace: namespace } = observed.started.service;
  const connection = await Connection.connect({ address });
  const { workflow } = new Client({ connection, namespace });
  const handle = await workflow.start('unknown', { workflowId: randomUUID(), taskQueue: MESSAGES_QUEUE });
  await eventually(
    async () => (await observed.scrapeWorker()).sum('temporal_workflow_task_execution_failed_total'),
    (failed) => failed !== undefined,
  );
  await handle.terminate();
  await connection.close();
}

describe('beside what the processes serve', () => {
  const samples: Sample[] = [];
  const types = new Map<string, string>();

  function keep(scraped: Scrape): void {
    samples.push(...scraped.samples);
    for (const [name, type] of scraped.types) types.set(name, type);
  }

  // Of all that the tests before have left to be seen.
  beforeAll(async () => {
    await failWorkflowTask();
    keep(await observed.scrapeApi());
    keep(await observed.scrapeWorker());
  });

  /** The samples that a name in an expression means; null when no process serves it. */
  function known(metric: string): Sample[] | null {
    const family = types.has(metric) ? metric : metric.replace(/_(bucket|sum|count)$/, '');
    if (!types.has(family) || (family !== metric && types.get(family) !== 'histogram')) return null;
    return samples.filter(({ name }) => name === metric);
  }

  describe.each([
    ['the dashboard', dashboardQueries()],
    ['the alert rules', alertRules().map(({ name, expression }) => ({ where: name, expression }))],
  ])('%s', (_, queries) => {
    test('asks only for metrics and labels that the processes serve', () => {
      expect(queries.length).toBeGreaterThan(15);
      for (const { where, expression } of queries) {
        const selectors = selectorsOf(expression);
        expect(selectors, where).not.toEqual([]);
        for (const { metric, labels } of selectors) {
          if (metric === 'up') continue;
          const found = known(metric);
          expect(found, `${where}: ${metric}`).not.toBeNull();
          const there = new Set(found!.flatMap((sample) => Object.keys(sample.labels)));
          for (const label of labels) {
            // What was not counted yet shows no labels.
            if (found!.length === 0 || SCRAPED_LABELS.includes(label)) continue;
            expect([...there], `${where}: ${metric}`).toContain(label);
          }
        }
      }
    });
  });

  // By path and status of any request; a first error is none of the rates that an alert waits for.
  const OPEN_LISTS = /^goniec_http_/;

  test('what alerts look at by its increase stands at 0 before it first happens', () => {
    const looked = alertRules().flatMap(({ name, expression }) =>
      valuesAskedFor(expression)
        .filter(({ metric }) => metric.startsWith('goniec_') && !OPEN_LISTS.test(metric))
        .filter(({ metric }) => types.get(metric.replace(/_(bucket|sum|count)$/, '')) !== 'gauge')
        .map((asked) => ({ where: name, ...asked })),
    );
    expect(looked.map(({ value }) => value)).toEqual(
      expect.arrayContaining(['unresolved', 'delivered', 'expired', 'exhausted', 'error']),
    );
    for (const { where, metric, label, value } of looked) {
      const found = atStart.filter((sample) => sample.name === metric && sample.labels[label] === value);
      expect(found, `${where}: ${metric} ${label}="${value}"`).not.toEqual([]);
      expect(
        found.some((sample) => sample.value === 0),
        `${where}: ${metric}`,
      ).toBe(true);
    }
  });
});
