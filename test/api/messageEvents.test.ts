import { afterEach, describe, expect, it } from 'vitest';
import { newId } from '../../db/ids.ts';
import { eventually } from '../support/eventually.ts';
import { database, newAccount, type TestAccount } from '../support/factories.ts';
import { startReceiver, type WebhookReceiver } from '../support/webhookReceiver.ts';

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
    const { body } = await account.api.send({ to: '500100200', text: 'a'.repeat(200) });
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
    const { body } = await account.api.send({ to: '500100200', text: 'x', send_at: later });
    await account.api.delete(`/v1/messages/${body.id}`);
    expect(known(await eventsOf(account, body.id))).toEqual([
      { type: 'accepted', status: 'scheduled' },
      { type: 'charged', amount_grosze: -10 },
      expect.objectContaining({ type: expect.stringMatching(/refunded|status/) as string }) as object,
      expect.objectContaining({ type: expect.stringMatching(/refunded|status/) as string }) as object,
    ]);
    await account.api.post('/v1/blacklist', { msisdn: '500100201' });
    const rejected = await account.api.send({ to: '500100201', text: 'x' });
    expect(known(await eventsOf(account, rejected.body.id))).toEqual([
      { type: 'accepted', status: 'rejected' },
    ]);
  });

  it('answers 404 for drafts, other accounts’ messages and whatever is no id', async () => {
    const account = await newAccount();
    const other = await newAccount();
    const { body } = await account.api.send({ to: '500100200', text: 'x', send_at: later });
    expect((await other.api.get(`/v1/messages/${body.id}/events`)).status).toBe(404);
    await database()`
      insert into messages (id, account_id, request_id, accepted_as, recipient, text, parts, cost_grosze, give_up_at, route)
      values ('msg_01000000000000000000000000', ${account.id}, ${newId('req')}, 'queued', '+48500100200', 'x', 1, 0, now(), 'x')`;
    const ids = [
      'msg_01000000000000000000000000',
      newId('msg'),
      'msg_%00',
      'x'.repeat(500),
      '%2e%2e',
      "msg_';--",
    ];
    for (const id of ids) {
      const answer = await account.api.get(`/v1/messages/${id}/events`);
      expect(answer).toMatchObject({ status: 404, body: { error: { code: 'not_found' } } });
    }
  });
});
