import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { Client } from '@temporalio/client';
import { Worker } from '@temporalio/worker';
import { ContinueAsNew } from '@temporalio/workflow';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { inSpan } from '../../telemetry/tracing.ts';
import { openTelemetry, type RunningTraces } from '../../telemetry/openTelemetry.ts';
import { clientTraces } from '../../telemetry/temporalTraces.ts';
import type { StartableMessage } from '../../domain/statuses.ts';
import { bundleWorkflows } from '../../worker/bundle.ts';
import { headerOf, TRACE_HEADER } from '../../workflows/headers.ts';
import { interceptors } from '../../workflows/interceptors.ts';
import { messageStart } from '../../workflows/startOptions.ts';
import { type CollectedSpan, type Collector, startCollector } from '../support/collector.ts';
import { eventually } from '../support/eventually.ts';
import { DAY, type Pipeline, startPipeline } from './pipeline.ts';

let collector: Collector;
let pipeline: Pipeline;
let traces: RunningTraces;
let client: Client;

beforeAll(async () => {
  collector = await startCollector();
  process.env['OTEL_EXPORTER_OTLP_ENDPOINT'] = collector.url;
  process.env['OTEL_BSP_SCHEDULE_DELAY'] = '100';
  traces = openTelemetry('goniec', '0', (message) => console.error(message));
  pipeline = await startPipeline();
  const { connection } = pipeline.client;
  client = new Client({ connection, interceptors: { workflow: clientTraces() } });
});
afterAll(async () => {
  await pipeline.close();
  await traces.stop();
  await collector.close();
});

const startTraced = (message: StartableMessage): Promise<unknown> =>
  inSpan('POST /v1/messages', { root: true }, () => client.workflow.start('message', messageStart(message)));

const spansOf = (id: string): CollectedSpan[] =>
  collector.spans.filter(({ attributes }) => attributes['goniec.message_id'] === id);

const untilEnded = (id: string): Promise<CollectedSpan[]> =>
  eventually(
    () => Promise.resolve(spansOf(id)),
    (spans) => spans.some(({ name }) => name === 'workflow message'),
  );

test("a message that slept for 90 days goes on in its request's trace", async () => {
  const sendAt = (await pipeline.now()) + 90 * DAY;
  const message = await pipeline.message(await pipeline.account(), { sendAt });
  await startTraced(message);
  await pipeline.sleep(90 * DAY + 1000);
  await pipeline.untilStatus(message.id, 'delivered');
  const spans = await untilEnded(message.id);

  const start = spans.find(({ name }) => name === 'start message')!;
  for (const name of ['activity charge', 'activity release', 'workflow message']) {
    const found = spans.find((span) => span.name === name);
    expect(found, name).toMatchObject({ traceId: start.traceId, parentSpanId: start.spanId });
  }
  expect(spans.find(({ name }) => name === 'submit')!.traceId).toBe(start.traceId);
  expect(spans.find(({ name }) => name === 'workflow message')).toMatchObject({
    attributes: { 'goniec.outcome': 'delivered' },
  });
});

test('at whatever moment it is looked at, what was recorded with a trace replays', async () => {
  const sendAt = (await pipeline.now()) + DAY;
  const message = await pipeline.message(await pipeline.account(), { sendAt });
  await startTraced(message);
  await pipeline.sleep(DAY + 1000);
  await pipeline.untilStatus(message.id, 'delivered');
  await untilEnded(message.id);
  const whole = await client.workflow.getHandle(message.id).fetchHistory();
  expect(historyToJSON(whole)).toContain('_tracer-data');
  const workflowBundle = await bundleWorkflows();
  const ends = whole.events!.flatMap(({ workflowTaskStartedEventAttributes: started }, index) =>
    started ? [index + 1] : [],
  );
  expect(ends.length).toBeGreaterThan(2);
  for (const end of [...ends, whole.events!.length]) {
    const history = { ...whole, events: whole.events!.slice(0, end) };
    await Worker.runReplayHistory({ workflowBundle }, history, message.id);
  }
  // Replays tell nothing again.
  expect(spansOf(message.id).filter(({ name }) => name === 'workflow message')).toHaveLength(1);
});

// Outside a workflow a report of its end would throw.
test('a workflow that goes on as a new run hands its trace to it, and reports no end', async () => {
  const { inbound, outbound } = interceptors();
  const headers = headerOf(TRACE_HEADER, { traceparent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01` });
  const options = { workflowType: 'email' };
  const goingOn = new ContinueAsNew(options);
  const run = inbound![0]!.execute!({ args: [], headers }, () => Promise.reject(goingOn));
  await expect(run).rejects.toBe(goingOn);
  const next = vi.fn(() => Promise.reject(goingOn));
  await expect(outbound![0]!.continueAsNew!({ args: [], headers: {}, options }, next)).rejects.toBe(goingOn);
  expect(next).toHaveBeenCalledWith({ args: [], headers, options });
});
