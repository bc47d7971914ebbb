import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { Client } from '@temporalio/client';
import { Worker } from '@temporalio/worker';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openTelemetry } from '../../telemetry/openTelemetry.ts';
import { clientTraces } from '../../telemetry/temporalTraces.ts';
import { type Tracing, useTracing } from '../../telemetry/tracing.ts';
import type { StartableMessage } from '../../domain/startable.ts';
import { bundleWorkflows } from '../../worker/bundle.ts';
import { messageStart } from '../../workflows/startOptions.ts';
import { type CollectedSpan, type Collector, startCollector } from '../support/collector.ts';
import { eventually } from '../support/eventually.ts';
import { DAY, type Pipeline, startPipeline } from './pipeline.ts';

let collector: Collector;
let pipeline: Pipeline;
let traces: Tracing;
let client: Client;

beforeAll(async () => {
  collector = await startCollector();
  process.env['OTEL_EXPORTER_OTLP_ENDPOINT'] = collector.url;
  process.env['OTEL_BSP_SCHEDULE_DELAY'] = '100';
  traces = openTelemetry('goniec', '0', (message) => console.error(message));
  useTracing(traces);
  pipeline = await startPipeline();
  const { connection } = pipeline.client;
  client = new Client({ connection, interceptors: { workflow: clientTraces() } });
});
afterAll(async () => {
  await pipeline.close();
  useTracing(null);
  await traces.stop();
  await collector.close();
});

const startTraced = (message: StartableMessage): Promise<unknown> =>
  traces.within({ name: 'POST /v1/messages', kind: 'server', parent: null }, () =>
    client.workflow.start('message', messageStart(message)),
  );

const spansOf = (id: string): CollectedSpan[] =>
  collector.spans.filter(({ attributes }) => attributes['goniec.message_id'] === id);

const untilEnded = (id: string): Promise<CollectedSpan[]> =>
  eventually(
    () => Promise.resolve(spansOf(id)),
    (spans) => spans.some(({ name }) => name === 'message ended'),
  );

test('a message that slept for 90 days goes on in a trace of its own, linked to the first', async () => {
  const sendAt = (await pipeline.now()) + 90 * DAY;
  const message = await pipeline.message(await pipeline.account(), { sendAt });
  await startTraced(message);
  await pipeline.sleep(90 * DAY + 1000);
  await pipeline.untilStatus(message.id, 'delivered');
  const spans = await untilEnded(message.id);

  const first = spans.find(({ name }) => name === 'activity charge')!;
  const last = spans.find(({ name }) => name === 'message ended')!;
  expect(last.traceId).not.toBe(first.traceId);
  const [begun, resumed, ...others] = spans.filter(({ name }) => name === 'workflow message');
  expect(others).toEqual([]);
  expect(begun!.traceId).toBe(first.traceId);
  expect(resumed).toMatchObject({ traceId: last.traceId, parentSpanId: null });
  expect(resumed!.links).toEqual([{ traceId: begun!.traceId, spanId: begun!.spanId }]);
  for (const name of ['activity release', 'submit', 'update outcome']) {
    expect(spans.find((span) => span.name === name)?.traceId, name).toBe(last.traceId);
  }
  expect(Math.max(...spans.map(({ durationMs }) => durationMs))).toBeLessThan(DAY);
});

test('a workflow that nobody traced stays untraced', async () => {
  const message = await pipeline.message(await pipeline.account());
  await pipeline.start(message);
  await pipeline.untilStatus(message.id, 'delivered');
  const traced = await pipeline.message(await pipeline.account());
  await startTraced(traced);
  await pipeline.untilStatus(traced.id, 'delivered');
  await untilEnded(traced.id);
  expect(spansOf(message.id)).toEqual([]);
});

test('whatever moment traces are switched on or off at, what was recorded before replays', async () => {
  const sendAt = (await pipeline.now()) + DAY;
  const message = await pipeline.message(await pipeline.account(), { sendAt });
  await startTraced(message);
  await pipeline.sleep(DAY + 1000);
  await pipeline.untilStatus(message.id, 'delivered');
  await untilEnded(message.id);
  const whole = await client.workflow.getHandle(message.id).fetchHistory();
  expect(historyToJSON(whole)).toContain('goniec-trace');
  const bundles = [await bundleWorkflows(), await bundleWorkflows({ traced: true })];
  const ends = whole.events!.flatMap(({ workflowTaskStartedEventAttributes: started }, index) =>
    started ? [index + 1] : [],
  );
  expect(ends.length).toBeGreaterThan(2);
  for (const end of [...ends, whole.events!.length]) {
    const history = { ...whole, events: whole.events!.slice(0, end) };
    for (const workflowBundle of bundles) {
      await Worker.runReplayHistory({ workflowBundle }, history, message.id);
    }
  }
  // Replays tell nothing again.
  expect(spansOf(message.id).filter(({ name }) => name === 'message ended')).toHaveLength(1);
});

test('a header that is none of ours does no harm', async () => {
  const message = await pipeline.message(await pipeline.account());
  const hostile = new Client({
    connection: pipeline.client.connection,
    interceptors: {
      workflow: [
        {
          startWithDetails: (input, next) =>
            next({
              ...input,
              headers: {
                'goniec-trace': {
                  metadata: { encoding: Buffer.from('json/plain') },
                  data: Buffer.from('{"parent":7}'),
                },
              },
            }),
        },
      ],
    },
  });
  await hostile.workflow.start('message', messageStart(message));
  await pipeline.untilStatus(message.id, 'delivered');
  expect(spansOf(message.id)).toEqual([]);
});
