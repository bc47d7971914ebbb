import { describe, expect, it } from 'vitest';
import { newId } from '../../db/ids.ts';
import { addSimulatedReply } from '../../db/routes/simulator.ts';
import { startReceiver } from '../support/webhookReceiver.ts';
import { eventually } from '../support/eventually.ts';
import { database, newAccount, type TestAccount, untilStatus } from '../support/factories.ts';
import { refusal } from './refusal.ts';

let numbers = 0;
/** A number of this test alone: other tests must not receive its replies. */
const newNumber = (): string => `+48${String(660_000_000 + (numbers += 1))}`;

/** Replies of an account as they are after matching, the oldest first; returns their ids. */
async function stored(
  { id }: TestAccount,
  texts: readonly string[],
  more: { sender?: string; read?: boolean; age?: string } = {},
): Promise<string[]> {
  const ids = texts.map(() => newId('in'));
  await database()`
    insert into inbound_messages (id, route, provider_reference, sender, receiver, received_text, state, account_id,
                                  text, matched_by, received_at, read_at)
    select r.id, 'test', r.id, ${more.sender ?? '+48500100200'}, '+48500600700', r.content, 'matched', ${id}, r.content,
           'last_message', now() - ${more.age ?? '0'}::interval, case when ${more.read ?? false} then now() end
      from unnest(${ids}::text[], ${texts as string[]}::text[]) as r(id, content)`;
  return ids;
}

const receiving = (inboundNumber = newNumber()) => newAccount({ inboundNumber });
const list = async ({ api }: TestAccount, query = '') => (await api.get(`/v1/inbound${query}`)).body;
const idsOf = (body: { data: { id: string }[] }) => body.data.map(({ id }) => id);

describe('GET /v1/inbound', () => {
  it('until inbound is enabled: no number, no data, whatever is stored', async () => {
    const account = await newAccount();
    await stored(account, ['a']);
    expect(await list(account)).toEqual({ data: [], next_cursor: null, inbound_number: null, prefix: null });
    await list(account, '?mark_read=true');
    const [row] = await database()`select read_at from inbound_messages where account_id = ${account.id}`;
    expect(row).toEqual({ readAt: null });
  });

  it('shows every field, with the number and the keyword', async () => {
    const number = newNumber();
    const account = await receiving(number);
    const prefix = account.id.slice(-8).toUpperCase();
    await account.api.patch('/v1/account', { inbound_prefix: prefix });
    const [id] = await stored(account, ['Zażółć <script>"😀"\u202e']);
    expect(await list(account)).toEqual({
      data: [
        {
          ...{
            id,
            from: '+48500100200',
            to: '+48500600700',
            text: 'Zażółć <script>"😀"\u202e',
            reply_to: null,
          },
          ...{ matched_by: 'last_message', read_at: null },
          received_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as string,
        },
      ],
      ...{ next_cursor: null, inbound_number: number, prefix },
    });
    expect((await account.api.get('/v1/account')).body).toMatchObject({
      inbound_number: number,
      inbound_prefix: prefix,
    });
  });

  it('pages newest first, 50 by default, 200 at most; nothing skipped or repeated while replies come in', async () => {
    const account = await receiving();
    const ids = await stored(
      account,
      Array.from({ length: 120 }, (_, i) => String(i)),
    );
    const seen: string[] = [];
    const sizes: number[] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const body = await list(account, cursor === '' ? '' : `?cursor=${cursor}`);
      seen.push(...idsOf(body));
      sizes.push(body.data.length);
      await stored(account, ['neu', 'neu']);
      cursor = body.next_cursor;
    }
    expect(sizes).toEqual([50, 50, 20]);
    expect(seen).toEqual([...ids].reverse());
    expect((await list(account, '?limit=200')).data).toHaveLength(126);
    expect((await list(account, '?limit=126')).next_cursor).toBeNull();
    expect((await list(account, '?limit=125')).next_cursor).toMatch(/^[\w-]+$/);
  });

  it('filters by sender in every format, by time, and by unread, alone and together', async () => {
    const account = await receiving();
    const [old] = await stored(account, ['stara'], { age: '2 days', sender: '+48500100201' });
    const [read] = await stored(account, ['czytana'], { read: true, sender: '+48500100201' });
    const [fresh] = await stored(account, ['nowa'], { sender: '+48500100201' });
    const [foreign] = await stored(account, ['obca'], { sender: '+4915112345678' });
    for (const from of ['%2B48500100201', '48500100201', '500100201']) {
      expect(idsOf(await list(account, `?from=${from}`))).toEqual([fresh, read, old]);
    }
    expect(idsOf(await list(account, '?from=4915112345678'))).toEqual([foreign]);
    expect(idsOf(await list(account, '?from=500100999'))).toEqual([]);
    const yesterday = new Date(Date.now() - 86_400_000).toISOString();
    expect(idsOf(await list(account, `?since=${yesterday}`))).toEqual([foreign, fresh, read]);
    expect(idsOf(await list(account, '?unread=true'))).toEqual([foreign, fresh, old]);
    expect(idsOf(await list(account, '?unread=false'))).toEqual([foreign, fresh, read, old]);
    expect(idsOf(await list(account, `?unread=true&from=500100201&since=${yesterday}`))).toEqual([fresh]);
  });

  it('since takes the very moment in', async () => {
    const account = await receiving();
    const [id] = await stored(account, ['a']);
    await database()`update inbound_messages set received_at = '2026-03-01T10:00:00.500Z' where id = ${id!}`;
    expect(idsOf(await list(account, '?since=2026-03-01T10:00:00.500Z'))).toEqual([id]);
    expect(idsOf(await list(account, '?since=2026-03-01T11:00:00.500%2B01:00'))).toEqual([id]);
    expect(idsOf(await list(account, '?since=2026-03-01T10:00:00.501Z'))).toEqual([]);
  });

  it.each([
    ['0000-01-01T00:00:00Z', 1],
    ['9999-12-31T23:59:59-18:00', 0],
  ])('since the year %s, which no database knows', async (since, count) => {
    const account = await receiving();
    await stored(account, ['a']);
    expect((await list(account, `?since=${since}`)).data).toHaveLength(count);
  });

  it('mark_read marks exactly what it returns, and shows it so', async () => {
    const account = await receiving();
    const ids = await stored(account, ['1', '2', '3', '4', '5']);
    const first = await list(account, '?unread=true&mark_read=true&limit=2');
    expect(idsOf(first)).toEqual([ids[4], ids[3]]);
    for (const reply of first.data) expect(reply.read_at).toMatch(/Z$/);
    expect(idsOf(await list(account, '?unread=true'))).toEqual([ids[2], ids[1], ids[0]]);
    const rest = await list(account, `?unread=true&mark_read=true&limit=2&cursor=${first.next_cursor}`);
    expect(idsOf(rest)).toEqual([ids[2], ids[1]]);
    // Read before: shown with the moment of its first reading.
    const again = await list(account, '?mark_read=true');
    expect(idsOf(again)).toEqual([...ids].reverse());
    expect(again.data[0]!.read_at).toBe(first.data[0]!.read_at);
    expect(again.data[4]!.read_at).toMatch(/Z$/);
    expect((await list(account, '?unread=true')).data).toEqual([]);
    expect((await list(account)).data[0]!.read_at).toBe(first.data[0]!.read_at);
    expect((await list(account, '?mark_read=false')).data).toHaveLength(5);
  });

  it('ten readers of unread replies at once: each reply goes to exactly one of them', async () => {
    const account = await receiving();
    const ids = await stored(
      account,
      Array.from({ length: 100 }, (_, i) => String(i)),
    );
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => list(account, '?unread=true&mark_read=true&limit=17')),
    );
    const seen = answers.flatMap(idsOf);
    expect([...seen].sort()).toEqual([...ids].sort());
    expect((await list(account, '?unread=true')).data).toEqual([]);
  });

  it.each([
    ['from=abc', 'from'],
    ['since=wczoraj', 'since'],
    ['unread=1', 'unread'],
    ['mark_read=yes', 'mark_read'],
    ['limit=201', 'limit'],
    ['cursor=in_00000000000000000000000000', 'cursor'],
    ['offset=3', 'offset'],
  ])('refuses ?%s', async (query, param) => {
    const { api } = await receiving();
    const answer = await api.get(`/v1/inbound?${query}`);
    expect(answer).toMatchObject(refusal(400, param));
  });
});

describe('GET /v1/inbound/{id}', () => {
  it('shows one reply, and does not mark it', async () => {
    const account = await receiving();
    const [id] = await stored(account, ['tak']);
    const answer = await account.api.get(`/v1/inbound/${id}`);
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual((await list(account)).data[0]);
    expect(answer.body.read_at).toBeNull();
  });

  it('404 for an unknown id, one of another form, and another account’s', async () => {
    const [account, other] = [await receiving(), await receiving()];
    const [id] = await stored(other, ['tajne']);
    for (const wrong of [
      id,
      'in_00000000000000000000000000',
      'in_x',
      'msg_00000000000000000000000000',
      '%00',
      '%ED%A0%80',
    ]) {
      const answer = await account.api.get(`/v1/inbound/${wrong}`);
      expect([answer.status, answer.body.error.code]).toEqual([404, 'not_found']);
    }
  });
});

describe('a reply on its way', () => {
  async function matched(account: TestAccount, count = 1) {
    return await eventually(
      () => list(account),
      ({ data }) => data.length >= count,
    );
  }

  it('from a phone to the account that wrote to it: history, webhook, and no more messages after STOP', async () => {
    const receiver = await startReceiver();
    try {
      const [number, phone] = [newNumber(), newNumber()];
      const account = await receiving(number);
      const { body: webhook } = await account.api.put('/v1/account/webhook', { url: receiver.url });
      receiver.useSecret(webhook.webhook_secret);
      const message = await account.api.accepted({ to: phone, text: 'Przyjdziesz?' });
      await eventually(
        async () => (await account.api.get(`/v1/messages/${message.id}`)).body.status,
        (status) => status === 'delivered',
      );

      await addSimulatedReply(database(), { from: phone, to: number, text: 'Nie, dziękuję' });
      const first = await matched(account);
      expect(first.data[0]).toMatchObject({
        from: phone,
        to: number,
        text: 'Nie, dziękuję',
        reply_to: message.id,
      });
      const { id } = first.data[0]!;
      expect(id).toMatch(/^in_[0-9a-z]{26}$/);
      expect((await account.api.get(`/v1/inbound/${id}`)).body).toEqual(first.data[0]);
      expect((await account.api.send({ to: phone, text: 'Szkoda.' })).body.status).toBe('queued');

      await addSimulatedReply(database(), { from: phone, to: number, text: 'stop!' });
      await matched(account, 2);
      const refused = await account.api.send({ to: phone, text: 'Jeszcze coś' });
      expect(refused).toMatchObject({ status: 201, body: { status: 'rejected', cost_grosze: 0 } });
      const entry = await account.api.get('/v1/blacklist');
      expect(entry.body.data).toMatchObject([{ msisdn: phone, reason: 'opt_out', expires_at: null }]);

      const received = (calls: typeof receiver.calls) =>
        calls.filter(({ event }) => event.type === 'message.received');
      const calls = received(await receiver.until((all) => received(all).length === 2));
      const data = calls.map(({ event }) => event.data as unknown as { inbound: object; opt_out: boolean });
      const shown = (await list(account)).data;
      expect(data).toEqual([
        { inbound: shown[1], opt_out: false },
        { inbound: shown[0], opt_out: true },
      ]);
      expect(calls.every(({ verified }) => verified)).toBe(true);
    } finally {
      await receiver.close();
    }
  });

  it('on a shared number goes to one account; ids of another’s messages are never shown', async () => {
    const [number, phone] = [newNumber(), newNumber()];
    const [one, two] = [await receiving(number), await receiving(number)];
    const prefix = `K${two.id.slice(-7)}`.toUpperCase();
    await two.api.patch('/v1/account', { inbound_prefix: prefix });
    const message = await one.api.accepted({ to: phone, text: 'x' });
    await untilStatus(one, message.id, 'delivered');
    await addSimulatedReply(database(), { from: phone, to: number, text: `${prefix.toLowerCase()} tak` });
    await addSimulatedReply(database(), { from: phone, to: number, text: 'tak' });
    expect((await matched(one)).data).toMatchObject([{ text: 'tak', reply_to: message.id }]);
    expect((await matched(two)).data).toMatchObject([{ text: 'tak', matched_by: 'prefix', reply_to: null }]);
    expect(JSON.stringify(await list(two))).not.toContain(message.id);
  });
});
