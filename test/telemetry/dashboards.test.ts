import { randomUUID } from 'node:crypto';
import { Client, Connection } from '@temporalio/client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { MESSAGES_QUEUE } from '../../workflows/contracts.ts';
import { eventually } from '../support/eventually.ts';
import type { Sample, Scrape } from './exposition.ts';
import { listening, observedAccount, type Observed, startObserved } from './observed.ts';
import {
  alertRules,
  dashboardPanels,
  dashboardQueries,
  isBalanced,
  selectorsOf,
  valuesAskedFor,
} from './queries.ts';

// Prometheus itself adds these to what it scrapes.
const SCRAPED_LABELS = ['job', 'instance'];

let observed: Observed;
/** Of API and worker, before anything happened. */
const atStart: Sample[] = [];
const samples: Sample[] = [];
const types = new Map<string, string>();

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

function keep(scraped: Scrape): void {
  samples.push(...scraped.samples);
  for (const [name, type] of scraped.types) types.set(name, type);
}

beforeAll(async () => {
  observed = await startObserved();
  for (const scrape of [observed.scrapeApi, observed.scrapeWorker]) atStart.push(...(await scrape()).samples);
  const account = await observedAccount(observed);
  const { receiver } = await listening(account);
  await account.call('POST', '/v1/messages', { to: '500100200', text: 'Bukiet czeka' });
  await receiver.until((calls) => calls.some(({ event }) => event.type === 'message.delivered'));
  await receiver.close();
  await failWorkflowTask();
  // Its events may be told before the workflow hears of the report.
  await eventually(
    async () => (await observed.scrapeWorker()).sum('temporal_workflow_completed_total'),
    (completed) => completed !== undefined,
  );
  keep(await observed.scrapeApi());
  keep(await observed.scrapeWorker());
}, 120_000);
afterAll(() => observed.stop());

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
      expect(isBalanced(expression), where).toBe(true);
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

  test('counters are only looked at as rates, histograms only by their buckets and counts', () => {
    for (const { where, expression } of queries) {
      for (const { metric } of selectorsOf(expression)) {
        if (types.get(metric) !== 'counter') continue;
        const looks = expression.split(metric).slice(0, -1);
        for (const before of looks) expect(before, where).toMatch(/(rate|increase)\($/);
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

test('every metric of ours is shown', () => {
  const shown = new Set(
    dashboardQueries().flatMap(({ expression }) =>
      selectorsOf(expression).map(({ metric }) => metric.replace(/_(bucket|sum|count)$/, '')),
    ),
  );
  const notWorthAPanel =
    /_temporal_sdk_up$|_seconds_since_last_re(port|ply)$|_regular_work_interval_seconds$/;
  const missing = [...types.keys()].filter(
    (name) => name.startsWith('goniec_') && !shown.has(name) && !notWorthAPanel.test(name),
  );
  expect(missing).toEqual([]);
});

test('panels have names and ids of their own and do not lie upon each other', () => {
  const panels = dashboardPanels();
  expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
  expect(new Set(panels.map(({ title }) => title)).size).toBe(panels.length);
  const taken = new Set<string>();
  for (const { title, gridPos } of panels) {
    expect(gridPos.x + gridPos.w, title).toBeLessThanOrEqual(24);
    for (let x = gridPos.x; x < gridPos.x + gridPos.w; x += 1) {
      for (let y = gridPos.y; y < gridPos.y + gridPos.h; y += 1) {
        expect(taken.has(`${x}/${y}`), title).toBe(false);
        taken.add(`${x}/${y}`);
      }
    }
  }
});

test('every alert has a name of its own, a severity and a sentence', () => {
  const rules = alertRules();
  expect(new Set(rules.map(({ name }) => name)).size).toBe(rules.length);
  for (const { severity, summary } of rules) {
    expect(severity).toMatch(/^(page|ticket)$/);
    expect(summary.length).toBeGreaterThan(20);
  }
});
