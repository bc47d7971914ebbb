import { createHmac } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { EARLIER_EVENTS } from '../../api/v1_2/webhooks.ts';
import { newId } from '../../db/ids.ts';
import { listUnmatched, readInbound, readReply } from '../../db/incoming/replies.ts';
import { requestResend } from '../../db/webhooks/webhookDeliveries.ts';
import { cancelSignal } from '../../workflows/contracts.ts';
import { startHttpReceiver } from '../support/httpReceiver.ts';
import { type MessageOptions, HOUR, type Pipeline, startPipeline, WEBHOOK_SECRET } from './pipeline.ts';
import { startReply } from './replies.ts';
import { until } from '../support/eventually.ts';

// Expectations are those of v1.2.0, Events.
const PHONE = '+48500100200';
const NUMBER = '+48500600700';
const INSTANT = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as string;

interface Call {
  headers: IncomingHttpHeaders;
  raw: string;
  body: Record<string, unknown>;
  /** Whether it is as the OpenAPI document says. */
  described: boolean;
}

const isDescribed = (body: Record<string, unknown>): boolean =>
  Object.values(EARLIER_EVENTS).some((event) => event.body.safeParse(body).success);

interface Receiver {
  url: string;
  calls: Call[];
}

const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0)) await close();
});

/** A receiver that answers so; null: never. */
async function receive(status: number | null = 200): Promise<Receiver> {
  const calls: Call[] = [];
  const server = await startHttpReceiver((response, bytes, { headers }) => {
    const raw = bytes.toString('utf8');
    const body = JSON.parse(raw) as Record<string, unknown>;
    calls.push({ headers, raw, body, described: isDescribed(body) });
    if (status !== null) response.writeHead(status).end();
  });
  open.push(async () => {
    await server.close();
    expect(calls.filter(({ body, described }) => 'event' in body && !described)).toEqual([]);
  });
  return { url: `${server.url}/hook`, calls };
}

let pipeline: Pipeline;
beforeAll(async () => (pipeline = await startPipeline()));
afterAll(() => pipeline?.close());

async function accountWith(urls: { present?: string; earlier?: string }): Promise<string> {
  const id = await pipeline.account(urls.present === undefined ? {} : { webhookUrl: urls.present });
  await pipeline.sql`
    update accounts set legacy_webhook_url = ${urls.earlier ?? null}, legacy_webhook_secret = webhook_secret where id = ${id}`;
  return id;
}

async function send(account: string, of: 'v1' | 'v2', options: MessageOptions = {}): Promise<string> {
  const message = await pipeline.message(account, { ending: '000', ...options });
  await pipeline.sql`update messages set interface = ${of}, idx = ${of === 'v1' ? 'zam-1042' : null} where id = ${message.id}`;
  await pipeline.start(message);
  return message.id;
}

const closed = async (id: string): Promise<void> => {
  await pipeline.client.workflow
    .getHandle(id)
    .result()
    .catch(() => undefined);
};

interface Logged {
  id: string;
  type: string;
  state: string;
  attempts: number;
}

const logged = (subject: string) =>
  pipeline.sql<Logged[]>`
    select id, type, state, (select count(*)::int from webhook_attempts t where t.event_id = e.id) as attempts
      from webhook_events e where subject_id = ${subject} order by created_at`;

/** The signature as the document tells receivers to check it: over the raw body, at most 300 s old. */
function isSigned({ headers, raw }: Call): boolean {
  const match = /^v1,t=(\d+),sig=([0-9a-f]{64})$/.exec(String(headers['x-service-signature']));
  if (match === null || Math.abs(Date.now() / 1000 - Number(match[1])) > 300) return false;
  return createHmac('sha256', WEBHOOK_SECRET).update(`v1.${match[1]}.${raw}`).digest('hex') === match[2];
}

describe('delivery_report', () => {
  test('comes at each change of status, in order, signed, with exactly the fields of the document', async () => {
    const earlier = await receive();
    const present = await receive();
    const id = await send(await accountWith({ present: present.url, earlier: earlier.url }), 'v1');
    await closed(id);
    const of = { event: 'delivery_report', message_id: id, to: '+48500100000', idx: 'zam-1042' };
    expect(earlier.calls.map(({ body }) => body)).toEqual([
      { ...of, status: 'sent', sent_at: INSTANT, done_at: null },
      { ...of, status: 'delivered', sent_at: INSTANT, done_at: INSTANT },
    ]);
    expect(Object.keys(earlier.calls[0]!.body)).toEqual([
      ...['event', 'message_id', 'to', 'status', 'sent_at', 'done_at', 'idx'],
    ]);
    expect(earlier.calls.map(isSigned)).toEqual([true, true]);
    expect(earlier.calls.map(({ headers }) => [headers['content-type'], headers['user-agent']])).toEqual([
      ['application/json', 'Service-Webhook/1.0'],
      ['application/json', 'Service-Webhook/1.0'],
    ]);
    expect(present.calls).toEqual([]);
    expect((await logged(id)).map(({ type, state, attempts }) => [type, state, attempts])).toEqual([
      ['delivery_report', 'delivered', 1],
      ['delivery_report', 'delivered', 1],
    ]);
  });

  test('is of messages of the earlier interface alone, and nothing else is of those', async () => {
    const both = { earlier: await receive(), present: await receive() };
    const account = await accountWith({ present: both.present.url, earlier: both.earlier.url });
    await closed(await send(account, 'v2'));
    expect(both.present.calls.map(({ body }) => body.type)).toEqual(['message.sent', 'message.delivered']);
    expect(both.earlier.calls).toEqual([]);

    const alone = await receive();
    const ids = [
      await send(await accountWith({ present: alone.url }), 'v1'),
      await send(await accountWith({ earlier: alone.url }), 'v2'),
    ];
    for (const id of ids) {
      await closed(id);
      expect(await logged(id)).toEqual([]);
    }
    expect(alone.calls).toEqual([]);
  });

  test('is tried once, whatever the receiver says, and again only by hand', async () => {
    const refusing = await receive(500);
    const account = await accountWith({ earlier: refusing.url });
    const id = await send(account, 'v1', { ending: '902' });
    await closed(id);
    const [event, ...more] = await logged(id);
    expect(more).toEqual([]);
    expect(event).toMatchObject({ type: 'delivery_report', state: 'exhausted', attempts: 1 });
    // The network refused it: it has never left.
    expect(refusing.calls.map(({ body }) => [body.status, body.sent_at])).toEqual([['failed', null]]);

    const again = await requestResend(pipeline.sql, event!.id, account, 'account');
    if (typeof again === 'string') throw new Error(again);
    await until('it is tried again', () => Promise.resolve(refusing.calls.length === 2));
    await until('that has ended', async () => {
      const [round] = await pipeline.sql`select state from webhook_resends where event_id = ${event!.id}`;
      return round?.state === 'exhausted';
    });
    expect(refusing.calls).toHaveLength(2);
  });

  test('comes of what is rejected or cancelled after it was accepted, too', async () => {
    const receiver = await receive();
    const account = await accountWith({ earlier: receiver.url });
    const sendAt = (await pipeline.now()) + HOUR;
    const optedOut = await send(account, 'v1', { sendAt, ending: '321' });
    await pipeline.sql`
      insert into blacklist (account_id, msisdn, reason) values (${account}, '+48500100321', 'opt_out')`;
    const cancelled = await send(account, 'v1', { sendAt });
    await pipeline.client.workflow.getHandle(cancelled).signal(cancelSignal);
    await closed(cancelled);
    await pipeline.sleep(2 * HOUR);
    await closed(optedOut);
    expect(
      receiver.calls.map(({ body }) => [body.message_id, body.status, body.sent_at, body.done_at]),
    ).toEqual([
      [cancelled, 'failed', null, INSTANT],
      [optedOut, 'rejected', null, INSTANT],
    ]);
  });
});

describe('incoming_sms', () => {
  test('a reply goes to each address that is set, in its form, and none waits for the other', async () => {
    const earlier = await receive();
    const present = await receive(null);
    const account = await accountWith({ present: present.url, earlier: earlier.url });
    const keyword = `KLUB${newId('evt')
      .slice(-6)
      .toUpperCase()
      .replace(/[^A-Z]/g, 'X')}`;
    await pipeline.sql`
      update accounts set inbound_number = ${NUMBER}, inbound_prefix = ${keyword} where id = ${account}`;
    const id = await startReply(pipeline, PHONE, `${keyword} Zażółć`);
    await until('both were called', () =>
      Promise.resolve(earlier.calls.length === 1 && present.calls.length >= 1),
    );
    expect(earlier.calls[0]!.body).toEqual({
      ...{ event: 'incoming_sms', message_id: id, from: PHONE, to: NUMBER, message: 'Zażółć' },
      received_at: INSTANT,
    });
    expect(isSigned(earlier.calls[0]!)).toBe(true);
    expect(present.calls[0]!.body).toMatchObject({ type: 'message.received', data: { inbound: { id } } });
    expect((await logged(id)).map(({ type }) => type).sort()).toEqual(['incoming_sms', 'message.received']);
  });

  /** An account on a number, with an address of each interface, or of the present one alone. */
  const receivingOn = async (number: string, urls: { present?: string; earlier?: string }) => {
    const account = await accountWith(urls);
    await pipeline.sql`update accounts set inbound_number = ${number} where id = ${account}`;
    return account;
  };
  const settled = async (id: string) => {
    await closed(id);
    const [row] = await pipeline.sql`
      select state, account_id, text, matched_by, opt_out from inbound_messages where id = ${id}`;
    return row;
  };
  const listed = async (account: string) =>
    await readInbound(pipeline.sql, account, { sender: null, since: null, unread: false, before: null }, 10);
  const forStaff = async () => (await listUnmatched(pipeline.sql, 100)).map(({ id }) => id);

  test('a text that answers nothing goes to the account whose number it is, as it came, in no other form', async () => {
    const [earlier, present] = [await receive(), await receive()];
    const number = '+48500600711';
    const account = await receivingOn(number, { present: present.url, earlier: earlier.url });
    const phone = '+48500100711';
    const id = await startReply(pipeline, phone, '  Dzień dobry, czy to sklep?', number);
    expect(await settled(id)).toEqual({
      ...{ state: 'unmatched', accountId: account, text: null, matchedBy: null, optOut: false },
    });
    expect(earlier.calls.map(({ body }) => body)).toEqual([
      {
        ...{ event: 'incoming_sms', message_id: id, from: phone, to: number },
        ...{ message: '  Dzień dobry, czy to sklep?', received_at: INSTANT },
      },
    ]);
    expect((await logged(id)).map(({ type, state }) => [type, state])).toEqual([
      ['incoming_sms', 'delivered'],
    ]);
    expect(present.calls).toEqual([]);
    // The present interface knows keyword and last message alone.
    expect(await listed(account)).toEqual([]);
    expect(await readReply(pipeline.sql, account, id)).toBeNull();
    expect(await forStaff()).not.toContain(id);
  });

  test('STOP in it opts the sender out of that account', async () => {
    const earlier = await receive();
    const number = '+48500600712';
    const account = await receivingOn(number, { earlier: earlier.url });
    const phone = '+48500100712';
    expect(await settled(await startReply(pipeline, phone, 'Stop', number))).toMatchObject({ optOut: true });
    expect(earlier.calls).toHaveLength(1);
    expect(await pipeline.sql`select account_id, reason from blacklist where msisdn = ${phone}`).toEqual([
      { accountId: account, reason: 'opt_out' },
    ]);
  });

  test('it goes to nobody where the number is not one account’s alone, or that one is not told so', async () => {
    const earlier = await receive();
    const shared = '+48500600713';
    const one = await receivingOn(shared, { earlier: earlier.url });
    const two = await receivingOn(shared, {});
    const unwatched = '+48500600714';
    await receivingOn(unwatched, { present: earlier.url });
    const phone = '+48500100713';
    const nobodys = { state: 'unmatched', accountId: null, optOut: false };
    for (const to of [shared, unwatched, '+48500600719', null]) {
      const id = await startReply(pipeline, phone, 'STOP', to);
      expect(await settled(id)).toMatchObject(nobodys);
      expect(await logged(id)).toEqual([]);
      expect(await forStaff()).toContain(id);
    }
    // A network's notice is nobody's text.
    await pipeline.sql`update accounts set status = 'closed' where id = ${two}`;
    expect(await settled(await startReply(pipeline, 'PLAY', 'Saldo', shared))).toMatchObject(nobodys);
    expect(await pipeline.sql`select from blacklist where msisdn = ${phone}`).toHaveLength(0);
    expect(earlier.calls).toEqual([]);
    // A closed account receives nothing: the number is the other's.
    expect(await settled(await startReply(pipeline, phone, 'tak', shared))).toMatchObject({ accountId: one });
    expect(earlier.calls).toHaveLength(1);
  });
});
