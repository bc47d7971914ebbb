import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '../../db/ids.ts';
import { erasePerson } from '../../db/maintenance/erasure.ts';
import { maskMsisdn } from '../../domain/msisdn.ts';
import type { ApiAnswer } from '../support/client.ts';
import { eventually } from '../support/eventually.ts';
import { books, database, newAccount, type TestAccount } from '../support/factories.ts';
import { startReceiver, type WebhookReceiver } from '../support/webhookReceiver.ts';
import { refusal } from './refusal.ts';

const PATH = '/v1/verifications';
const TO = '+48500100200';
const PRICE = 10;
const INSTANT = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as string;

let receiver: WebhookReceiver;
beforeAll(async () => void (receiver = await startReceiver()));
afterAll(() => receiver.close());

const start = ({ api }: TestAccount, wish: object = {}, key?: string) =>
  api.post(PATH, { to: TO, ...wish }, key === undefined ? {} : { 'idempotency-key': key });
const check = ({ api }: TestAccount, id: string, code: unknown) => api.post(`${PATH}/${id}/check`, { code });

/** The texts that the phone got of an account, oldest first. */
async function textsOf({ id }: TestAccount, count = 1): Promise<string[]> {
  const rows = await eventually(
    () => database()<{ content: string }[]>`
      select s.content from messages m join simulator_submits s on s.reference = m.id || '/1'
       where m.account_id = ${id} order by m.id`,
    ({ length }) => length >= count,
  );
  return rows.map(({ content }) => content);
}

async function started(account: TestAccount, wish: object = {}): Promise<{ id: string; code: string }> {
  const answer = await start(account, wish);
  expect(answer.status, answer.text).toBe(201);
  const [text = ''] = await textsOf(account);
  return { id: answer.body.id, code: /\d{4,}/.exec(text)![0] };
}

/** A code that is not the right one, another one for each number. */
const wrong = (code: string, n = 1) =>
  String((Number(code) + n) % 10 ** code.length).padStart(code.length, '0');

const changeRow = async (id: string, set: Record<string, Date>) =>
  await database()`update verifications set ${database()(set)} where id = ${id}`;
const secondsAgo = (seconds: number) => new Date(Date.now() - seconds * 1_000);

/** Every row that belongs to an account, as text. */
async function rowsOf({ id }: TestAccount): Promise<string> {
  const tables = await database()<{ name: string }[]>`
    select c.table_name as name from information_schema.columns c
      join information_schema.tables t on t.table_schema = c.table_schema and t.table_name = c.table_name
     where c.table_schema = 'public' and c.column_name = 'account_id' and t.table_type = 'BASE TABLE'`;
  const rows = [];
  for (const { name } of tables)
    rows.push(
      ...(await database()`select to_jsonb(t)::text as row from ${database()(name)} t where account_id = ${id}`),
    );
  return JSON.stringify(rows);
}

describe('POST /v1/verifications', () => {
  it('sends a code that only the phone gets, as a message that costs what any other does', async () => {
    const account = await newAccount({ senders: ['SKLEP'] });
    await account.api.put('/v1/account/webhook', { url: receiver.url });
    const before = Date.now();
    const { status, body } = await start(account, { from: 'SKLEP', code_length: 8 }, 'klucz');
    expect(status).toBe(201);
    expect(body).toEqual({
      ...{ id: expect.stringMatching(/^ver_[0-9a-z]{26}$/) as string, status: 'pending', to: TO },
      ...{ attempts_left: 5, cost_grosze: PRICE, expires_at: INSTANT, approved_at: null },
      ...{ created_at: INSTANT, updated_at: INSTANT },
    });
    const times = body as unknown as { created_at: string; expires_at: string };
    expect(Date.parse(times.expires_at) - Date.parse(times.created_at)).toBe(600_000);
    expect(Math.abs(Date.parse(times.created_at) - before)).toBeLessThan(60_000);
    expect((await account.api.get(`${PATH}/${body.id}`)).body).toEqual(body);
    expect(await books(account.id)).toMatchObject({ balance: 10_000 - PRICE });

    const [text = ''] = await textsOf(account);
    expect(text).toMatch(/^Twój kod: \d{8}\. Ważny 10 min\. Nie podawaj go nikomu\.$/);
    const masked = text.replace(/\d{8}/, '********');
    const message = await eventually(
      async () => (await account.api.get(`/v1/messages?reference=${body.id}`)).body.data[0]!,
      ({ status: now }) => now === 'delivered',
    );
    expect(message).toMatchObject({ text: masked, from: 'SKLEP', to: TO, parts: 1, cost_grosze: PRICE });
    const [row] = await database()`
      select extract(epoch from give_up_at - created_at)::int as seconds from messages where account_id = ${account.id}`;
    expect(row).toEqual({ seconds: 600 });
    expect(await rowsOf(account)).not.toContain(/\d{8}/.exec(text)![0]);
  });

  it.each([
    [
      { locale: 'en', code_length: 4, ttl: 60 },
      /^Your code: \d{4}\. Valid for 1 min\. Do not share it with anyone\.$/,
    ],
    [{ locale: 'pl', code_length: null, ttl: 3_600 }, /^Twój kod: \d{6}\. Ważny 60 min\./],
  ])('takes %j', async (wish, text) => {
    const account = await newAccount();
    await started(account, wish);
    expect(await textsOf(account)).toEqual([expect.stringMatching(text)]);
  });

  it('again, sends the same code while it is pending; guesses stay, its time starts anew', async () => {
    const account = await newAccount({ balance: 3 * PRICE });
    const { id, code } = await started(account, { ttl: 60 });
    await check(account, id, wrong(code));
    const again = await start(account, { locale: 'en', code_length: 8 });
    expect(again).toMatchObject({
      ...{ status: 201, body: { id, status: 'pending', attempts_left: 4, cost_grosze: 2 * PRICE } },
    });
    const { expires_at } = again.body as unknown as { expires_at: string };
    expect(Date.parse(expires_at)).toBeGreaterThan(Date.now() + 500_000);
    expect((await account.api.get(`${PATH}/${id}`)).body).toEqual(again.body);
    expect((await textsOf(account, 2))[1]).toBe(
      `Your code: ${code}. Valid for 10 min. Do not share it with anyone.`,
    );
    expect((await check(account, id, code)).body).toMatchObject({ status: 'approved', attempts_left: 3 });
    expect((await start(account)).body.id).not.toBe(id);
    expect((await start(account)).status).toBe(402);
  });

  it.each([
    [
      'approved',
      async (account: TestAccount, id: string, code: string) => void (await check(account, id, code)),
    ],
    ['expired', (_: TestAccount, id: string) => changeRow(id, { expires_at: secondsAgo(1) })],
    ['failed', guessWrong],
  ])('begins another verification where the last one is %s, which stays so', async (status, end) => {
    const account = await newAccount();
    const { id, code } = await started(account);
    await end(account, id, code);
    const other = await start(account);
    expect(other).toMatchObject({ status: 201, body: { status: 'pending', attempts_left: 5 } });
    expect(other.body.id).not.toBe(id);
    const left = status === 'expired' ? 5 : status === 'failed' ? 0 : 4;
    expect((await check(account, id, code)).body).toMatchObject({ id, status, attempts_left: left });
    expect((await account.api.get(`${PATH}/${id}`)).body).toMatchObject({ id, status });
  });

  it('sends no more codes than the limits allow until one is confirmed, also at once', async () => {
    const account = await newAccount();
    const answers = await Promise.all(Array.from({ length: 6 }, () => start(account)));
    const sent = answers.filter(({ status }) => status === 201);
    expect(new Set(sent.map(({ body }) => body.id)).size).toBe(1);
    expect(sent.map(({ body }) => body.cost_grosze).sort()).toEqual([PRICE, 2 * PRICE, 3 * PRICE]);
    const { id } = sent[0]!.body;
    const refused = answers.find(({ status }) => status !== 201)!;
    expect(refused).toMatchObject(refusal(429, 'to'));
    expect(refused.body.error.message).toContain('w ciągu 10 min: 3.');
    const wait = Number(refused.headers.get('retry-after'));
    expect([wait > 500, wait <= 600]).toEqual([true, true]);
    expect(await books(account.id)).toMatchObject({ balance: 10_000 - 3 * PRICE });
    // Of another number, or another account.
    expect((await start(account, { to: '500100201' })).status).toBe(201);
    expect((await start(await newAccount())).status).toBe(201);

    const sentBefore = (seconds: number, count: number) => database()`
      update verifications set sent_at = array(select now() - make_interval(secs => ${seconds}) from generate_series(1, ${count}::int))
       where id = ${id}`;
    await sentBefore(601, 9);
    expect((await start(account)).status).toBe(201);
    const tenth = await start(account);
    expect(tenth).toMatchObject(refusal(429, 'to'));
    expect(tenth.body.error.message).toContain('w ciągu 1440 min: 10.');
    await sentBefore(86_401, 10);
    expect((await start(account)).status).toBe(201);
    await sentBefore(1, 3);
    expect((await start(account)).status).toBe(429);
    const code = /\d{6}/.exec((await textsOf(account))[0]!)![0];
    expect((await check(account, id, code)).body.status).toBe('approved');
    expect((await start(account)).status).toBe(201);
  });

  it('repeats its answer to a key, however the same is written; other content is 409', async () => {
    const account = await newAccount({ senders: ['SKLEP'], defaultSender: 'SKLEP' });
    const first = await start(account, {}, 'klucz');
    const same = [
      { to: '500100200' },
      { from: 'SKLEP', locale: 'pl', ttl: 600 },
      { from: null, ttl: null, code_length: null },
    ];
    for (const wish of same) {
      const again = await start(account, wish, 'klucz');
      expect([again.status, again.headers.get('idempotent-replayed'), again.text]).toEqual([
        201,
        'true',
        first.text,
      ]);
    }
    expect(await start(account, { ttl: 601 }, 'klucz')).toMatchObject({
      body: { error: { code: 'idempotency_conflict' } },
    });
    expect(await books(account.id)).toMatchObject({ balance: 10_000 - PRICE });
  });

  it('knows an erased person no more, in the answer to a key either', async () => {
    const account = await newAccount();
    const { body } = await start(account, {}, 'klucz');
    await eventually(
      async () => (await account.api.get('/v1/messages')).body.data[0]!,
      ({ status }) => status === 'delivered',
    );
    await erasePerson(database(), { msisdn: TO, accountId: account.id }, maskMsisdn);
    for (const { text } of [await start(account, {}, 'klucz'), await account.api.get(`${PATH}/${body.id}`)])
      expect(JSON.parse(text)).toEqual({ ...body, to: '+48*****200' });
  });

  it('leaves at once, whatever the window of the account', async () => {
    for (const sendWindow of ['00:00-12:00', '12:00-24:00']) {
      const account = await newAccount({ sendWindow });
      await started(account);
    }
  });

  it('goes to who opted out, and not to a number that the account lists itself', async () => {
    const account = await newAccount();
    await account.api.post('/v1/blacklist', { msisdn: TO, reason: 'opt_out' });
    await started(account);
    await account.api.post('/v1/blacklist', { msisdn: TO });
    expect(await start(account)).toMatchObject(refusal(422, 'to'));
    expect(await books(account.id)).toMatchObject({ balance: 10_000 - PRICE });
  });

  it('of a test account, goes to its own numbers for a credit', async () => {
    const account = await newAccount({ mode: 'test', balance: 0, testCredits: 1, verified: [TO] });
    expect(await start(account, { to: '500100201' })).toMatchObject(refusal(403, 'to'));
    const { id, code } = await started(account);
    expect(await books(account.id)).toMatchObject({ balance: 0, credits: 0 });
    expect((await check(account, id, code)).body.status).toBe('approved');
    expect(await start(account)).toMatchObject(refusal(402));
  });

  it.each([
    [{ to: '+4915112345678' }, 422, 'to'],
    [{ to: '221234567' }, 422, 'to'],
    [{ to: '700123456' }, 422, 'to'],
    [{ from: 'OBCY' }, 422, 'from'],
    [{ to: undefined }, 400, 'to'],
    [{ to: [TO] }, 400, 'to'],
    [{ to: 'group:Klienci' }, 400, 'to'],
    [{ to: '50010020' }, 400, 'to'],
    [{ to: '500100200\u0000' }, 400, 'to'],
    [{ locale: 'de' }, 400, 'locale'],
    [{ locale: '__proto__' }, 400, 'locale'],
    [{ ttl: 59 }, 400, 'ttl'],
    [{ ttl: 3_601 }, 400, 'ttl'],
    [{ ttl: 60.5 }, 400, 'ttl'],
    [{ ttl: '600' }, 400, 'ttl'],
    [{ code_length: 3 }, 400, 'code_length'],
    [{ code_length: 9 }, 400, 'code_length'],
    [{ code_length: -1e9 }, 400, 'code_length'],
    [{ from: 'Żółw' }, 400, 'from'],
    [{ text: 'Mój kod' }, 400, 'text'],
    [{ code: '123456' }, 400, 'code'],
  ])('refuses %j with %i, and stores and charges nothing', async (wish, status, param) => {
    const account = await newAccount();
    expect(await start(account, wish)).toMatchObject(refusal(status, param));
    expect(await books(account.id)).toMatchObject({ balance: 10_000 });
    const stored = await database()`select from verifications where account_id = ${account.id}`;
    expect(stored.count).toBe(0);
  });
});

async function guessWrong(account: TestAccount, id: string, code: string): Promise<void> {
  for (let n = 1; n <= 5; n += 1)
    expect((await check(account, id, wrong(code, n))).body).toMatchObject({
      ...{ status: n < 5 ? 'pending' : 'failed', attempts_left: 5 - n, approved_at: null },
    });
}

describe('POST /v1/verifications/{id}/check', () => {
  it('approves for good, and tells the webhook once', async () => {
    const account = await newAccount();
    receiver.useSecret(
      (await account.api.put('/v1/account/webhook', { url: receiver.url })).body.webhook_secret,
    );
    const { id, code } = await started(account);
    expect((await check(account, id, wrong(code))).body).toMatchObject({
      status: 'pending',
      attempts_left: 4,
    });
    const answers = await Promise.all(Array.from({ length: 20 }, () => check(account, id, code)));
    const { body } = answers[0]!;
    expect(body).toMatchObject({ id, status: 'approved', attempts_left: 3, approved_at: INSTANT });
    for (const answer of answers) expect(answer).toMatchObject({ status: 200, body });
    expect(await check(account, id, wrong(code))).toMatchObject(refusal(409, 'code'));
    await changeRow(id, { expires_at: secondsAgo(1) });
    expect((await check(account, id, code)).body.status).toBe('approved');

    const ofIt = () => receiver.calls.filter(({ event }) => JSON.stringify(event).includes(id));
    await receiver.until(() => ofIt().some(({ event }) => event.type === 'verification.approved'));
    const approved = ofIt().filter(({ event }) => event.type === 'verification.approved');
    expect(approved).toMatchObject([
      { verified: true, event: { data: { verification: { id, status: 'approved' } } } },
    ]);
    expect(JSON.stringify(ofIt())).not.toContain(code);
    const events = await database()`select type from webhook_events where subject_id = ${id}`;
    expect(events).toEqual([{ type: 'verification.approved' }]);
  });

  it('of 600 guesses at once, five have an effect', async () => {
    const account = await newAccount();
    const { id, code } = await started(account);
    const guesses = Array.from({ length: 600 }, (_, n) => check(account, id, wrong(code, n + 1)));
    const answers = (await Promise.all(guesses)).filter(({ status }) => status !== 429);
    const left = answers.map(({ status, body }) => {
      const shown = body as unknown as { attempts_left: number };
      return status === 200 ? shown.attempts_left : status;
    });
    for (const open of [1, 2, 3, 4]) expect(left.filter((one) => one === open)).toHaveLength(1);
    expect(left.filter((one) => one === 0)).toHaveLength(answers.length - 4);
    expect((await check(account, id, code)).body).toMatchObject({ status: 'failed', approved_at: null });
  });

  it('counts a wrong length as a guess, and nothing that cannot be a code', async () => {
    const account = await newAccount();
    const { id, code } = await started(account);
    for (const given of [
      Number(code),
      `${code}\n`,
      ` ${code}`,
      '12345a',
      '123',
      '123456789',
      '',
      '１２３４５６',
      null,
      [code],
    ])
      expect(await check(account, id, given), String(given)).toMatchObject(refusal(400, 'code'));
    const more: ApiAnswer = await account.api.post(`${PATH}/${id}/check`, { code, to: TO });
    expect(more).toMatchObject(refusal(400, 'to'));
    expect((await check(account, id, code.slice(2))).body).toMatchObject({
      status: 'pending',
      attempts_left: 4,
    });
    expect((await check(account, id, `${code}0`)).body).toMatchObject({
      status: 'pending',
      attempts_left: 3,
    });
    expect((await check(account, id, code)).body.status).toBe('approved');
  });

  it.each([newId('ver'), newId('msg'), 'ver_x', '%00'])('knows no verification %s', async (id) => {
    const account = await newAccount();
    expect(await check(account, id, '123456')).toMatchObject(refusal(404));
    expect(await account.api.get(`${PATH}/${id}`)).toMatchObject(refusal(404));
  });
});
