import { afterAll, describe, expect, inject, it } from 'vitest';
import { commandLine, listIn } from '../admin/support.ts';
import { idFloor, newId } from '../../db/ids.ts';
import { eventually } from '../support/eventually.ts';
import { database, newAccount, type TestAccount } from '../support/factories.ts';
import { startReceiver, type WebhookReceiver } from '../support/webhookReceiver.ts';
import { refusal } from './refusal.ts';

const open: WebhookReceiver[] = [];
afterAll(async () => {
  for (const receiver of open.splice(0)) await receiver.close();
});

const PATH = '/v1/account/webhook/deliveries';

interface Delivery {
  id: string;
  type: string;
  state: string;
  message_id: string | null;
  resends: number;
  attempts: { attempt: number; url: string; status_code: number | null; error: string | null }[];
}

async function withReceiver(answer?: (call: number) => number | Promise<number>) {
  const receiver = await startReceiver(answer);
  open.push(receiver);
  const account = await newAccount();
  const { body } = await account.api.put('/v1/account/webhook', { url: receiver.url });
  receiver.useSecret(body.webhook_secret);
  return { account, receiver };
}

async function deliveries({ api }: TestAccount, query = ''): Promise<Delivery[]> {
  const { status, body } = await api.get(`${PATH}${query}`);
  expect(status).toBe(200);
  return body.data as unknown as Delivery[];
}

/** The one event of a message that has failed, once it was taken. */
async function oneDelivered(account: TestAccount): Promise<Delivery> {
  await account.api.send({ to: '500100902', text: 'x' });
  const [event] = await eventually(
    () => deliveries(account, '?state=delivered'),
    (now) => now.length === 1,
  );
  return event!;
}

const resend = ({ api }: TestAccount, id: string) => api.post(`${PATH}/${id}/resend`, '');

/** Events as they stand after some time, without anybody having received them. */
async function storedEvents(
  account: TestAccount,
  states: string[],
  type = 'message.sent',
): Promise<string[]> {
  const ids: string[] = [];
  for (const state of states) {
    const id = newId('evt');
    await database()`
      insert into webhook_events (id, account_id, subject_kind, subject_id, type, snapshot) values (${id}, ${account.id}, 'message', ${id}, ${type}, '{}')`;
    await database()`
      update webhook_events set state = ${state}, exhausted_at = case when ${state} = 'exhausted' then now() end where id = ${id}`;
    ids.push(id);
  }
  return ids;
}

/** Addresses that do not answer, each for a different reason. */
async function unreachable(): Promise<Record<string, string>> {
  const [closed, deaf] = await Promise.all([startReceiver(), startReceiver()]);
  await closed.close();
  open.push(deaf);
  return {
    'a port that nobody listens on': closed.url,
    'a name that is not there': 'https://no-such-name.invalid/hook',
    'no TLS': deaf.url.replace('http:', 'https:'),
  };
}

// They wait for attempts that come seconds later: together they take as long as one. Accounts keep them apart.
describe.concurrent('GET /v1/account/webhook/deliveries', () => {
  it('tells the same of every address that cannot be reached; the operator sees why', async () => {
    const { ok } = commandLine(() => inject('service').databaseUrl);
    const causes = new Set<unknown>();
    const told = new Set<unknown>();
    for (const url of Object.values(await unreachable())) {
      const account = await newAccount();
      await account.api.put('/v1/account/webhook', { url });
      await account.api.send({ to: '500100902', text: 'x' });
      const [event] = await eventually(
        () => deliveries(account),
        ([first]) => (first?.attempts.length ?? 0) > 0,
      );
      const [first] = event!.attempts;
      told.add(JSON.stringify({ status_code: first!.status_code, error: first!.error }));
      causes.add(listIn(await ok('webhooks', 'list', '--account', account.id))[0]!['error']);
      await database()`update accounts set webhook_url = null where id = ${account.id}`;
    }
    expect([...told]).toEqual([JSON.stringify({ status_code: null, error: 'unreachable' })]);
    expect(causes.size).toBe(3);
  });

  it('lists each event with its attempts, newest first', async () => {
    const { account, receiver } = await withReceiver((call) => (call === 1 ? 500 : 200));
    const body = await account.api.accepted({ to: '500100200', text: 'x' });
    await receiver.until((calls) => calls.length === 3);
    const listed = await eventually(
      () => deliveries(account),
      (now) => now.length === 2 && now.every(({ state }) => state === 'delivered'),
    );
    expect(listed).toMatchObject([
      {
        type: 'message.delivered',
        message_id: body.id,
        resends: 0,
        attempts: [{ attempt: 1, status_code: 200 }],
      },
      {
        ...{ type: 'message.sent', message_id: body.id },
        attempts: [
          { attempt: 1, status_code: 500, url: receiver.url, error: null },
          { attempt: 2, status_code: 200 },
        ],
      },
    ]);
    expect(await deliveries(account, `?message_id=${body.id}&type=message.sent`)).toHaveLength(1);
    expect(await deliveries(await newAccount())).toEqual([]);
  });

  it('filters by state, type, message and time, and pages without skipping', async () => {
    const account = await newAccount();
    const ids = await storedEvents(account, ['delivered', 'exhausted', 'pending', 'exhausted', 'delivered']);
    const [link] = await storedEvents(account, ['exhausted'], 'link.clicked');
    const idsOf = async (query: string) => (await deliveries(account, query)).map(({ id }) => id);
    expect(await idsOf('?state=exhausted')).toEqual([link, ids[3], ids[1]]);
    expect(await idsOf('?state=exhausted&type=message.sent')).toEqual([ids[3], ids[1]]);
    expect(await idsOf('?state=pending')).toEqual([ids[2]]);
    expect(await idsOf('?state=delivered')).toEqual([ids[4], ids[0]]);
    expect(await idsOf(`?message_id=${newId('msg')}`)).toEqual([]);
    const messages = [newId('msg'), newId('msg')];
    for (const [index, message] of messages.entries()) {
      await database()`update webhook_events set subject_id = ${message} where id = ${ids[index]!}`;
      expect(await idsOf(`?message_id=${message}`)).toEqual([ids[index]]);
    }
    await database()`update webhook_events set created_at = now() - interval '1 hour' where id = ${ids[0]!}`;
    const since = new Date(Date.now() - 1_800_000).toISOString();
    expect(await idsOf(`?since=${since}`)).toHaveLength(5);
    const seen: string[] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const { body } = await account.api.get(`${PATH}?limit=2${cursor === '' ? '' : `&cursor=${cursor}`}`);
      seen.push(...body.data.map(({ id }) => id));
      cursor = body.next_cursor;
    }
    expect(seen).toEqual([...ids, link!].reverse());
  });

  it.each(['?state=gone', '?type=message.read', '?cursor=bXNn'])('refuses %s', async (query) => {
    const { api } = await newAccount();
    expect((await api.get(`${PATH}${query}`)).status).toBe(400);
  });
});

describe.concurrent('POST /v1/account/webhook/deliveries/{id}/resend', () => {
  it('delivers the same event again: same id and body, a signature of its own, logged as a further attempt', async () => {
    let letThrough: () => void = () => undefined;
    const held = new Promise<number>((resolve) => (letThrough = () => resolve(200)));
    const { account, receiver } = await withReceiver((call) => (call === 3 ? held : 200));
    await account.api.send({ to: '500100200', text: 'x' });
    await receiver.until((calls) => calls.length === 2);
    const [first] = receiver.calls;
    await eventually(
      () => deliveries(account, '?state=delivered'),
      (now) => now.length === 2,
    );
    const answer = await resend(account, first!.event.id);
    expect(answer).toMatchObject({
      status: 202,
      body: { id: first!.event.id, state: 'pending', resends: 1 },
    });
    letThrough();
    await receiver.until((calls) => calls.length === 3);
    expect(receiver.calls[2]).toMatchObject({ event: first!.event, verified: true, breach: null });
    const again = await eventually(
      () => deliveries(account, '?type=message.sent'),
      (now) => now[0]!.state === 'delivered',
    );
    expect(again[0]!.attempts).toMatchObject([{ attempt: 1 }, { attempt: 2, status_code: 200 }]);
  });

  it('tries three times; an exhausted event that is taken at last is delivered', async () => {
    const { account, receiver } = await withReceiver((call) => (call <= 6 ? 503 : 200));
    await account.api.send({ to: '500100902', text: 'x' });
    const exhausted = (query = '?state=exhausted') => deliveries(account, query);
    const [event] = await eventually(exhausted, (now) => now.length === 1);
    expect((await resend(account, event!.id)).status).toBe(202);
    const twice = await eventually(exhausted, (now) => now[0]?.attempts.length === 6);
    expect(twice[0]).toMatchObject({ state: 'exhausted', resends: 1 });
    expect((await resend(account, event!.id)).status).toBe(202);
    const [taken] = await eventually(
      () => exhausted(''),
      (now) => now[0]!.state === 'delivered',
    );
    expect(taken!.attempts.map(({ attempt, status_code }) => [attempt, status_code])).toEqual([
      ...[1, 2, 3, 4, 5, 6].map((attempt) => [attempt, 503]),
      [7, 200],
    ]);
    expect(await exhausted()).toEqual([]);
    expect(receiver.calls).toHaveLength(7);
  });

  it('one that was left pending for minutes is delivered on request, and no more by anybody else', async () => {
    const { account, receiver } = await withReceiver();
    const told = await oneDelivered(account);
    const left = async (minutes: number): Promise<string> => {
      const id = idFloor('evt', Date.now() - minutes * 60_000) + told.id.slice(-16);
      await database()`
        insert into webhook_events (id, account_id, subject_kind, subject_id, type, snapshot)
        select ${id}, account_id, subject_kind, subject_id, type, snapshot from webhook_events where id = ${told.id}`;
      return id;
    };
    const young = await left(9);
    expect((await resend(account, young)).status).toBe(409);
    await database()`update webhook_events set state = 'exhausted', exhausted_at = now() where id = ${young}`;
    const late = await left(11);
    expect((await resend(account, late)).status).toBe(202);
    await receiver.until((calls) => calls.some(({ event }) => event.id === late));
    const [taken] = await eventually(
      () => deliveries(account, '?state=delivered'),
      (now) => now.some(({ id }) => id === late),
    ).then((now) => now.filter(({ id }) => id === late));
    expect(taken).toMatchObject({ resends: 1, attempts: [{ attempt: 1, status_code: 200 }] });
  });

  it('is under way once at a time, however many ask at once', async () => {
    const { account, receiver } = await withReceiver();
    const event = await oneDelivered(account);
    const answers = await Promise.all(Array.from({ length: 10 }, () => resend(account, event.id)));
    const taken = answers.filter(({ status }) => status === 202);
    expect(taken.length).toBeGreaterThanOrEqual(1);
    for (const { status } of answers) expect([202, 409]).toContain(status);
    await receiver.until((calls) => calls.length === 1 + taken.length);
  });

  it('has its limits: ten times an event, twenty at once, none without a webhook or still on its way', async () => {
    const receiver = await startReceiver();
    open.push(receiver);
    const account = await newAccount();
    const [event, pending] = await storedEvents(account, ['delivered', 'pending']);
    expect((await resend(account, event!)).status).toBe(409);
    await account.api.put('/v1/account/webhook', { url: receiver.url });
    expect((await resend(account, pending!)).status).toBe(409);
    const rounds = async (id: string, count: number, state: string) =>
      await database()`
        insert into webhook_resends (event_id, round, account_id, requested_by, attempts_before, state)
        select ${id}, n, ${account.id}, 'account', 0, ${state} from generate_series(1, ${count}::int) n`;
    await rounds(event!, 9, 'exhausted');
    expect((await resend(account, event!)).status).toBe(202);
    await database()`update webhook_resends set state = 'exhausted' where event_id = ${event!}`;
    expect(await resend(account, event!)).toMatchObject(refusal(409));
    const many = await storedEvents(account, Array<string>(21).fill('delivered'));
    for (const id of many.slice(0, 19)) await rounds(id, 1, 'pending');
    expect((await resend(account, many[19]!)).status).toBe(202);
    // Another round, so that no worker ends it.
    await database()`
      update webhook_resends set state = 'pending', finished_at = null, round = 2 where event_id = ${many[19]!}`;
    const busy = await resend(account, many[20]!);
    expect(busy).toMatchObject(refusal(429));
    expect(busy.headers.get('retry-after')).toBe('10');
  });

  it('answers 404 for unknown events and those of others', async () => {
    const [theirs] = await storedEvents(await newAccount(), ['exhausted']);
    const account = await newAccount();
    await account.api.put('/v1/account/webhook', { url: 'https://example.com/hook' });
    for (const id of [theirs!, newId('evt'), 'evt_%00']) {
      expect((await resend(account, id)).status).toBe(404);
    }
  });
});
