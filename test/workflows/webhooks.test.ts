import type { IncomingMessage, ServerResponse } from 'node:http';
import { randomBytes } from 'node:crypto';
import { ApplicationFailure } from '@temporalio/common';
import { MockActivityEnvironment } from '@temporalio/testing';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { createOutgoing, type Outgoing } from '../../pipeline/outgoingHttp.ts';
import { createQuickLane } from '../../pipeline/quickLane.ts';
import { webhookActivities } from '../../activities/webhooks.ts';
import { encrypt } from '../../db/installation.ts';
import { newId } from '../../db/ids.ts';
import { storeReports } from '../../db/incoming/deliveryReports.ts';
import { FAILURE } from '../../workflows/contracts.ts';
import { startHttpReceiver } from '../support/httpReceiver.ts';
import { isSigned } from '../support/webhookReceiver.ts';
import { type Pipeline, startPipeline, WEBHOOK_SECRET } from './pipeline.ts';
import { until } from '../support/eventually.ts';

/** As much of an event as is looked at here. */
interface Event {
  id: string;
  type: string;
  data: { message: { status: string; delivered_at: string | null } };
}

/** One call of a webhook, as its receiver saw it. */
interface Call {
  method: string;
  path: string;
  raw: Buffer;
  event: Event;
  signature: string;
}

interface Receiver {
  url: string;
  calls: Call[];
}

const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0)) await close();
});

/** A receiver that answers as told: `answer` gets the number of the call, from 1. */
async function receive(
  answer: (call: number, response: ServerResponse, request: IncomingMessage) => void,
): Promise<Receiver> {
  const calls: Call[] = [];
  const server = await startHttpReceiver((response, raw, request) => {
    calls.push({
      method: request.method ?? '',
      path: request.url ?? '',
      raw,
      event: JSON.parse(raw.toString('utf8')) as Event,
      signature: String(request.headers['x-service-signature']),
    });
    answer(calls.length, response, request);
  });
  open.push(() => server.close());
  return { url: `${server.url}/hook`, calls };
}

const status =
  (code: number, headers: Record<string, string> = {}) =>
  (_call: number, response: ServerResponse) =>
    void response.writeHead(code, headers).end('what the receiver says');

let pipeline: Pipeline;
beforeAll(async () => (pipeline = await startPipeline('real')));
afterAll(() => pipeline?.close());

/** Sends a message of an account that has the webhook; '902' causes one event, message.failed, and no other. */
async function send(webhookUrl: string, ending: string): Promise<string> {
  return (await pipeline.send(await pipeline.account({ webhookUrl }), { ending })).id;
}

interface LoggedEvent {
  id: string;
  type: string;
  state: string;
  /** Epoch milliseconds. */
  createdAt: number;
  attempts: {
    number: number;
    at: number;
    durationMs: number;
    statusCode: number | null;
    error: string | null;
    answer: string | null;
  }[];
}

async function logged(messageId: string): Promise<LoggedEvent[]> {
  return [
    ...(await pipeline.sql<LoggedEvent[]>`
      select e.id, e.type, e.state, extract(epoch from e.created_at)::float8 * 1000 as created_at,
             (select coalesce(jsonb_agg(jsonb_build_object(
                       'number', t.attempt, 'at', extract(epoch from t.at) * 1000, 'durationMs', t.duration_ms,
                       'statusCode', t.status_code, 'error', t.error, 'answer', t.answer) order by t.attempt), '[]')
                from webhook_attempts t where t.event_id = e.id) as attempts
        from webhook_events e where e.subject_id = ${messageId} order by e.id`),
  ];
}

async function untilState(messageId: string, state: string): Promise<LoggedEvent[]> {
  let events: LoggedEvent[] = [];
  await until(`all events of ${messageId} are ${state}`, async () => {
    events = await logged(messageId);
    return events.length > 0 && events.every((event) => event.state === state);
  });
  return events;
}

const stamp = ({ signature }: Call): number => Number(/^t=(\d+),/.exec(signature)?.[1]);

describe('the events of a message', () => {
  test('come in order, once each, signed, with the message as it was at the event', async () => {
    const receiver = await receive(status(200));
    const id = await send(receiver.url, '000');
    await pipeline.untilClosed(id);
    const events = await untilState(id, 'delivered');
    expect(events.map(({ type }) => type)).toEqual(['message.sent', 'message.delivered']);
    expect(receiver.calls.map(({ event }) => event.id)).toEqual(events.map((event) => event.id));
    expect(receiver.calls.map(({ method, path }) => `${method} ${path}`)).toEqual([
      'POST /hook',
      'POST /hook',
    ]);
    for (const call of receiver.calls) {
      expect(isSigned(call.signature, call.raw, WEBHOOK_SECRET)).toBe(true);
      expect(`message.${call.event.data.message.status}`).toBe(call.event.type);
    }
    expect(receiver.calls[0]!.event.data.message.delivered_at).toBeNull();
    expect(events.map(({ attempts }) => attempts.length)).toEqual([1, 1]);
    expect(events[0]!.attempts[0]).toMatchObject({ statusCode: 200, answer: 'what the receiver says' });
  });

  test('end with message.expired when no report came in time', async () => {
    const receiver = await receive(status(200));
    const account = await pipeline.account({ webhookUrl: receiver.url });
    const giveUpAt = (await pipeline.now()) + 5_000;
    const message = await pipeline.send(account, { ending: '903', giveUpAt });
    await pipeline.untilClosed(message.id);
    const last = (await untilState(message.id, 'delivered')).at(-1)!;
    expect(last.type).toBe('message.expired');
    const { event, raw, signature } = receiver.calls.at(-1)!;
    expect(event).toMatchObject({
      id: last.id,
      type: 'message.expired',
      data: { message: { status: 'expired', delivered_at: null } },
    });
    expect(isSigned(signature, raw, WEBHOOK_SECRET)).toBe(true);
  });

  test('tell of the message as it was at the event, on an attempt made when it is something else, too', async () => {
    const delivered = async () => {
      const [row] = await pipeline.sql<{ status: string }[]>`
        select status from messages where id = ${id} and status = 'delivered'`;
      return row !== undefined;
    };
    let id = '';
    const receiver = await receive((call, response) => {
      if (call > 1) return void response.writeHead(200).end();
      // The answer to the first attempt of `message.sent` is that it failed, once the message is delivered.
      void until('it is delivered', delivered).then(() => response.writeHead(503).end());
    });
    const message = await pipeline.message(await pipeline.account({ webhookUrl: receiver.url }), {
      ending: '000',
    });
    id = message.id;
    await pipeline.start(message);
    const events = await untilState(message.id, 'delivered');
    const sent = receiver.calls.filter(({ event }) => event.type === 'message.sent');
    expect(sent.length).toBeGreaterThanOrEqual(2);
    for (const { raw, event } of sent) {
      expect(raw.equals(sent[0]!.raw)).toBe(true);
      expect(event.data.message).toMatchObject({ id: message.id, status: 'sent', delivered_at: null });
    }
    expect(events.map(({ type }) => type)).toEqual(['message.sent', 'message.delivered']);
    await pipeline.untilClosed(message.id);
  });

  test('of one outcome come one by one: the second not before the first is taken', async () => {
    let underWay = 0;
    let most = 0;
    const receiver = await receive((call, response) => {
      underWay += 1;
      most = Math.max(most, underWay);
      // Held long enough for another one to come beside it.
      setTimeout(() => {
        underWay -= 1;
        response.writeHead(call <= 2 ? 503 : 200).end();
      }, 500);
    });
    // Reported while nobody knows whether the SMSC has it: sent and delivered in one step.
    const id = await send(receiver.url, '905');
    await pipeline.untilUnanswered(id);
    await storeReports(pipeline.sql, 'simulator', [
      { providerMessageId: `late-${id}`, reference: `${id}/1`, state: 'delivered', errorCode: null },
    ]);
    await pipeline.untilClosed(id);
    expect(receiver.calls.map(({ event }) => event.type)).toEqual([
      ...['message.sent', 'message.sent', 'message.sent'],
      'message.delivered',
    ]);
    expect(most).toBe(1);
  });

  test('are tried three times, at 0 s, 2 s and 10 s, and then given up', async () => {
    const receiver = await receive(status(500));
    const id = await send(receiver.url, '902');
    const [event] = await untilState(id, 'exhausted');
    await pipeline.untilClosed(id);
    const { attempts } = event!;
    expect(attempts.map(({ number, statusCode }) => [number, statusCode])).toEqual([
      [1, 500],
      [2, 500],
      [3, 500],
    ]);
    const [first, second, third] = attempts.map(({ at }) => at);
    // Not sooner; that nothing else is waited for is said by the delays of the attempts themselves, and measured in atOnce.deep.
    expect(second! - first!).toBeGreaterThan(1_900);
    expect(third! - second!).toBeGreaterThan(7_900);

    expect(receiver.calls).toHaveLength(3);
    for (const call of receiver.calls) {
      expect(call.raw.equals(receiver.calls[0]!.raw)).toBe(true);
      expect(call.event.id).toBe(event!.id);
      expect(isSigned(call.signature, call.raw, WEBHOOK_SECRET)).toBe(true);
    }
    const stamps = receiver.calls.map(stamp);
    expect(stamps[1]).toBeGreaterThan(stamps[0]!);
    expect(stamps[2]).toBeGreaterThan(stamps[1]!);
  });

  test('are not taken anywhere else by a redirect, which counts as failed', async () => {
    const receiver = await receive((call, response) =>
      status(call === 1 ? 302 : 200, call === 1 ? { location: '/elsewhere' } : {})(call, response),
    );
    const id = await send(receiver.url, '902');
    const [event] = await untilState(id, 'delivered');
    expect(event!.attempts.map(({ statusCode }) => statusCode)).toEqual([302, 200]);
    expect(receiver.calls.map(({ path }) => path)).toEqual(['/hook', '/hook']);
  });

  test('a receiver that hangs is left after ten seconds and keeps nobody else waiting', async () => {
    let answering = false;
    const hanging = await receive((_call, response) => {
      if (answering) response.writeHead(200).end();
    });
    const quick = await receive(status(200));
    const slow = await send(hanging.url, '902');
    await until('the slow receiver is called', () => Promise.resolve(hanging.calls.length === 1));
    const other = await send(quick.url, '902');
    await untilState(other, 'delivered');
    expect((await logged(slow))[0]!.state).toBe('pending');
    answering = true;
    const [slowEvent] = await untilState(slow, 'delivered');
    expect(slowEvent!.attempts[0]).toMatchObject({ statusCode: null });
    expect(slowEvent!.attempts[0]!.error).toMatch(/timeout/i);
    expect(slowEvent!.attempts[0]!.durationMs).toBeGreaterThan(9_000);
    expect(slowEvent!.attempts.at(-1)).toMatchObject({ statusCode: 200 });
  });
});

describe('what changes between two attempts', () => {
  const secretsKey = randomBytes(32);
  let outgoing: Outgoing;
  beforeAll(() => void (outgoing = createOutgoing(true)));
  afterAll(() => outgoing.close());

  const activities = (each?: number) =>
    webhookActivities(
      {
        sql: pipeline.sql,
        outgoing,
        secretsKey,
        shortUrl: 'https://s.example',
        quick: createQuickLane({ quickMs: 60_000, places: 1, placesEach: 1 }),
      },
      each,
    );
  const deliver = (eventId: string, of = activities()) =>
    new MockActivityEnvironment().run(() => of.deliverWebhook(eventId));

  const useSecret = (account: string, secret: string) =>
    pipeline.sql`
      update accounts set webhook_secret = ${encrypt(secretsKey, account, secret)} where id = ${account}`;

  /** An event that no workflow delivers. */
  async function pendingEvent(
    webhookUrl: string,
  ): Promise<{ account: string; message: string; event: string }> {
    const account = await pipeline.account({ webhookUrl });
    await useSecret(account, 'whsec_first');
    const { id } = await pipeline.message(account);
    const event = newId('evt');
    await pipeline.sql`
      insert into webhook_events (id, account_id, subject_kind, subject_id, type, snapshot)
      select ${event}, account_id, 'message', id, 'message.sent',
             jsonb_build_object('status', 'sent', 'delivered_at', null, 'error_code', null, 'updated_at', updated_at)
        from messages where id = ${id}`;
    return { account, message: id, event };
  }

  async function failureOf(attempt: Promise<unknown>): Promise<ApplicationFailure> {
    const error: unknown = await attempt.then(
      () => undefined,
      (reason: unknown) => reason,
    );
    expect(error).toBeInstanceOf(ApplicationFailure);
    return error as ApplicationFailure;
  }

  test.each([
    [200, 'delivered'],
    [204, 'delivered'],
    [299, 'delivered'],
    [300, 'pending'],
    [404, 'pending'],
    [500, 'pending'],
  ])('the status %i leaves the event %s', async (answer, state) => {
    const receiver = await receive((_, response) => void response.writeHead(answer).end());
    const { event, message } = await pendingEvent(receiver.url);
    if (state === 'delivered') await deliver(event);
    else expect(await failureOf(deliver(event))).toMatchObject({ type: FAILURE.webhookAttemptFailed });
    expect((await logged(message))[0]!.state).toBe(state);
  });

  test('beyond the places of its account it waits without one, and no attempt is counted; another account’s goes', async () => {
    let letGo: () => void = () => undefined;
    const slow = await receive((_, response) => void (letGo = () => response.writeHead(200).end()));
    const prompt = await receive(status(200));
    const places = activities(1);
    const [first, other] = [await pendingEvent(slow.url), await pendingEvent(prompt.url)];
    const second = newId('evt');
    await pipeline.sql`
      insert into webhook_events (id, account_id, subject_kind, subject_id, type, snapshot)
      select ${second}, account_id, subject_kind, subject_id, 'message.delivered', snapshot from webhook_events where id = ${first.event}`;
    const underWay = deliver(first.event, places);
    await until('the slow receiver is called', () => Promise.resolve(slow.calls.length === 1));
    expect(await failureOf(deliver(second, places))).toMatchObject({ type: FAILURE.throttled });
    await deliver(other.event, places);
    letGo();
    await underWay;
    const retried = deliver(second, places);
    await until('it is called for the second', () => Promise.resolve(slow.calls.length === 2));
    letGo();
    await retried;
    expect((await logged(first.message)).map(({ state, attempts }) => [state, attempts.length])).toEqual([
      ['delivered', 1],
      ['delivered', 1],
    ]);
  });

  test('the next attempt is signed with the new secret, the event stays the same', async () => {
    const receiver = await receive((call, response) => void response.writeHead(call === 1 ? 500 : 200).end());
    const { account, event, message } = await pendingEvent(receiver.url);
    const failure = await failureOf(deliver(event));
    expect(failure).toMatchObject({ type: FAILURE.webhookAttemptFailed, nextRetryDelay: 2_000 });
    await useSecret(account, 'whsec_second');
    await deliver(event);
    const [before, after] = receiver.calls;
    expect(isSigned(before!.signature, before!.raw, 'whsec_first')).toBe(true);
    expect(isSigned(after!.signature, after!.raw, 'whsec_second')).toBe(true);
    expect(isSigned(after!.signature, after!.raw, 'whsec_first')).toBe(false);
    expect(after!.raw.equals(before!.raw)).toBe(true);
    expect((await logged(message))[0]!.state).toBe('delivered');
  });

  test('the next attempt goes to the new address', async () => {
    const before = await receive(status(500));
    const after = await receive(status(200));
    const { account, event } = await pendingEvent(before.url);
    await failureOf(deliver(event));
    await pipeline.sql`update accounts set webhook_url = ${after.url} where id = ${account}`;
    await deliver(event);
    expect([before.calls.length, after.calls.length]).toEqual([1, 1]);
  });

  test('a webhook turned off gets nothing more', async () => {
    const receiver = await receive(status(500));
    const { account, event, message } = await pendingEvent(receiver.url);
    await failureOf(deliver(event));
    await pipeline.sql`update accounts set webhook_url = null where id = ${account}`;
    await deliver(event);
    expect(receiver.calls).toHaveLength(1);
    expect((await logged(message))[0]).toMatchObject({ state: 'exhausted', attempts: [{ number: 1 }] });
  });

  test('the third failure is final, and nothing is tried after it or after a success', async () => {
    const refusing = await receive(status(500));
    const { event, message } = await pendingEvent(refusing.url);
    expect((await failureOf(deliver(event))).nextRetryDelay).toBe(2_000);
    expect((await failureOf(deliver(event))).nextRetryDelay).toBe(8_000);
    expect(await deliver(event)).toBe('exhausted');
    expect(await deliver(event)).toBeNull();
    expect(refusing.calls).toHaveLength(3);
    expect((await logged(message))[0]!.state).toBe('exhausted');

    const taking = await receive(status(204));
    const delivered = await pendingEvent(taking.url);
    await deliver(delivered.event);
    await deliver(delivered.event);
    expect(taking.calls).toHaveLength(1);
  });

  test('of a long answer only the beginning is read and kept', async () => {
    const receiver = await receive((_call, response) => {
      response.writeHead(500);
      const chatter = setInterval(() => response.write('x\0'.repeat(10_000)), 1);
      response.on('close', () => clearInterval(chatter));
    });
    const { event, message } = await pendingEvent(receiver.url);
    await failureOf(deliver(event));
    const [attempt] = (await logged(message))[0]!.attempts;
    expect(attempt!.answer).toMatch(/^x{1,1000}$/);
  });
});
