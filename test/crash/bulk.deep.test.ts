import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { z } from 'zod';
import { type Database, openDatabase } from '../../db/connection.ts';
import { endings } from '../support/endings.ts';
import { eventually, whileProgressing } from '../support/eventually.ts';
import { type Chance, chanceFrom } from './chance.ts';
import { type Separate, startSeparately } from './installation.ts';
import { SEED } from './seed.ts';

const RECIPIENTS = Number(process.env['CRASH_BULK'] ?? 2_000);
const PRICE = 10;
const OPENING = 1_000_000;
const FIRST = 600_000_000;
// Of a request that its caller has lost nobody decides any more after so long.
const DECIDED_MS = 40_000;
// Longer than whatever a killed worker leaves behind takes to be given up.
const IDLE_MS = 120_000;
// Held by progress alone: how long ten thousand take is the machine's affair.
const NO_LIMIT = 0;

const started = endings();
afterEach(() => started.all());

// The simulated network delivers to all but the last hundred of each thousand, where its documented endings are.
const ORDINARY = 900;
const numbers = Array.from(
  { length: RECIPIENTS },
  (_, index) => `+48${FIRST + Math.floor(index / ORDINARY) * 1_000 + (index % ORDINARY)}`,
);
// Two of a hundred.
const MALFORMED_EACH = 50;
const blocked = numbers.filter((_, index) => index % 33 === 0);

async function prepared(service: Separate): Promise<{ account: string; token: string }> {
  const created = await service.admin(
    ...['accounts', 'create', '--name', 'Bulk', '--mode', 'live', '--balance', String(OPENING)],
    ...['--price', String(PRICE)],
  );
  const account = z.string().parse(created['id']);
  const { token } = await service.admin(
    ...['tokens', 'create', '--account', account, '--label', 'crash', '--rate-limit', '100000'],
  );
  const { key } = await service.admin('keys', 'create', '--account', account);
  for (let from = 0; from < blocked.length; from += 1_000) {
    const response = await fetch(`${service.apiUrls[0]}/v1/blacklist`, {
      method: 'POST',
      headers: { authorization: `Bearer ${String(key)}`, 'content-type': 'application/json' },
      body: JSON.stringify({ msisdns: blocked.slice(from, from + 1_000) }),
    });
    expect(response.status).toBe(201);
  }
  return { account, token: z.string().parse(token) };
}

/** Its status is 0 where the connection was lost. */
interface Answer {
  status: number;
  body: unknown;
}

async function ask(url: string, token: string, body: object = toAll(numbers)): Promise<Answer> {
  try {
    const response = await fetch(`${url}/v1/sms/bulk`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    return { status: response.status, body: await response.json() };
  } catch {
    return { status: 0, body: null };
  }
}

const toAll = (recipients: readonly string[]) => ({ recipients, message: 'Promocja do piątku.' });

const countOf = async (sql: Database, account: string): Promise<Record<string, number>> => {
  const rows = await sql<{ status: string; count: number }[]>`
    select case when status = 'queued' and submission = 'unanswered' then submission else status end as status,
           count(*)::int as count
      from messages where account_id = ${account} group by 1`;
  return Object.fromEntries(rows.map(({ status, count }) => [status, count]));
};

const ended = ({ delivered = 0, unanswered = 0 }: Record<string, number>): number => delivered + unanswered;

/** How many messages an account has, once no statement about them is under way. */
async function atRest(sql: Database, account: string): Promise<number> {
  await eventually(
    () => sql`
      select from pg_stat_activity
       where datname = current_database() and query ilike '%insert into messages%' and state <> 'idle' and pid <> pg_backend_pid()`,
    ({ count }) => count === 0,
    DECIDED_MS,
  );
  return Object.values(await countOf(sql, account)).reduce((sum, count) => sum + count, 0);
}

/** Asks until the bulk is accepted; whoever asks is killed meanwhile, once. What its caller lost is all or nothing. */
async function acceptedOnce(
  service: Separate,
  sql: Database,
  account: string,
  token: string,
  chance: Chance,
) {
  const asking = ask(service.apiUrls[0]!, token);
  await delay(chance.between(50, 1_500));
  await service.apis[0].kill();
  const { status: first } = await asking;
  await service.apis[0].start();
  if (first === 200) return;
  expect(first).toBe(0);
  // A statement that was under way is carried out although nobody hears of it.
  const accepted = await atRest(sql, account);
  console.log(`the caller lost its answer: ${accepted} of ${RECIPIENTS} accepted`);
  expect([0, RECIPIENTS]).toContain(accepted);
  if (accepted === 0) expect(await ask(service.apiUrls[1]!, token)).toMatchObject({ status: 200 });
}

test(
  'a bulk that API and workers are killed in the middle of is sent to each once, and charged to the grosz',
  async () => {
    const service = await startSeparately();
    started.add(() => service.stop());
    const chance = chanceFrom(SEED, 'bulk');
    const { account, token } = await prepared(service);
    const sql = openDatabase(service.databaseUrl, 2);
    started.add(() => sql.end({ timeout: 5 }));
    const mistyped = numbers.map((number, index) => (index % MALFORMED_EACH === 0 ? `${number}1` : number));
    expect(await ask(service.apiUrls[0]!, token, toAll(mistyped))).toMatchObject({ status: 422 });
    expect(await countOf(sql, account)).toEqual({});
    await acceptedOnce(service, sql, account, token, chance);

    for (const worker of service.workers) {
      await delay(chance.between(500, 8_000));
      await worker.kill();
      await worker.start();
    }
    const sent = RECIPIENTS - blocked.length;
    // What a worker was submitting when it was killed is never submitted again by itself.
    const {
      delivered = 0,
      unanswered = 0,
      ...others
    } = await whileProgressing(() => countOf(sql, account), {
      progress: ended,
      holds: (counts) => ended(counts) === sent,
      idleMs: IDLE_MS,
    });
    console.log(`${delivered} delivered, ${unanswered} unanswered`);
    expect(others).toEqual({ rejected: blocked.length });

    const [submits] = await sql<{ submits: number; phones: number }[]>`
      select count(*)::int as submits, count(distinct destination)::int as phones from simulator_submits`;
    expect(submits!.submits).toBe(submits!.phones);
    expect(submits!.submits).toBeGreaterThanOrEqual(delivered);
    expect(submits!.submits).toBeLessThanOrEqual(sent);
    const books = await sql`
      select balance_grosze::int as balance,
             (select sum(amount_grosze)::int from ledger_entries where account_id = a.id) as ledger
        from accounts a where id = ${account}`;
    expect(books).toEqual([{ balance: OPENING - PRICE * sent, ledger: OPENING - PRICE * sent }]);
    const rejected = await sql<{ recipient: string }[]>`
      select recipient from messages where account_id = ${account} and status = 'rejected' order by recipient`;
    expect(rejected.map(({ recipient }) => recipient)).toEqual([...blocked].sort());
  },
  NO_LIMIT,
);

const ROUNDS = 5;
const ITEMS = 100;
const CHARGED_MS = 400;

test(
  'items asked for again with their idx after the API was killed are sent once each, and no idx is blocked',
  async () => {
    const service = await startSeparately();
    started.add(() => service.stop());
    const chance = chanceFrom(SEED, 'items');
    const { account, token } = await prepared(service);
    const sql = openDatabase(service.databaseUrl, 2);
    started.add(() => sql.end({ timeout: 5 }));
    const answers: unknown[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const body = { messages: itemsOf(round) };
      const asking = ask(service.apiUrls[0]!, token, body);
      await delay(chance.between(5, CHARGED_MS));
      await service.apis[0].kill();
      const first = await asking;
      expect([0, 200]).toContain(first.status);
      const last = await eventually(
        () => ask(service.apiUrls[1]!, token, body),
        ({ status }) => {
          expect([200, 429, 502]).toContain(status);
          return status === 200;
        },
        DECIDED_MS,
      );
      if (first.status === 200) expect(last.body).toEqual(first.body);
      answers.push(last.body);
      await service.apis[0].start();
    }
    const sent = ROUNDS * ITEMS;
    await whileProgressing(() => countOf(sql, account), {
      progress: ended,
      holds: (counts) => ended(counts) === sent,
      idleMs: IDLE_MS,
    });
    for (const [round, answer] of answers.entries())
      expect((await ask(service.apiUrls[0]!, token, { messages: itemsOf(round) })).body).toEqual(answer);
    const [taken] = await sql`
      select (select count(*)::int from simulator_submits) as submits,
             (select count(distinct destination)::int from simulator_submits) as phones,
             (select count(*)::int from reservations) as reserved,
             (select count(distinct idx)::int from messages) as known,
             (select balance_grosze::int from accounts where id = ${account}) as balance,
             (select sum(amount_grosze)::int from ledger_entries where account_id = ${account}) as ledger`;
    const balance = OPENING - PRICE * sent;
    expect(taken).toEqual({
      submits: sent,
      phones: sent,
      reserved: 0,
      known: sent,
      balance,
      ledger: balance,
    });
  },
  NO_LIMIT,
);

function itemsOf(round: number) {
  return Array.from({ length: ITEMS }, (_, index) => ({
    to: `+48${500_000_000 + round * 1_000 + index}`,
    message: `Kod ${index}`,
    idx: `${round}-${index}`,
  }));
}
