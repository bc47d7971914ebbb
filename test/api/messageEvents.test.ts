import { afterEach, describe, expect, inject, it } from 'vitest';
import { newId } from '../../db/ids.ts';
import { addSimulatedReply } from '../../db/routes/simulator.ts';
import { eventually } from '../support/eventually.ts';
import { database, newAccount, type TestAccount } from '../support/factories.ts';
import { visit as click } from '../support/links.ts';
import { visit } from '../support/pages.ts';
import { startReceiver, type WebhookReceiver } from '../support/webhookReceiver.ts';
import { refusal } from './refusal.ts';

const later = new Date(Date.now() + 86_400_000).toISOString();
const open: WebhookReceiver[] = [];
afterEach(async () => {
  for (const receiver of open.splice(0)) await receiver.close();
});

async function eventsOf({ api }: TestAccount, id: string) {
  const { status, body } = await api.get(`/v1/messages/${id}/events`);
  expect(status).toBe(200);
  return body.data as unknown as Record<string, unknown>[];
}

const known = (events: Record<string, unknown>[]) =>
  events.map((event) =>
    Object.fromEntries(
      Object.entries(event).filter(([name, value]) => name !== 'at' && name !== 'event_id' && value !== null),
    ),
  );

describe('GET /v1/messages/{id}/events', () => {
  it('tells each step of a delivered message, oldest first, and nothing of the way behind the interface', async () => {
    const receiver = await startReceiver();
    open.push(receiver);
    const account = await newAccount();
    receiver.useSecret(
      (await account.api.put('/v1/account/webhook', { url: receiver.url })).body.webhook_secret,
    );
    const body = await account.api.accepted({ to: '500100200', text: 'a'.repeat(200) });
    await receiver.until((calls) => calls.some(({ event }) => event.type === 'message.delivered'));
    const events = await eventually(
      () => eventsOf(account, body.id),
      (now) => now.filter(({ type }) => type === 'webhook_attempt').length === 2,
    );
    expect(known(events)).toEqual(
      expect.arrayContaining([
        { type: 'accepted', status: 'queued' },
        { type: 'charged', amount_grosze: -20 },
        { type: 'submitted', part: 1 },
        { type: 'submitted', part: 2 },
        { type: 'status', status: 'sent' },
        { type: 'reported', part: 1, status: 'delivered' },
        { type: 'reported', part: 2, status: 'delivered' },
        { type: 'status', status: 'delivered' },
        { type: 'webhook_attempt', attempt: 1, status_code: 200 },
      ]),
    );
    expect(events).toHaveLength(10);
    expect(events[0]).toMatchObject({ type: 'accepted' });
    const times = events.map(({ at }) => String(at));
    expect(times).toEqual([...times].sort());
    const sent = receiver.calls.find(({ event }) => event.type === 'message.sent')!;
    expect(events.filter(({ type }) => type === 'webhook_attempt')[0]!['event_id']).toBe(sent.event.id);
    expect(JSON.stringify(events)).not.toMatch(/simulator|500100200|aaaa/);
  });

  it('tells of a cancel with its refund, and of a number on the blacklist', async () => {
    const account = await newAccount();
    const body = await account.api.accepted({ to: '500100200', text: 'x', send_at: later });
    await account.api.delete(`/v1/messages/${body.id}`);
    const told = known(await eventsOf(account, body.id));
    expect(told.slice(0, 2)).toEqual([
      { type: 'accepted', status: 'scheduled' },
      { type: 'charged', amount_grosze: -10 },
    ]);
    expect(told.slice(2)).toEqual(
      expect.arrayContaining([
        { type: 'refunded', amount_grosze: 10 },
        { type: 'status', status: 'cancelled' },
      ]),
    );
    expect(told).toHaveLength(4);
    await account.api.post('/v1/blacklist', { msisdn: '500100201' });
    const rejected = await account.api.send({ to: '500100201', text: 'x' });
    expect(known(await eventsOf(account, rejected.body.id))).toEqual([
      { type: 'accepted', status: 'rejected' },
    ]);
  });

  it('tells of the click, the reply and the opt-out that a message led to, and of an event delivered again', async () => {
    const [number, phone] = ['+48661000901', '+48661001200'];
    const receiver = await startReceiver();
    open.push(receiver);
    const account = await newAccount({ inboundNumber: number });
    await account.api.put('/v1/account/webhook', { url: receiver.url });
    const body = await account.api.accepted({ to: phone, text: '{{link:https://example.com/}} {{opt_out}}' });
    const [, link, optOut] = /\/l\/(\w+) \S+\/o\/(\w+)/.exec(body.text)!;
    await receiver.until((calls) => calls.some(({ event }) => event.type === 'message.delivered'));
    const sent = receiver.calls.find(({ event }) => event.type === 'message.sent')!.event.id;
    // Taken before its attempt is written down.
    await eventually(
      () => account.api.post(`/v1/account/webhook/deliveries/${sent}/resend`, ''),
      ({ status }) => status === 202,
    );
    await click(link!);
    await addSimulatedReply(database(), { from: phone, to: number, text: 'tak' });
    const [reply] = await eventually(
      async () => (await account.api.get('/v1/inbound')).body.data,
      (data) => data.length === 1,
    );
    await visit(`${inject('service').apiUrl}/o/${optOut!}`);
    const types = ['webhook_resend', 'click', 'reply', 'opt_out'];
    const events = await eventually(
      () => eventsOf(account, body.id),
      (now) => types.every((type) => now.some((event) => event['type'] === type)),
    );
    const found = types.map((wanted) => events.filter(({ type }) => type === wanted));
    expect(known(found.flat())).toEqual([
      { type: 'webhook_resend' },
      { type: 'click' },
      { type: 'reply', inbound_id: reply!.id },
      { type: 'opt_out' },
    ]);
    expect(found[0]![0]!['event_id']).toBe(sent);
  });

  it('answers 404 for other accounts’ messages and whatever is no id', async () => {
    const account = await newAccount();
    const other = await newAccount();
    const body = await account.api.accepted({ to: '500100200', text: 'x', send_at: later });
    expect((await other.api.get(`/v1/messages/${body.id}/events`)).status).toBe(404);
    for (const id of [newId('msg'), 'msg_%00', 'x'.repeat(500)]) {
      const answer = await account.api.get(`/v1/messages/${id}/events`);
      expect(answer).toMatchObject(refusal(404));
    }
  });
});
