import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type CollectedSpan, type Collector, startCollector } from '../support/collector.ts';
import { eventually } from '../support/eventually.ts';
import { spawnProcess } from '../support/service.ts';
import type { WebhookReceiver } from '../support/webhookReceiver.ts';
import {
  listening,
  observedAccount,
  type Observed,
  type ObservedAccount,
  startObserved,
} from './observed.ts';

const RECIPIENT = '+48511222333';
const TEXT = 'Bukiet dla pani Anieli czeka';
const THEIRS = { traceId: '4bf92f3577b34da6a3ce929d0e0e4736', spanId: '00f067aa0ba902b7' };

let collector: Collector;
let observed: Observed;
let account: ObservedAccount;
let receiver: WebhookReceiver;
const secrets: string[] = [];

const settings = (extra: Record<string, string> = {}): Record<string, string> => ({
  OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
  OTEL_BSP_SCHEDULE_DELAY: '200',
  ...extra,
});

beforeAll(async () => {
  collector = await startCollector();
  observed = await startObserved(settings());
  account = await observedAccount(observed);
  const listener = await listening(account, (call) => (call === 1 ? 500 : 200));
  receiver = listener.receiver;
  secrets.push(listener.secret, account.key, receiver.url.split('/').pop()!);
}, 120_000);
afterAll(async () => {
  await receiver.close();
  await observed.stop();
  await collector.close();
});

async function send(
  headers: Record<string, string> = {},
  body: object = { to: RECIPIENT, text: TEXT },
  url = observed.started.service.apiUrl,
): Promise<{ id: string; requestId: string }> {
  const response = await fetch(`${url}/v1/messages`, {
    method: 'POST',
    headers: { authorization: `Bearer ${account.key}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  expect([201, 202]).toContain(response.status);
  const { id } = (await response.json()) as { id: string };
  return { id, requestId: response.headers.get('x-request-id')! };
}

const delivered = (id: string): Promise<unknown> =>
  receiver.until(
    (calls) => calls.some(({ event }) => event.type === 'message.delivered' && event.data.message.id === id),
    60_000,
  );

const spansOf = (id: string): CollectedSpan[] =>
  collector.spans.filter(({ attributes }) => attributes['goniec.message_id'] === id);

/** The trace that a message's workflow is in, once the workflow has ended. */
async function endedTrace(id: string): Promise<CollectedSpan[]> {
  const spans = await eventually(
    () => Promise.resolve(spansOf(id)),
    (found) => found.some(({ name }) => name === 'message ended'),
    30_000,
  );
  const { traceId } = spans.find(({ name }) => name === 'message ended')!;
  return collector.spans.filter((span) => span.traceId === traceId);
}

describe('one message', () => {
  let trace: CollectedSpan[];
  let requestId: string;
  const one = (name: string): CollectedSpan => {
    const found = trace.filter((span) => span.name === name);
    expect(found, name).toHaveLength(1);
    return found[0]!;
  };

  beforeAll(async () => {
    const sent = await send({ traceparent: `00-${THEIRS.traceId}-${THEIRS.spanId}-01` });
    requestId = sent.requestId;
    await delivered(sent.id);
    trace = await endedTrace(sent.id);
  }, 180_000);

  test('is one connected trace from the request to the webhook', () => {
    const ids = new Set(trace.map(({ spanId }) => spanId));
    const roots = trace.filter(({ parentSpanId }) => parentSpanId === null);
    expect(roots.map(({ name }) => name)).toEqual(['POST /v1/messages']);
    for (const { parentSpanId, name } of trace) {
      if (parentSpanId !== null) expect(ids.has(parentSpanId), `the parent of ${name}`).toBe(true);
    }
    const parentOf = (span: CollectedSpan): string | undefined =>
      trace.find(({ spanId }) => spanId === span.parentSpanId)?.name;
    expect(parentOf(one('accept with start of message'))).toBe('POST /v1/messages');
    expect(parentOf(one('workflow message'))).toBe('accept with start of message');
    expect(parentOf(one('activity charge'))).toBe('workflow message');
    // By the route's queue in the end: the first one of a route finds it not known to be quick.
    for (const name of ['activity submitAtOnce', 'activity submit'])
      expect(parentOf(one(name))).toBe('workflow message');
    expect(parentOf(one('submit'))).toBe('activity submit');
    expect(parentOf(one('update outcome'))).toBe('workflow message');
    expect(parentOf(one('message ended'))).toBe('workflow message');
    const tellers = trace.filter(({ name }) => name === 'webhook attempt').map(parentOf);
    expect(tellers).toHaveLength(3);
    for (const teller of tellers)
      expect(teller).toMatch(/^activity (notifyInTask|deliverWebhook|submitAtOnce)$/);
  });

  test('says by which process, for whom, on what route, and how it went', () => {
    const root = one('POST /v1/messages');
    expect(root.service).toBe('goniec-api');
    expect(root.attributes).toMatchObject({
      'http.route': '/v1/messages',
      'http.request.method': 'POST',
      'http.response.status_code': '201',
      'goniec.request_id': requestId,
      'goniec.account_id': account.id,
    });
    expect(one('submit')).toMatchObject({
      service: 'goniec-worker',
      status: 0,
      attributes: {
        'goniec.route': 'simulator',
        'goniec.answer': 'accepted',
        'goniec.account_id': account.id,
      },
    });
    expect(one('message ended').attributes['goniec.outcome']).toBe('delivered');
  });

  test('shows the webhook attempt that was refused', () => {
    const attempts = trace.filter(({ name }) => name === 'webhook attempt');
    const refused = attempts.filter(({ status }) => status === 2);
    expect(refused).toHaveLength(1);
    expect(refused[0]!.attributes).toMatchObject({
      'http.response.status_code': '500',
      'error.type': 'refused',
    });
  });

  test("links to the caller's trace without joining it, and tells the receiver of none", () => {
    const root = one('POST /v1/messages');
    expect(root.traceId).not.toBe(THEIRS.traceId);
    expect(root.links).toEqual([THEIRS]);
    expect(receiver.calls.every(({ headers }) => headers['traceparent'] === undefined)).toBe(true);
  });

  test('is named in the log', () => {
    const lines = observed.started.api.lines.map((line) => JSON.parse(line) as Record<string, unknown>);
    const line = lines.find((one) => one['msg'] === 'request' && one['requestId'] === requestId);
    expect(line).toBeDefined();
    expect(collector.paths).toEqual(new Set(['/v1/traces']));
  });
});

test('a request with several recipients has a trace, and each message one that is linked to it', async () => {
  const { requestId } = await send({}, { to: [RECIPIENT, '+48511222334', '+48511222335'], text: TEXT });
  const messages = await observed.sql<
    { id: string }[]
  >`select id from messages where request_id = ${requestId}`;
  expect(messages).toHaveLength(3);
  const traces = await Promise.all(messages.map(({ id }) => endedTrace(id)));
  const starts = collector.spans.filter(
    ({ name, attributes }) =>
      name === 'start message' && messages.some(({ id }) => id === attributes['goniec.message_id']),
  );
  expect(new Set(starts.map(({ traceId }) => traceId)).size).toBe(1);
  for (const trace of traces) {
    const [root, ...others] = trace.filter(({ parentSpanId }) => parentSpanId === null);
    expect(others).toEqual([]);
    expect(root!.name).toBe('workflow message');
    expect(starts.map(({ spanId }) => spanId)).toContain(root!.links[0]!.spanId);
    expect(trace.map(({ name }) => name)).toContain('submit');
  }
  expect(new Set(traces.map(([span]) => span!.traceId)).size).toBe(3);
}, 180_000);

test('a hostile traceparent is left alone', async () => {
  for (const traceparent of [
    'x',
    `00-${'0'.repeat(32)}-${'0'.repeat(16)}-01`,
    `00-${'f'.repeat(5000)}`,
    RECIPIENT,
  ]) {
    const { requestId } = await send({ traceparent });
    const root = await eventually(
      () =>
        Promise.resolve(
          collector.spans.find(
            ({ attributes, name }) =>
              name.startsWith('POST') && attributes['goniec.request_id'] === requestId,
          ),
        ),
      (span) => span !== undefined,
    );
    expect(root!.links).toEqual([]);
  }
}, 180_000);

test('what was accepted before traces were on stays untraced, and is sent all the same', async () => {
  const { service } = observed.started;
  const plain = await spawnProcess('api', service);
  try {
    const { id } = await send({}, { to: RECIPIENT, text: TEXT }, plain.url);
    await delivered(id);
    expect(spansOf(id)).toEqual([]);
  } finally {
    await plain.stop();
  }
}, 180_000);

test('what is not sampled is told by nobody', async () => {
  const { service } = observed.started;
  const silent = await spawnProcess(
    'api',
    service,
    settings({ OTEL_TRACES_SAMPLER: 'parentbased_always_off' }),
  );
  try {
    const { id } = await send({}, { to: RECIPIENT, text: TEXT }, silent.url);
    await delivered(id);
    const { id: after } = await send();
    await delivered(after);
    await endedTrace(after);
    expect(spansOf(id)).toEqual([]);
  } finally {
    await silent.stop();
  }
}, 180_000);

test('requests that fail say how, and paths are patterns', async () => {
  await account.call('GET', `/v1/blacklist/${encodeURIComponent(RECIPIENT)}`);
  await account.call('GET', `/v1/nowhere/${encodeURIComponent(RECIPIENT)}?text=${encodeURIComponent(TEXT)}`);
  await observed.sql`alter table messages add constraint trial_draft check (status <> 'draft' or reference is distinct from 'trial') not valid`;
  await account.call('POST', '/v1/messages', { to: RECIPIENT, text: TEXT, reference: 'trial' });
  await account.call('GET', '/v1/health');
  const failed = await eventually(
    () =>
      Promise.resolve(
        collector.spans.filter(
          ({ attributes, name }) =>
            name.startsWith('POST') && attributes['http.response.status_code'] === '500',
        ),
      ),
    (spans) => spans.length > 0,
  );
  expect(failed[0]).toMatchObject({
    name: 'POST /v1/messages',
    status: 2,
    attributes: { 'error.type': '500' },
  });
  await eventually(
    () => Promise.resolve(collector.spans.map(({ name }) => name)),
    (names) => names.includes('GET none'),
  );
  expect(collector.spans.filter(({ name }) => name.includes('health'))).toEqual([]);
}, 180_000);

// Last: it looks at all that the others made.
test('no span holds a number, a text, an address or a secret', () => {
  const personal = [RECIPIENT.slice(1), '511222333', TEXT, 'Anieli', 'Zofii', '127.0.0.1', ...secrets];
  const everything = collector.everything();
  expect(collector.spans.length).toBeGreaterThan(50);
  for (const word of personal) expect(everything.includes(word), word).toBe(false);
});

test('a collector that is away or refuses holds up nobody', async () => {
  const refusing = await startCollector(503);
  const { service } = observed.started;
  const one = await spawnProcess('api', service, settings({ OTEL_EXPORTER_OTLP_ENDPOINT: refusing.url }));
  const gone = await spawnProcess(
    'api',
    service,
    settings({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9' }),
  );
  try {
    for (const { url } of [one, gone])
      await delivered((await send({}, { to: RECIPIENT, text: TEXT }, url)).id);
    await eventually(
      () => Promise.resolve(refusing.connections()),
      (made) => made > 0,
    );
    await eventually(
      () => Promise.resolve(gone.lines),
      (lines) => lines.some((line) => line.includes('traces: could not be handed over')),
      20_000,
    );
    const from = Date.now();
    await Promise.all([one.stop(), gone.stop()]);
    expect(Date.now() - from).toBeLessThan(10_000);
  } finally {
    await Promise.all([one.stop(), gone.stop()]);
    await refusing.close();
  }
}, 180_000);

test('switched off, nothing is loaded and no connection is made', async () => {
  const untouched = await startCollector();
  const { service } = observed.started;
  const off = await spawnProcess(
    'api',
    service,
    settings({ OTEL_EXPORTER_OTLP_ENDPOINT: untouched.url, OTEL_SDK_DISABLED: 'true' }),
  );
  try {
    await delivered((await send({}, { to: RECIPIENT, text: TEXT }, off.url)).id);
    await delay(500);
    expect(untouched.connections()).toBe(0);
  } finally {
    await off.stop();
    await untouched.close();
  }
}, 180_000);
