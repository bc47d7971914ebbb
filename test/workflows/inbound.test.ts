import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { inboundActivities } from '../../activities/inbound.ts';
import { keepReplies } from '../../pipeline/replies.ts';
import { newId } from '../../db/ids.ts';
import { addSimulatedReply } from '../../db/routes/simulator.ts';
import type { InboundRecord } from '../../domain/incoming.ts';
import { startReceiver } from '../support/webhookReceiver.ts';
import { inboundStart } from '../../workflows/startOptions.ts';
import { type Pipeline, startPipeline, WEBHOOK_SECRET } from './pipeline.ts';
import { until } from '../support/eventually.ts';
import { reserve } from '../support/reservations.ts';

let pipeline: Pipeline;
beforeAll(async () => {
  pipeline = await startPipeline();
});
afterAll(() => pipeline?.close());

interface Stored {
  id: string;
  state: string;
  accountId: string | null;
  text: string | null;
  matchedBy: string | null;
  replyTo: string | null;
  optOut: boolean;
}

let phones = 0;
const newPhone = () => `+48600${String((phones += 1)).padStart(6, '0')}`;
const SHARED = '+48500600700';

/** An account that receives replies on `number`, with or without a keyword. */
async function receiving(
  options: { number?: string | null; prefix?: string; webhookUrl?: string } = {},
): Promise<string> {
  const id = await pipeline.account(
    options.webhookUrl === undefined ? {} : { webhookUrl: options.webhookUrl },
  );
  const { number = SHARED, prefix = null } = options;
  await pipeline.sql`update accounts set inbound_number = ${number}, inbound_prefix = ${prefix} where id = ${id}`;
  return id;
}

/** A message of an account to a phone, `age` before now; where `status` needs it, with a time of sending. */
async function wrote(
  account: string,
  phone: string,
  age = '1 minute',
  more: { status?: string; sendAt?: string; submission?: string } = {},
): Promise<string> {
  const id = newId('msg');
  await pipeline.sql`
    insert into messages (id, account_id, request_id, status, submission, accepted_as, recipient, sender, text, parts,
                          cost_grosze, send_at, give_up_at, route, created_at)
    values (${id}, ${account}, ${newId('req')}, ${more.status ?? 'delivered'}, ${more.submission ?? 'answered'},
            'queued', ${phone}, 'TEST', 'Dzień dobry', 1, 10, now() - ${more.sendAt ?? null}::interval, now(),
            'simulator', now() - ${age}::interval)`;
  return id;
}

/** A phone replies; resolves with what became of it. */
async function reply(from: string, text: string, to: string | null = SHARED): Promise<Stored> {
  await addSimulatedReply(pipeline.sql, { from, to, text });
  return settled(from, text);
}

async function settled(from: string, text: string): Promise<Stored> {
  const find = () => pipeline.sql<Stored[]>`
    select id, state, account_id, text, matched_by, reply_to, opt_out from inbound_messages
     where sender = ${from} and received_text = ${text} and state <> 'received'`;
  await until(`the reply ${text} is settled`, async () => (await find()).length > 0);
  const rows = await find();
  expect(rows).toHaveLength(1);
  return rows[0]!;
}

async function blacklist(phone: string) {
  return [
    ...(await pipeline.sql`select account_id, reason, expires_at from blacklist where msisdn = ${phone}`),
  ];
}

/** Waits until three attempts to tell of it have failed. The server's time passes between them, never during one: it would be given up. */
async function attemptsOver(id: string): Promise<void> {
  const attempts = async () =>
    (
      await pipeline.sql`select from webhook_attempts t join webhook_events e on e.id = t.event_id where e.subject_id = ${id}`
    ).count;
  for (const made of [1, 2]) {
    await until(`attempt ${made} is over`, async () => (await attempts()) >= made);
    await pipeline.sleep(9_000);
  }
  await until('the attempts are over', async () => {
    const [event] = await pipeline.sql`select state from webhook_events where subject_id = ${id}`;
    return event?.['state'] === 'exhausted';
  });
}

describe('by keyword', () => {
  test('a reply that begins with an account’s keyword is that account’s, without the keyword', async () => {
    const account = await receiving({ prefix: 'SKLEP' });
    const other = await receiving({ prefix: 'SKLEPY' });
    const phone = newPhone();
    await wrote(other, phone);
    expect(await reply(phone, 'Sklep: tak, jutro o 10')).toMatchObject({
      ...{ state: 'matched', accountId: account, text: 'tak, jutro o 10', matchedBy: 'prefix' },
      ...{ replyTo: null, optOut: false },
    });
  });

  test('reply_to is the account’s own latest message to the phone, if it wrote within 30 days', async () => {
    const account = await receiving({ prefix: 'OWN' });
    const other = await receiving();
    const phone = newPhone();
    await wrote(account, phone, '29 days');
    const last = await wrote(account, phone, '2 days');
    await wrote(other, phone, '1 day');
    expect(await reply(phone, 'own tak')).toMatchObject({ accountId: account, replyTo: last });
  });

  test('a keyword is no other word’s beginning, and nobody’s where inbound is off or the account closed', async () => {
    await receiving({ prefix: 'KWIATY' });
    const off = await receiving({ prefix: 'OFF', number: null });
    const gone = await receiving({ prefix: 'GONE' });
    await pipeline.setStatus(gone, 'closed');
    const held = await receiving({ prefix: 'HELD' });
    await pipeline.setStatus(held, 'suspended');
    for (const text of ['kwiatysą', 'KWIATYX tak', 'tak kwiaty', 'off tak', 'gone tak']) {
      expect(await reply(newPhone(), text)).toMatchObject({
        state: 'unmatched',
        accountId: null,
        text: null,
      });
    }
    expect(await reply(newPhone(), 'held tak')).toMatchObject({ accountId: held });
    const phone = newPhone();
    await wrote(off, phone);
    expect(await reply(phone, 'off tak')).toMatchObject({ state: 'unmatched' });
  });

  test('a word that is somebody’s keyword stays with the owner of a dedicated number', async () => {
    const account = await receiving({ prefix: 'INFO' });
    const dedicated = await receiving({ number: '+48500600701' });
    const phone = newPhone();
    const message = await wrote(dedicated, phone);
    expect(await reply(phone, 'info proszę', '+48500600701')).toMatchObject({
      ...{ accountId: dedicated, text: 'info proszę', matchedBy: 'last_message', replyTo: message },
    });
    expect(await reply(newPhone(), 'info o', '+48500600709')).toMatchObject({
      accountId: account,
      text: 'o',
    });
    expect(await reply(newPhone(), 'info n', null)).toMatchObject({ accountId: account, text: 'n' });
  });
});

describe('by the last message', () => {
  test('a reply is the account’s that wrote last to the phone', async () => {
    const [one, two] = [await receiving(), await receiving()];
    const phone = newPhone();
    await wrote(two, phone, '3 days');
    const last = await wrote(one, phone, '2 days');
    await wrote(two, newPhone(), '1 day');
    expect(await reply(phone, 'Nie, dziękuję')).toMatchObject({
      ...{ state: 'matched', accountId: one, text: 'Nie, dziękuję', matchedBy: 'last_message' },
      ...{ replyTo: last, optOut: false },
    });
    const later = await wrote(two, phone, '1 day');
    expect(await reply(phone, 'A teraz?')).toMatchObject({ accountId: two, replyTo: later });
  });

  test('the time of sending counts, not that of planning', async () => {
    const [one, two] = [await receiving(), await receiving()];
    const phone = newPhone();
    const planned = await wrote(one, phone, '60 days', { sendAt: '1 hour' });
    await wrote(two, phone, '1 day');
    expect(await reply(phone, 'ok')).toMatchObject({ accountId: one, replyTo: planned });
  });

  test.each(['queued', 'sent', 'delivered', 'undelivered', 'expired'])(
    'a message %s can be answered',
    async (status) => {
      const account = await receiving();
      const phone = newPhone();
      const message = await wrote(account, phone, '1 hour', { status });
      expect(await reply(phone, 'ok')).toMatchObject({ accountId: account, replyTo: message });
    },
  );

  test('what was never given to the network cannot', async () => {
    const account = await receiving();
    const phone = newPhone();
    for (const status of ['rejected', 'failed', 'cancelled', 'scheduled']) {
      await wrote(account, phone, '1 hour', { status, submission: 'waiting' });
    }
    await wrote(account, phone, '1 hour', { status: 'expired', submission: 'waiting' });
    await wrote(account, phone, '1 hour', { status: 'scheduled', sendAt: '-1 hour' });
    expect(await reply(phone, 'ok')).toMatchObject({ state: 'unmatched' });
  });

  test('a message that waits, as no network was given it, takes no reply from who wrote before', async () => {
    const [delivering, waiting] = [await receiving(), await receiving()];
    const phone = newPhone();
    const delivered = await wrote(delivering, phone, '1 hour');
    const more = { status: 'queued', submission: 'waiting' };
    await wrote(waiting, phone, '55 minutes', more);
    expect(await reply(phone, 'STOP')).toMatchObject({
      ...{ accountId: delivering, replyTo: delivered, optOut: true },
    });
    expect(await blacklist(phone)).toMatchObject([{ accountId: delivering }]);
    const alone = newPhone();
    await wrote(waiting, alone, '1 hour', more);
    expect(await reply(alone, 'ok')).toMatchObject({ state: 'unmatched' });
    // From the moment at which it may have left.
    const leaving = await wrote(waiting, alone, '1 hour', { ...more, submission: 'submitting' });
    expect(await reply(alone, 'tak')).toMatchObject({ accountId: waiting, replyTo: leaving });
  });

  test('within 30 days, to the second', async () => {
    const [young, old] = [newPhone(), newPhone()];
    const account = await receiving();
    const message = await wrote(account, young, '29 days 23:59:00');
    await wrote(account, old, '30 days 00:00:01');
    expect(await reply(young, 'ok')).toMatchObject({ replyTo: message });
    expect(await reply(old, 'ok')).toMatchObject({ state: 'unmatched' });
    // Counted from when the reply came, not from when it is looked at.
    const id = newId('in');
    await pipeline.sql`
      insert into inbound_messages (id, route, provider_reference, sender, receiver, received_text, received_at)
      select ${id}, 'late', ${id}, ${old}, ${SHARED}, 'dawno', created_at + interval '30 days'
        from messages where recipient = ${old}`;
    await inboundActivities(pipeline.sql).settleReply(id);
    expect(await settled(old, 'dawno')).toMatchObject({ state: 'matched', accountId: account });
  });

  test('only accounts that receive on the number it was sent to; all, where the provider does not tell', async () => {
    const [shared, own] = [await receiving(), await receiving({ number: '+48500600702' })];
    const phone = newPhone();
    const first = await wrote(own, phone, '2 days');
    const last = await wrote(shared, phone, '1 day');
    expect(await reply(phone, 'a', '+48500600702')).toMatchObject({ accountId: own, replyTo: first });
    expect(await reply(phone, 'b', '48500600702')).toMatchObject({ accountId: own });
    expect(await reply(phone, 'c', '500600702')).toMatchObject({ accountId: own });
    expect(await reply(phone, 'd')).toMatchObject({ accountId: shared });
    expect(await reply(phone, 'e', null)).toMatchObject({ accountId: shared, replyTo: last });
    expect(await reply(phone, 'f', '+48500600799')).toMatchObject({ state: 'unmatched' });
  });

  test('not where inbound is off or the account closed', async () => {
    const phone = newPhone();
    const off = await receiving({ number: null });
    const gone = await receiving();
    await pipeline.setStatus(gone, 'closed');
    await wrote(off, phone);
    await wrote(gone, phone);
    expect(await reply(phone, 'a')).toMatchObject({ state: 'unmatched' });
    expect(await reply(phone, 'b', null)).toMatchObject({ state: 'unmatched' });
    const held = await receiving();
    await pipeline.setStatus(held, 'suspended');
    await wrote(held, phone, '20 days');
    expect(await reply(phone, 'c')).toMatchObject({ accountId: held });
  });
});

describe('opting out', () => {
  test.each(['STOP', 'wypisz mnie', 'Nie.'])(
    '%j puts the number on the blacklist of the account, for good',
    async (text) => {
      const [account, other] = [await receiving(), await receiving()];
      const phone = newPhone();
      await wrote(other, phone, '2 days');
      await wrote(account, phone, '1 day');
      await pipeline.sql`
      insert into blacklist (account_id, msisdn, reason, expires_at)
      values (${account}, ${phone}, 'manual', now() + interval '1 hour')`;
      expect(await reply(phone, text)).toMatchObject({ accountId: account, text, optOut: true });
      expect(await blacklist(phone)).toEqual([{ accountId: account, reason: 'opt_out', expiresAt: null }]);
    },
  );

  test('after a keyword the rest counts', async () => {
    const account = await receiving({ prefix: 'KINO' });
    const phone = newPhone();
    expect(await reply(phone, 'KINO stop')).toMatchObject({
      text: 'stop',
      optOut: true,
      matchedBy: 'prefix',
    });
    expect(await blacklist(phone)).toMatchObject([{ accountId: account }]);
    const asking = newPhone();
    expect(await reply(asking, 'kino nie przyjdę')).toMatchObject({ accountId: account, optOut: false });
    expect(await blacklist(asking)).toEqual([]);
  });

  test('of signatures, quotes, and names and numbers of its own account nothing counts', async () => {
    const account = await receiving({ prefix: 'BUTIK' });
    for (const text of [
      'STOP\n\nWysłane z iPhone’a',
      '> Promocja! Rezygnacja: STOP\nWYPISZ',
      'Nie\r\n-- \r\nJan Kowalski',
      'STOP TEST',
      'stop, +48 500 600 700',
      'Wypisz mnie Butik',
    ]) {
      const phone = newPhone();
      await wrote(account, phone);
      expect(await reply(phone, text)).toMatchObject({ accountId: account, optOut: true });
      expect(await blacklist(phone)).toMatchObject([{ accountId: account }]);
    }
  });

  test('an answer within a sentence does not, nor anything from a phone nobody wrote to', async () => {
    const account = await receiving();
    const phone = newPhone();
    await wrote(account, phone);
    for (const text of [
      'Nie, dziękuję',
      'stop przy sklepie',
      'niestety',
      'STOPKA',
      'STOP INNY',
      '> STOP\ntak',
    ]) {
      expect(await reply(phone, text)).toMatchObject({ accountId: account, optOut: false });
    }
    expect(await blacklist(phone)).toEqual([]);
    const stranger = newPhone();
    expect(await reply(stranger, 'STOP')).toMatchObject({ state: 'unmatched', optOut: false });
    expect(await blacklist(stranger)).toEqual([]);
  });
});

describe('message.received', () => {
  test('tells the webhook once, signed, with the reply as it came', async () => {
    const receiver = await startReceiver();
    receiver.useSecret(WEBHOOK_SECRET);
    try {
      const account = await receiving({ webhookUrl: receiver.url });
      const phone = newPhone();
      const message = await wrote(account, phone);
      const { id } = await reply(phone, 'Stop!');
      const [call] = await receiver.until((calls) => calls.length > 0);
      expect(call!.verified).toBe(true);
      const {
        type,
        data,
        id: eventId,
      } = call!.event as unknown as {
        id: string;
        type: string;
        data: { inbound: InboundRecord; opt_out: boolean };
      };
      expect([type, data.opt_out]).toEqual(['message.received', true]);
      expect(eventId).toMatch(/^evt_[0-9a-z]{26}$/);
      expect(data.inbound).toEqual({
        ...{ id, from: phone, to: SHARED, text: 'Stop!', reply_to: message, matched_by: 'last_message' },
        ...{ received_at: expect.stringMatching(/Z$/) as string, read_at: null },
      });
      expect(await pipeline.untilClosed(id)).toBe('COMPLETED');
      expect(receiver.calls).toHaveLength(1);
      expect(await inboundActivities(pipeline.sql).settleReply(id)).toEqual({
        accountId: account,
        events: [],
      });
    } finally {
      await receiver.close();
    }
  });

  test('is tried three times with one body', async () => {
    const receiver = await startReceiver(() => 500);
    try {
      const account = await receiving({ webhookUrl: receiver.url });
      const phone = newPhone();
      await wrote(account, phone);
      const { id } = await reply(phone, 'tak');
      await receiver.until((calls) => calls.length >= 1);
      await pipeline.sql`update inbound_messages set read_at = now() where id = ${id}`;
      await attemptsOver(id);
      expect(receiver.calls).toHaveLength(3);
      expect(new Set(receiver.calls.map(({ event }) => JSON.stringify(event))).size).toBe(1);
      expect(await pipeline.untilClosed(id)).toBe('COMPLETED');
    } finally {
      await receiver.close();
    }
  });

  test('is not written for an account without a webhook, nor for an unmatched reply', async () => {
    const account = await receiving();
    const phone = newPhone();
    await wrote(account, phone);
    const matched = await reply(phone, 'tak');
    const unmatched = await reply(newPhone(), 'tak');
    expect(await pipeline.untilClosed(matched.id)).toBe('COMPLETED');
    expect(await pipeline.client.workflow.getHandle(matched.id).result()).toEqual({ matched: true });
    expect(await pipeline.client.workflow.getHandle(unmatched.id).result()).toEqual({ matched: false });
    expect(
      await pipeline.sql`select from webhook_events where subject_id in (${matched.id}, ${unmatched.id})`,
    ).toHaveLength(0);
  });

  test('is one event, however often and at once a reply is settled', async () => {
    // Nobody listens there: what counts here is the event.
    const account = await receiving({ webhookUrl: 'http://127.0.0.1:9/' });
    const phone = newPhone();
    await wrote(account, phone);
    const id = newId('in');
    await pipeline.sql`
      insert into inbound_messages (id, route, provider_reference, sender, receiver, received_text)
      values (${id}, 'simulator', ${id}, ${phone}, ${SHARED}, 'STOP')`;
    const { settleReply } = inboundActivities(pipeline.sql);
    const answers = await Promise.all(Array.from({ length: 8 }, () => settleReply(id)));
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
    expect(answers[0]!.events).toHaveLength(1);
    expect(await pipeline.sql`select from webhook_events where subject_id = ${id}`).toHaveLength(1);
    expect(await blacklist(phone)).toHaveLength(1);
    // Whose it is was decided once, whatever becomes of the account.
    await pipeline.setStatus(account, 'closed');
    expect(await settleReply(id)).toEqual(answers[0]);
  });
});

describe('nothing is lost or doubled', () => {
  const receive = (route: string, given: Parameters<typeof keepReplies>[2]) =>
    keepReplies(pipeline.sql, route, given);

  test('a reply handed over twice, also at once and to two workers, is one', async () => {
    const account = await receiving();
    const phone = newPhone();
    await wrote(account, phone);
    const given = { providerReference: randomBytes(8).toString('hex'), from: phone, to: SHARED, text: 'raz' };
    await Promise.all(Array.from({ length: 10 }, () => receive('smsc', [given])));
    await receive('smsc', [given, { ...given, text: 'inny tekst' }]);
    expect(await settled(phone, 'raz')).toMatchObject({ accountId: account });
    expect(await pipeline.sql`select from inbound_messages where sender = ${phone}`).toHaveLength(1);
    // Another provider's reference is another reply.
    await receive('other', [{ ...given, text: 'dwa' }]);
    expect(await settled(phone, 'dwa')).toMatchObject({ accountId: account });
  });

  test('what cannot be stored is replaced; numbers are read as providers write them', async () => {
    const account = await receiving({ prefix: 'DZIWNE' });
    const phone = newPhone();
    const text = 'dziwne \0a\ud800b\udc00 😀 \u202e';
    await receive('smsc', [
      { providerReference: 'x\u0001', from: phone.slice(1), to: SHARED.slice(3), text },
      { providerReference: 'y', from: 'PLAY\0', to: '7\u000055', text: 'dziwne DOLADOWANIE' },
      { providerReference: 'z', from: phone, to: '', text: 'dziwne' },
    ]);
    expect(await settled(phone, 'dziwne \ufffda\ufffdb\ufffd 😀 \u202e')).toMatchObject({
      ...{ accountId: account, text: '\ufffda\ufffdb\ufffd 😀 \u202e' },
    });
    expect(await settled('PLAY\ufffd', 'dziwne DOLADOWANIE')).toMatchObject({ state: 'unmatched' });
    expect(await settled(phone, 'dziwne')).toMatchObject({ accountId: account, text: '' });
  });

  test('stored and never processed: the worker makes up for it, also after its workflow was terminated', async () => {
    const account = await receiving();
    const phone = newPhone();
    await wrote(account, phone);
    const stored = async (id: string, text: string) => {
      await pipeline.sql`
        insert into inbound_messages (id, route, provider_reference, sender, receiver, received_text, received_at)
        values (${id}, 'simulator', ${id}, ${phone}, ${SHARED}, ${text}, now() - interval '30 seconds')`;
      await reserve(pipeline.sql, { id, kind: 'reply', accountId: '' });
    };
    const [forgotten, terminated] = [newId('in'), newId('in')];
    await stored(forgotten, 'zapomniana');
    expect(await settled(phone, 'zapomniana')).toMatchObject({ id: forgotten, accountId: account });

    // On a queue that nobody serves, so that it has certainly done nothing.
    await pipeline.client.workflow.start('inbound', { ...inboundStart(terminated), taskQueue: 'nobody' });
    await pipeline.client.workflow.getHandle(terminated).terminate();
    await stored(terminated, 'przerwana');
    expect(await settled(phone, 'przerwana')).toMatchObject({ id: terminated, accountId: account });
    expect(await pipeline.untilClosed(terminated)).toBe('COMPLETED');
  });
});
