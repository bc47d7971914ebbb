import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { addSimulatedReply } from '../../db/routes/simulator.ts';
import { safeError } from '../../telemetry/safeError.ts';
import { type CollectedSpan, type Collector, startCollector } from '../support/collector.ts';
import { eventually } from '../support/eventually.ts';
import type { WebhookReceiver } from '../support/webhookReceiver.ts';
import {
  listening,
  observedAccount,
  type Observed,
  type ObservedAccount,
  startObserved,
} from './observed.ts';

const INBOUND = '+48500900901';
const RECIPIENT = '+48511222333';
const TEXT = 'Bukiet dla pani Anieli czeka';
const REPLY = 'Odbiorę jutro o ósmej';
const SECRET_NOTE = 'tajna-notatka';
const THEIRS = { traceId: '4bf92f3577b34da6a3ce929d0e0e4736', spanId: '00f067aa0ba902b7' };

let collector: Collector;
let observed: Observed;
let account: ObservedAccount;
let receiver: WebhookReceiver;
const secrets: string[] = [];

beforeAll(async () => {
  collector = await startCollector();
  observed = await startObserved({
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_BSP_SCHEDULE_DELAY: '200',
    LOG_LEVEL: 'trace',
  });
  account = await observedAccount(observed, { inboundNumber: INBOUND });
  const listener = await listening(account, (call) => (call === 1 ? 500 : 200));
  receiver = listener.receiver;
  secrets.push(
    listener.secret,
    account.key,
    receiver.url.split('/').pop()!,
    observed.started.service.secretsKey,
  );
  await observed.sql`alter table messages add constraint trial_accepted check (reference is distinct from 'trial') not valid`;
});
afterAll(async () => {
  await receiver?.close();
  await observed?.stop();
  await collector?.close();
});

async function send(
  headers: Record<string, string> = {},
  body: object = { to: RECIPIENT, text: TEXT },
): Promise<{ id: string; requestId: string }> {
  const response = await fetch(`${observed.started.service.apiUrl}/v1/messages`, {
    method: 'POST',
    headers: { authorization: `Bearer ${account.key}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  expect([201, 202]).toContain(response.status);
  const { id } = (await response.json()) as { id: string };
  return { id, requestId: response.headers.get('x-request-id')! };
}

const delivered = (id: string): Promise<unknown> =>
  receiver.until((calls) =>
    calls.some(({ event }) => event.type === 'message.delivered' && event.data.message.id === id),
  );

const spansOf = (id: string): CollectedSpan[] =>
  collector.spans.filter(({ attributes }) => attributes['goniec.message_id'] === id);

/** The trace that a message's workflow is in, once the workflow has ended. */
async function endedTrace(id: string): Promise<CollectedSpan[]> {
  const spans = await eventually(
    () => Promise.resolve(spansOf(id)),
    (found) => found.some(({ name }) => name === 'workflow message'),
  );
  const { traceId } = spans.find(({ name }) => name === 'workflow message')!;
  return collector.spans.filter((span) => span.traceId === traceId);
}

type Line = Record<string, unknown> & { msg: string; level: number };

const linesOf = (process: { lines: readonly string[] }): Line[] =>
  process.lines.map((line) => JSON.parse(line) as Line);
const api = (): Line[] => linesOf(observed.started.api);
const worker = (): Line[] => linesOf(observed.started.worker);

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
  });

  test('is one connected trace from the request to the webhook', () => {
    const ids = new Set(trace.map(({ spanId }) => spanId));
    const roots = trace.filter(({ parentSpanId }) => parentSpanId === null);
    expect(roots.map(({ name }) => name)).toEqual(['POST /v1/messages']);
    for (const { parentSpanId, name } of trace) {
      if (parentSpanId !== null) expect(ids.has(parentSpanId), `the parent of ${name}`).toBe(true);
    }
    const parentOf = (span: CollectedSpan): string | undefined =>
      trace.find(({ spanId }) => spanId === span.parentSpanId)?.name;
    expect(parentOf(one('start message'))).toBe('POST /v1/messages');
    // By the route's queue in the end: the first one of a route finds it not known to be quick.
    for (const name of ['activity charge', 'activity submitInTask', 'activity submit', 'workflow message'])
      expect(parentOf(one(name))).toBe('start message');
    expect(parentOf(one('submit'))).toBe('activity submit');
    const tellers = trace.filter(({ name }) => name === 'webhook attempt').map(parentOf);
    expect(tellers).toHaveLength(3);
    for (const teller of tellers)
      expect(teller).toMatch(/^activity (notifyInTask|deliverWebhook|submitInTask)$/);
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
    expect(one('workflow message').attributes['goniec.outcome']).toBe('delivered');
  });

  test("links to the caller's trace without joining it, and tells the receiver of none", () => {
    const root = one('POST /v1/messages');
    expect(root.traceId).not.toBe(THEIRS.traceId);
    expect(root.links).toEqual([THEIRS]);
    expect(receiver.calls.every(({ headers }) => headers['traceparent'] === undefined)).toBe(true);
  });
});

describe('the logs of a whole run, at their most talkative', () => {
  let messageId: string;

  /** Whatever goes right and wrong in a day: sends, replies, clicks, refusals, faults of the database, a deaf receiver. */
  beforeAll(async () => {
    const { sql } = observed;
    await account.call('POST', '/v1/contacts', {
      msisdn: RECIPIENT,
      first_name: 'Aniela',
      fields: { uwaga: SECRET_NOTE },
    });
    await account.call('GET', `/v1/numbers/${RECIPIENT.slice(1)}/lookup`);
    await account.call('GET', `/v1/contacts?q=${encodeURIComponent(RECIPIENT)}`);
    await account.call(
      'GET',
      `/v1/nowhere/${encodeURIComponent(RECIPIENT)}?text=${encodeURIComponent(TEXT)}`,
    );
    await account.call('POST', '/v1/messages', { to: RECIPIENT, text: { [TEXT]: RECIPIENT } });
    // Both the API's insert and the worker's update fail with an error that has the whole row in its detail.
    expect(
      (await account.call('POST', '/v1/messages', { to: RECIPIENT, text: TEXT, reference: 'trial' })).status,
    ).toBe(500);
    await sql`alter table messages add constraint trial_sent check (status <> 'sent') not valid`;
    const { text } = await account.call('POST', '/v1/messages', {
      to: RECIPIENT,
      text: `${TEXT}: {{link:https://example.com/${SECRET_NOTE}}}`,
    });
    messageId = (JSON.parse(text) as { id: string }).id;
    await eventually(
      () => Promise.resolve(worker()),
      (lines) => lines.some(({ msg }) => msg.includes('could not be stored')),
    );
    await sql`alter table messages drop constraint trial_sent`;
    await delivered(messageId);
    await fetch(observed.started.service.apiUrl + /s\.example(\/l\/\w+)/.exec(text)![1]!, {
      redirect: 'manual',
    });
    await addSimulatedReply(sql, { from: RECIPIENT, to: INBOUND, text: REPLY });
    await receiver.until((calls) => calls.some(({ event }) => event.type === 'message.received'));
    await account.call('GET', `/v1/messages/${messageId}`);
    await eventually(
      () => Promise.resolve(api()),
      (lines) => lines.some((line) => line['messageId'] === messageId && line['method'] === 'GET'),
    );
  });

  test('hold no number, text, name or secret', () => {
    const all = [...observed.started.api.lines, ...observed.started.worker.lines];
    expect(all.length).toBeGreaterThan(20);
    const hidden = [
      RECIPIENT.slice(1),
      '511222333',
      INBOUND.slice(1),
      'Bukiet',
      'Anieli',
      'Odbior',
      SECRET_NOTE,
      'Kwiaciarnia',
    ];
    for (const line of all) {
      for (const word of [...hidden, ...secrets])
        expect(line.includes(word), `${word} in ${line}`).toBe(false);
    }
  });

  test('API: every line about a request has its id, and its account and message where they are known', () => {
    const requests = api().filter(({ msg }) => msg === 'request' || msg === 'request failed');
    expect(requests.length).toBeGreaterThan(5);
    for (const line of requests) expect(line['requestId'], line.msg).toMatch(/^req_/);
    const known = requests.filter(({ route }) => String(route).startsWith('/v1/'));
    for (const line of known) expect(line['accountId']).toBe(account.id);
    const sends = requests.filter(({ messageId: id }) => id === messageId);
    expect(sends.map(({ method }) => method)).toEqual(['POST', 'GET']);
    const failed = requests.find(({ msg }) => msg === 'request failed')!;
    expect(failed).toMatchObject({ accountId: account.id, err: { code: '23514' } });
    expect(failed['messageId']).toMatch(/^msg_/);
  });

  test('worker: what is logged about an activity names message, request and account', () => {
    const stored = worker().filter(({ msg }) => msg.includes('could not be stored'));
    expect(stored[0]).toMatchObject({ messageId, accountId: account.id, err: { code: '23514' } });
    expect(stored[0]!['requestId']).toMatch(/^req_/);
  });
});

test('a request with several recipients has a trace, and each message one that is linked to it', async () => {
  const { requestId } = await send({}, { to: [RECIPIENT, '+48511222334', '+48511222335'], text: TEXT });
  const messages = await observed.sql<
    { id: string }[]
  >`select id from messages where request_id = ${requestId}`;
  expect(messages).toHaveLength(3);
  const traces = await Promise.all(messages.map(({ id }) => endedTrace(id)));
  const request = collector.spans.find(
    ({ name, attributes }) => name.startsWith('POST') && attributes['goniec.request_id'] === requestId,
  )!;
  for (const trace of traces) {
    const [root, ...others] = trace.filter(({ parentSpanId }) => parentSpanId === null);
    expect(others).toEqual([]);
    expect(root!.name).toBe('message of a request');
    expect(root!.links).toEqual([{ traceId: request.traceId, spanId: request.spanId }]);
    for (const name of ['start message', 'submit']) expect(trace.map((span) => span.name)).toContain(name);
  }
  expect(new Set(traces.map(([span]) => span!.traceId)).size).toBe(3);
});

// Last: it looks at all that the others made.
test('no span holds a number, a text, an address or a secret', () => {
  const personal = [RECIPIENT.slice(1), '511222333', TEXT, 'Anieli', 'Zofii', '127.0.0.1', ...secrets];
  const everything = collector.everything();
  expect(collector.spans.length).toBeGreaterThan(50);
  for (const word of personal) expect(everything.includes(word), word).toBe(false);
});

test('errors are logged without what they know of data', () => {
  const database = Object.assign(new Error('invalid input syntax for type integer: "Aniela, 48511222333"'), {
    ...{
      code: '22P02',
      detail: 'Failing row (Aniela)',
      parameters: ['Aniela'],
      query: 'select',
      table_name: 'messages',
    },
  });
  const logged = JSON.stringify(safeError(database));
  expect(logged).not.toMatch(/Aniela|511222333|select/);
  expect(logged).toContain('invalid input syntax');
  expect(logged).toContain('"table_name":"messages"');
  const cause = new Error('outer', { cause: new Error('to +48511222333') });
  expect(JSON.stringify(safeError(cause))).not.toContain('511222333');
  expect(safeError('to 48511222333')).toBe('to [number]');
  expect(safeError({ text: 'Aniela' })).toBe('object');
  expect(safeError(undefined)).toBe('undefined');
});
