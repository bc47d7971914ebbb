import { describe, expect, it } from 'vitest';
import { type EarlierAccount, newEarlierAccount } from '../../support/earlierClient.ts';
import { newId } from '../../../db/ids.ts';
import { database, untilStatus } from '../../support/factories.ts';

const PATH = '/v1/messages';

/** Puts records of the account into one second, numbered from a place on. */
async function inOneSecond(account: EarlierAccount, second: number, count: number, from = 0): Promise<void> {
  await database()`
    insert into messages (id, account_id, request_id, accepted_as, status, recipient, sender, text, parts, cost_grosze,
                          give_up_at, route, sent_key)
    select 'msg_' || left(replace(gen_random_uuid()::text, '-', ''), 26), ${account.id}, ${newId('req')}, 'queued',
           'queued', '+48500100200', 'TEST', 'x' || i, 1, 10, now(), 'simulator', ${second}::bigint * 1000000 + ${from}::int + i
      from generate_series(1, ${count}) i`;
}

const logs = async (account: EarlierAccount, query = '') => {
  const { status, body } = await account.v1.get(`${PATH}${query}`);
  expect(status).toBe(200);
  return body.data as unknown as {
    count: number;
    next_cursor: number | null;
    messages: { id: string; status: string; sent_at: string }[];
  };
};

async function allPages(account: EarlierAccount, limit: number, between = () => Promise.resolve()) {
  const seen: string[] = [];
  let cursor = '';
  for (;;) {
    const page = await logs(account, `?limit=${limit}${cursor}`);
    expect(page.messages.length).toBeLessThanOrEqual(limit);
    seen.push(...page.messages.map(({ id }) => id));
    if (page.next_cursor === null) return seen;
    expect(page.messages.length).toBeGreaterThan(0);
    cursor = `&cursor=${page.next_cursor}`;
    await between();
  }
}

describe('GET /v1/messages of the earlier interface', () => {
  it('shows a message with every field, from leaving to its report', async () => {
    const account = await newEarlierAccount({ price: 15, senders: ['SKLEP'] });
    const text = 'ż'.repeat(200);
    const sent = await account.v1.post('/v1/sms', {
      to: '+48500100200',
      message: text,
      from: 'SKLEP',
      idx: 'z-1',
    });
    const { id } = sent.body.data.messages[0]!;
    await untilStatus(account, id, 'delivered');
    const { count, next_cursor: next, messages } = await logs(account);
    expect([count, next]).toEqual([1, null]);
    expect(messages[0]).toEqual({
      id,
      smsapi_id: expect.any(String) as string,
      ...{ type: 'sms', sender: 'SKLEP', recipient: '+48500100200', message_preview: 'ż'.repeat(160) },
      ...{ parts: 3, cost_grosze: 45, cost_pln: 0.45, status: 'sent', dlr_status: 'delivered' },
      dlr_updated_at: expect.stringMatching(/Z$/) as string,
      idx: 'z-1',
      sent_at: expect.stringMatching(/:\d\d\.000Z$/) as string,
    });
  });

  it('has what the current interface sent as well, and nothing that waits or was cancelled', async () => {
    const account = await newEarlierAccount();
    const now = await account.api.send({ to: '500100200', text: 'x' });
    const later = { to: '500100200', text: 'x', send_at: new Date(Date.now() + 3_600_000).toISOString() };
    const waiting = await account.api.accepted(later);
    const listed = async () => (await logs(account)).messages.map(({ id }) => id);
    expect(await listed()).toEqual([now.body.id]);
    expect((await account.api.delete(`${PATH}/${waiting.id}`)).status).toBe(200);
    expect(await listed()).toEqual([now.body.id]);
    expect((await logs(account, '?status=failed')).count).toBe(0);
  });

  it.each([1, 200])(
    'loses and repeats nothing of 600 in one second, %i a page, while others are added',
    async (limit) => {
      const account = await newEarlierAccount();
      const second = Math.floor(Date.now() / 1000) - 3_600;
      await inOneSecond(account, second - 1, 3);
      await inOneSecond(account, second, limit === 1 ? 60 : 600);
      await inOneSecond(account, second + 1, 2);
      const before = await database()<
        { id: string }[]
      >`select id from messages where account_id = ${account.id}`;
      let added = 0;
      const seen = await allPages(account, limit, async () => {
        if (added < 5) await inOneSecond(account, second + 60, 1, (added += 1));
      });
      expect(new Set(seen).size).toBe(seen.length);
      expect([...seen].sort()).toEqual(before.map(({ id }) => id).sort());
    },
  );

  it('ends pages at whole seconds, whose cursor is a Unix second', async () => {
    const account = await newEarlierAccount();
    const second = Math.floor(Date.now() / 1000) - 3_600;
    for (const at of [0, 1, 2, 3]) await inOneSecond(account, second + at, 2);
    const first = await logs(account, '?limit=5');
    expect([first.count, first.next_cursor]).toEqual([4, second + 2]);
    const rest = await logs(account, `?limit=5&cursor=${first.next_cursor}`);
    expect([rest.count, rest.next_cursor]).toEqual([4, null]);
  });

  it.each([
    [480, 50],
    [480, 200],
    [45, 50],
  ])('fills a page where the second behind 7 records has %i, %i a page', async (count, limit) => {
    const account = await newEarlierAccount();
    const second = Math.floor(Date.now() / 1000) - 3_600;
    await inOneSecond(account, second + 1, 7);
    await inOneSecond(account, second, count);
    expect((await logs(account, `?limit=${limit}`)).count).toBe(limit);
    expect(await allPages(account, limit)).toHaveLength(7 + count);
  });

  it('is narrowed by status and time', async () => {
    const account = await newEarlierAccount({ balance: 100, price: 10 });
    const good = await account.v1.post('/v1/sms', { to: '+48500100200', message: 'x' });
    const bad = await account.v1.post('/v1/sms', { to: '+48500100902', message: 'x' });
    const [goodId, badId] = [good, bad].map(({ body }) => body.data.messages[0]!.id);
    await untilStatus(account, goodId!, 'delivered');
    await untilStatus(account, badId!, 'failed');
    const ids = async (query: string) => (await logs(account, query)).messages.map(({ id }) => id);
    expect(await ids('?status=delivered')).toEqual([goodId]);
    expect(await ids('?status=sent')).toEqual([goodId]);
    expect(await ids('?status=failed')).toEqual([badId]);
    expect(await ids('?status=not_found')).toEqual([]);
    const [{ sent_at: at } = { sent_at: '' }] = (await logs(account, '?status=delivered')).messages;
    expect(await ids(`?from=${at}&to=${at}&status=delivered`)).toEqual([goodId]);
    expect(await ids(`?from=${new Date(Date.parse(at) + 3_600_000).toISOString()}`)).toEqual([]);
    expect(await ids(`?to=${new Date(Date.parse(at) - 1).toISOString()}`)).toEqual([]);
  });

  it('is of its account alone, whatever the cursor', async () => {
    const account = await newEarlierAccount();
    const stranger = await newEarlierAccount();
    const second = Math.floor(Date.now() / 1000) - 3_600;
    await inOneSecond(account, second, 300);
    const page = await logs(account, '?limit=200');
    expect(page.next_cursor).toBeGreaterThan(10 ** 12);
    expect((await logs(stranger, `?cursor=${page.next_cursor}`)).count).toBe(0);
    expect((await logs(stranger, `?cursor=${second + 10}`)).count).toBe(0);
  });

  it('is closed to an account that was not migrated: 403', async () => {
    const account = await newEarlierAccount();
    await database()`update accounts set legacy_proxy = true where id = ${account.id}`;
    expect((await account.v1.get(PATH)).status).toBe(403);
  });

  it.each([
    ['limit=201', 'limit'],
    ['cursor=-1', 'cursor'],
    ['cursor=9007199254740992', 'cursor'],
    ['status=scheduled', 'status'],
    ['from=wczoraj', 'from'],
    ['page=2', 'page'],
  ])('%s is refused with 422', async (query, field) => {
    const { v1 } = await newEarlierAccount();
    expect(await v1.get(`${PATH}?${query}`)).toMatchObject({
      status: 422,
      body: { error: { details: { field } } },
    });
  });
});
