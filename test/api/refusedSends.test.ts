import { describe, expect, inject, it } from 'vitest';
import { abandonRequest } from '../../db/messages/undecided.ts';
import type { ApiAnswer } from '../support/client.ts';
import { eventually } from '../support/eventually.ts';
import { books, database, newAccount, storedMessages, type TestAccount } from '../support/factories.ts';
import { visit } from '../support/links.ts';
import { visit as open } from '../support/pages.ts';

const LINKS = '{{link:https://example.com/a}} {{opt_out}}';
const later = new Date(Date.now() + 86_400_000).toISOString();
const many = (count: number) => Array.from({ length: count }, (_, i) => `+48500${String(200_000 + i)}`);

/** How many rows of each table are the account's; of requests in their minute, which every request has, nothing. */
async function rowsOf({ id }: Pick<TestAccount, 'id'>): Promise<Record<string, number>> {
  const sql = database();
  const tables = await sql<{ name: string }[]>`
    select c.table_name as name from information_schema.columns c
      join information_schema.tables t on t.table_schema = c.table_schema and t.table_name = c.table_name
     where c.table_schema = 'public' and c.column_name = 'account_id' and t.table_type = 'BASE TABLE'
       and c.table_name not in ('rate_windows', 'account_usage') order by 1`;
  const rows: Record<string, number> = {};
  for (const { name } of tables) {
    const [found] = await sql<{ rows: number }[]>`
      select count(*)::int as rows from ${sql(name)} where account_id = ${id}`;
    if (found!.rows > 0) rows[name] = found!.rows;
  }
  const [links] = await sql<{ rows: number }[]>`
    select count(*)::int as rows from message_links l join messages m on m.id = l.message_id where m.account_id = ${id}`;
  return links!.rows > 0 ? { ...rows, message_links: links!.rows } : rows;
}

/** Every link in the answer's text leads somewhere. */
async function expectLinksToWork({ body }: ApiAnswer): Promise<void> {
  const { apiUrl } = inject('service');
  const [, link, optOut] = /\/l\/(\w{8}) .*\/o\/(\w{10})/.exec(body.text)!;
  expect((await visit(link!)).status).toBe(302);
  expect((await open(`${apiUrl}/o/${optOut!}`, { method: 'HEAD' })).status).toBe(200);
}

/** Holds the account's charges until `work` is done, then takes money away and lets them go on. */
async function whileChargesWait<T>(
  { id }: TestAccount,
  grosze: number,
  drafts: number,
  work: () => Promise<T>,
): Promise<T> {
  let answers: Promise<T> | undefined;
  await database().begin(async (tx) => {
    await tx`select from accounts where id = ${id} for no key update`;
    answers = work();
    answers.catch(() => undefined);
    await eventually(
      () => storedMessages(id),
      (stored) => stored.length === drafts,
    );
    await tx`insert into ledger_entries (account_id, kind, amount_grosze) values (${id}, 'adjustment', ${-grosze})`;
  });
  return await answers!;
}

describe('a send that cannot be paid', () => {
  it.each([
    ['nothing', { balance: 0 }],
    ['a grosz too little', { balance: 4_999 }],
    ['a credit limit a grosz too low', { balance: 0, billing: 'postpaid' as const, creditLimit: 4_999 }],
    ['a test credit too few', { mode: 'test' as const, balance: 0, testCredits: 499, verified: many(500) }],
  ])('leaves no row and starts no workflow: %s', async (_, wish) => {
    const account = await newAccount({ price: 10, ...wish });
    const before = await rowsOf(account);
    for (const key of [undefined, 'k']) {
      const answer = await account.api.send({ to: many(500), text: LINKS }, key);
      expect([answer.status, answer.body.error.code]).toEqual([402, 'insufficient_funds']);
      expect(await rowsOf(account)).toEqual(before);
    }
  });

  it('to the last grosz is accepted', async () => {
    for (const wish of [
      { balance: 5_000 },
      { balance: 0, billing: 'postpaid' as const, creditLimit: 5_000 },
    ]) {
      const { api } = await newAccount({ price: 10, ...wish });
      expect((await api.send({ to: many(500), text: 'x', send_at: later })).status).toBe(201);
    }
  });

  it('and that nobody would get needs no money', async () => {
    const account = await newAccount({ balance: 10, billing: 'postpaid' });
    await database()`
      insert into ledger_entries (account_id, kind, amount_grosze) values (${account.id}, 'adjustment', -500)`;
    await account.api.post('/v1/blacklist', { msisdn: '500100200' });
    const { status, body } = await account.api.send({ to: '500100200', text: 'x' });
    expect([status, body.status]).toEqual([201, 'rejected']);
  });
});

describe('a charge that refuses', () => {
  it('takes all that was written for it away with it, the key too', async () => {
    const account = await newAccount({ balance: 50, price: 10 });
    const before = await rowsOf(account);
    const body = { to: many(5), text: LINKS };
    const answer = await whileChargesWait(account, 1, 5, () => account.api.send(body, 'k'));
    expect([answer.status, answer.body.error.code]).toEqual([402, 'insufficient_funds']);
    expect(await rowsOf(account)).toEqual({ ...before, ledger_entries: 2 });
    await database()`insert into ledger_entries (account_id, kind, amount_grosze) values (${account.id}, 'topup', 1)`;
    const again = await account.api.send({ ...body, text: 'y' }, 'k');
    expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([201, null]);
  });

  it('leaves a link that another message of the account has found meanwhile', async () => {
    const account = await newAccount({ balance: 100, price: 10 });
    const one = { to: '+48500200000', text: LINKS, send_at: later };
    const [refused, sent] = await whileChargesWait(account, 90, 2, async () => {
      const dearer = account.api.send({ ...one, priority: true });
      await eventually(
        () => storedMessages(account.id),
        (stored) => stored.length === 1,
      );
      return await Promise.all([dearer, account.api.send(one)]);
    });
    expect([refused.status, sent.status]).toEqual([402, 201]);
    await expectLinksToWork(sent);
    expect(await rowsOf(account)).toMatchObject({
      messages: 1,
      message_links: 1,
      tracked_links: 1,
      opt_out_links: 1,
    });
  });

  it('or any of thirty at once: what is accepted has its links, of the rest nothing is left', async () => {
    const account = await newAccount({ balance: 100, price: 10 });
    const send = (i: number) =>
      account.api.send({ to: `+4850020000${i % 3}`, text: LINKS, send_at: later }, `k${i}`);
    const answers = await Promise.all(Array.from({ length: 30 }, (_, i) => send(i)));
    // On a crowded machine some are given up first, a few before anybody could end them: the reconciliation does, minutes later.
    for (const { status } of answers) expect([201, 402, 504]).toContain(status);
    const undecided = await database()<{ requestId: string }[]>`
      select distinct request_id from messages where account_id = ${account.id} and status = 'draft'`;
    expect(undecided.length).toBeLessThanOrEqual(answers.filter(({ status }) => status === 504).length);
    for (const { requestId } of undecided) await abandonRequest(database(), requestId);
    // Others were accepted when their caller had been told that nobody knows: asked again, they say so.
    const decided = await Promise.all(
      answers.map((answer, i) => (answer.status === 504 ? send(i) : Promise.resolve(answer))),
    );
    const sent = decided.filter(({ status }) => status === 201);
    expect(sent.length).toBeGreaterThan(0);
    for (const answer of sent) await expectLinksToWork(answer);
    const recipients = new Set(sent.map(({ body }) => body.to)).size;
    expect(await rowsOf(account)).toMatchObject({
      ...{ messages: sent.length, message_links: sent.length, idempotency_keys: sent.length },
      ...{ tracked_links: recipients, opt_out_links: recipients, ledger_entries: 1 + sent.length },
    });
    const left = 100 - 10 * sent.length;
    expect(await books(account.id)).toMatchObject({ balance: left, ledger: left });
  });
});
