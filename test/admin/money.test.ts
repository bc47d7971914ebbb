import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openDatabase } from '../../db/connection.ts';
import { newId } from '../../db/ids.ts';
import { until } from '../support/eventually.ts';
import { commandLine, listIn, ownDatabase, type Answer } from './support.ts';

const database = ownDatabase();
const { run, ok, no } = commandLine(database.url);
const sql = () => database.sql();

async function account(...options: string[]): Promise<string> {
  return String((await ok('accounts', 'create', '--name', 'Apteka', ...options))['id']);
}

async function show(id: string): Promise<Answer> {
  return ok('accounts', 'show', '--account', id);
}

/** Books a charge or refund of its own message, as the pipeline does, at a given time, or now. */
async function messageEntry(
  id: string,
  kind: 'charge' | 'refund',
  grosze: number,
  at: string | null = null,
): Promise<void> {
  const message = newId('msg');
  await sql()`
    insert into messages (id, account_id, request_id, status, accepted_as, recipient, text, parts, cost_grosze,
                          give_up_at, route)
    values (${message}, ${id}, ${newId('req')}, 'queued', 'queued', '+48600100200', 'x', 1, ${Math.abs(grosze)},
            now(), 'simulator')`;
  await sql()`
    insert into ledger_entries (account_id, kind, amount_grosze, subject_kind, subject_id, created_at)
    values (${id}, ${kind}, ${grosze}, 'message', ${message}, coalesce(${at}::timestamptz, now()))`;
}

/** Books a charge or refund of a number look-up, as its workflow does, at a given time, or now. */
async function lookupEntry(
  id: string,
  kind: 'charge' | 'refund',
  grosze: number,
  at: string | null = null,
): Promise<string> {
  const lookup = newId('hlr');
  await sql()`
    insert into number_lookups (id, account_id, msisdn, route, state, cost_grosze)
    values (${lookup}, ${id}, '+48600100200', 'simulator', 'failed', ${Math.abs(grosze)})`;
  await sql()`
    insert into ledger_entries (account_id, kind, amount_grosze, subject_kind, subject_id, created_at)
    values (${id}, ${kind}, ${grosze}, 'lookup', ${lookup}, coalesce(${at}::timestamptz, now()))`;
  return lookup;
}

/** Refunds look-ups that were charged. */
async function refundLookups(id: string, lookups: string[]): Promise<void> {
  await sql()`
    insert into ledger_entries (account_id, kind, amount_grosze, subject_kind, subject_id)
    select account_id, 'refund', -amount_grosze, subject_kind, subject_id from ledger_entries
     where account_id = ${id} and kind = 'charge' and subject_id = any(${lookups})`;
}

/** The command line on a day of its own: what its statements call now() is that instant. */
async function lineAt(instant: string): Promise<ReturnType<typeof commandLine>> {
  await sql().unsafe(`
    create schema if not exists clock;
    grant usage on schema clock to public;
    create or replace function clock.now() returns timestamptz language sql stable as $$ select timestamptz '${instant}' $$`);
  return commandLine(
    () => `${database.url()}?search_path=${encodeURIComponent('clock, pg_catalog, public')}`,
  );
}

describe('top-ups', () => {
  test.each([
    ['50', 5000, 15],
    ['99.99', 9999, 15],
    ['100.5', 10_050, 14],
    ['499.99', 49_999, 14],
    ['500', 50_000, 10],
  ])('%s PLN', async (pln, grosze, price) => {
    const id = await account();
    expect(await ok('topup', '--account', id, '--pln', pln)).toEqual({
      account_id: id,
      amount_grosze: grosze,
      balance_grosze: grosze,
      price_per_part_grosze: price,
      mode: 'live',
    });
  });

  test('a price once reached stays, also below the tiers', async () => {
    const id = await account();
    for (const [pln, price] of [
      ['100', 14],
      ['50', 14],
      ['500', 10],
      ['50', 10],
      ['100', 10],
    ] as const) {
      expect(await ok('topup', '--account', id, '--pln', pln)).toMatchObject({
        price_per_part_grosze: price,
      });
    }
    await ok('accounts', 'set', '--account', id, '--price', '7');
    expect(await ok('topup', '--account', id, '--pln', '5000')).toMatchObject({ price_per_part_grosze: 7 });
    expect(await show(id)).toMatchObject({ balance_grosze: 580_000, mode: 'live', test_credits: 25 });
  });

  test('many at once are all booked, at the best price', async () => {
    const id = await account();
    const amounts = ['50', '500', '100.01', '50.50', '99.99', '100', '50', '50', '75.25', '60'];
    const runs = await Promise.all(amounts.map((pln) => run('topup', '--account', id, '--pln', pln)));
    expect(runs.map(({ code }) => code)).toEqual(amounts.map(() => 0));
    expect(await show(id)).toMatchObject({
      balance_grosze: 113_575,
      price_per_part_grosze: 10,
      mode: 'live',
    });
    const ledger = await ok('ledger', '--account', id);
    expect(ledger).toMatchObject({ agrees: true, sum_grosze: 113_575 });
    expect(listIn(ledger, 'entries').filter(({ kind }) => kind === 'topup')).toHaveLength(amounts.length);
  });

  test('with one reference are booked once, however many are typed at once', async () => {
    const id = await account();
    const words = ['topup', '--account', id, '--pln', '60', '--reference', 'FV 7/2026'];
    const runs = await Promise.all([1, 2, 3].map(() => run(...words)));
    expect(runs.map(({ code }) => code)).toEqual([0, 0, 0]);
    expect(runs.filter(({ out }) => out.includes('was booked before'))).toHaveLength(2);
    expect(await ok(...words)).toMatchObject({ amount_grosze: 6000, balance_grosze: 6000, mode: 'live' });
    const ledger = listIn(await ok('ledger', '--account', id), 'entries');
    expect(ledger.filter(({ reference }) => reference === 'FV 7/2026')).toHaveLength(1);

    const refused = await no('topup', '--account', id, '--pln', '70', '--reference', 'FV 7/2026');
    expect(refused.code).toBe('refused');
    expect(refused.message).toContain('FV 7/2026');
    const other = await ok('topup', '--account', id, '--pln', '70', '--reference', 'FV 8/2026');
    expect(other).toMatchObject({ balance_grosze: 13_000 });
    const stranger = await account();
    for (const reference of ['FV 7/2026', 'FV 8/2026'])
      await ok('topup', '--account', stranger, '--pln', '70', '--reference', reference);
    expect(await ok('accounts', 'show', '--account', stranger)).toMatchObject({ balance_grosze: 14_000 });
  });
});

describe('the ledger', () => {
  test('shows the newest first, and the sum of all', async () => {
    const id = await account('--mode', 'live', '--balance', '100');
    await ok('adjust', '--account', id, '--grosze', '-30', '--note', 'Zwrot za „błąd”');
    expect((await no('adjust', '--account', id, '--grosze=+5', '--note', 'x')).code).toBe('invalid_argument');
    const ledger = await ok('ledger', '--account', id, '--limit', '1');
    expect(ledger).toMatchObject({ balance_grosze: 70, sum_grosze: 70, agrees: true });
    expect(listIn(ledger, 'entries')).toMatchObject([
      { kind: 'adjustment', amount_grosze: -30, note: 'Zwrot za „błąd”', subject_id: null },
    ]);
  });

  test('tells when someone forced the database', async () => {
    const id = await account('--balance', '100');
    const superuser = openDatabase(database.superuserUrl(), 1);
    await superuser.begin(async (tx) => {
      await tx`set local session_replication_role = replica`;
      await tx`update accounts set balance_grosze = 101 where id = ${id}`;
    });
    await superuser.end({ timeout: 1 });
    expect(await ok('ledger', '--account', id)).toMatchObject({
      balance_grosze: 101,
      sum_grosze: 100,
      agrees: false,
    });
  });
});

describe('statements', () => {
  const postpaid = ['--mode', 'live', '--billing', 'postpaid', '--credit-limit', '100000'];

  test('bill a month of the Polish calendar: charges less refunds', async () => {
    const id = await account(...postpaid);
    // March has the change of clocks: it begins at +01:00 and ends at +02:00.
    await messageEntry(id, 'charge', -1, '2026-02-28T22:59:59.999Z');
    await messageEntry(id, 'charge', -100, '2026-02-28T23:00:00Z');
    await messageEntry(id, 'charge', -1000, '2026-03-31T21:59:59.999Z');
    await messageEntry(id, 'refund', 20, '2026-03-15T12:00:00Z');
    await messageEntry(id, 'charge', -4, '2026-03-31T22:00:00Z');
    await ok('adjust', '--account', id, '--grosze', '-7', '--note', 'not a charge');
    const march = await ok('statements', 'issue', '--account', id, '--month', '2026-03');
    expect(march).toMatchObject({ month: '2026-03', amount_grosze: 1080, paid_at: null });
    expect(march['id']).toMatch(/^st_/);
    expect(Date.parse(String(march['due_at'])) - Date.parse(String(march['issued_at']))).toBe(
      14 * 86_400_000,
    );
    expect((await no('statements', 'issue', '--account', id, '--month', '2026-03')).code).toBe('refused');
    expect(await ok('statements', 'issue', '--account', id, '--month', '2026-04')).toMatchObject({
      amount_grosze: 4,
    });
    expect(await ok('statements', 'issue', '--account', id, '--month', '2026-02')).toMatchObject({
      amount_grosze: 1,
    });
    const months = listIn(await ok('statements', 'list', '--account', id)).map(({ month }) => month);
    expect(months).toEqual(['2026-04', '2026-03', '2026-02']);
  });

  test('bill an account that was prepaid from when it is postpaid, and no refund of what was prepaid', async () => {
    const id = await account('--mode', 'live');
    const setBilling = (billing: string) => ok('accounts', 'set', '--account', id, '--billing', billing);
    const charge = async (grosze: number) => await messageEntry(id, 'charge', -grosze);
    const [clock] = await sql()<{ month: string; later: string }[]>`
      select to_char(now() at time zone 'Europe/Warsaw', 'YYYY-MM') as month,
             (now() + interval '40 days')::text as later`;
    const inAMonth = await lineAt(clock!.later);
    const issued = async () => {
      await sql()`delete from statement_documents where statement_id in (select id from statements where account_id = ${id})`;
      await sql()`delete from statements where account_id = ${id}`;
      return (await inAMonth.ok('statements', 'issue', '--account', id, '--month', clock!.month))[
        'amount_grosze'
      ];
    };
    await ok('topup', '--account', id, '--pln', '100');
    await charge(1000);
    const prepaid = await lookupEntry(id, 'charge', -5);
    await setBilling('postpaid');
    await charge(30);
    const billed = await lookupEntry(id, 'charge', -7);
    await refundLookups(id, [prepaid, billed]);
    await charge(200);
    expect(await issued()).toBe(230);

    // Said again, it is postpaid since then all the same.
    await setBilling('postpaid');
    await ok('accounts', 'set', '--account', id, '--name', 'Inna');
    expect(await issued()).toBe(230);

    await setBilling('prepaid');
    await charge(4000);
    await setBilling('postpaid');
    await charge(1);
    expect(await issued()).toBe(1);
  });

  test('are paid once, however many try', async () => {
    const id = await account(...postpaid);
    await messageEntry(id, 'charge', -300, '2026-05-10T12:00:00Z');
    const due = '2026-06-15T00:00:00+02:00';
    const issued = await ok('statements', 'issue', '--account', id, '--month', '2026-05', '--due', due);
    expect(issued['due_at']).toBe('2026-06-14T22:00:00.000Z');
    expect(listIn(await show(id), 'unpaid_statements')).toMatchObject([
      { id: issued['id'], amount_grosze: 300 },
    ]);
    const statement = String(issued['id']);
    const tries = await Promise.all([1, 2, 3, 4].map(() => run('statements', 'pay', statement)));
    expect(tries.map(({ code }) => code).sort()).toEqual([0, 1, 1, 1]);
    expect((await no('statements', 'pay', statement)).message).toContain('paid already');
    expect(await show(id)).toMatchObject({ balance_grosze: 0, unpaid_statements: [] });
    const [payment] = listIn(await ok('ledger', '--account', id), 'entries');
    expect(payment).toMatchObject({
      ...{ kind: 'payment', amount_grosze: 300, note: null },
      ...{ subject_kind: 'statement', subject_id: statement },
    });
  });

  test('are paid in the order of bookings, their account first', async () => {
    const id = await account(...postpaid);
    await messageEntry(id, 'charge', -300, '2026-05-10T12:00:00Z');
    const { id: statement } = await ok('statements', 'issue', '--account', id, '--month', '2026-05');
    let paying: ReturnType<typeof run> | undefined;
    await sql().begin(async (tx) => {
      await tx`select from accounts where id = ${id} for no key update`;
      const [self] = await tx<{ pid: number }[]>`select pg_backend_pid() as pid`;
      paying = run('statements', 'pay', String(statement));
      await until('it waits for the account', async () => {
        const waiting =
          await sql()`select from pg_stat_activity where ${self!.pid} = any(pg_blocking_pids(pid))`;
        return waiting.count > 0;
      });
      await tx`select from statements where id = ${String(statement)} for update nowait`;
    });
    expect((await paying!).code).toBe(0);
  });

  test('one that asks for nothing is paid from the start', async () => {
    const id = await account(...postpaid);
    const issued = await ok('statements', 'issue', '--account', id);
    expect(issued).toMatchObject({ amount_grosze: 0, paid_at: issued['issued_at'] });
    expect((await no('statements', 'pay', String(issued['id']))).code).toBe('refused');
  });

  test.each([
    // March begins at +01:00 and ends at +02:00.
    [
      '2026-03',
      '2026-02',
      '2026-03-31T22:00:00.000Z',
      '2026-03-31T22:04:59.999Z',
      '2026-03-31T22:05:00.000Z',
    ],
    [
      '2026-12',
      '2026-11',
      '2026-12-31T23:00:00.000Z',
      '2026-12-31T23:04:59.999Z',
      '2026-12-31T23:05:00.000Z',
    ],
  ])(
    'of %s wait until no charge that began in it can be on its way any more',
    async (month, before, midnight, early, settled) => {
      const id = await account(...postpaid);
      for (const at of [midnight, early]) {
        const line = await lineAt(at);
        const { code, message } = await line.no('statements', 'issue', '--account', id, '--month', month);
        expect(code).toBe('invalid_argument');
        expect(message).toContain(`may be issued from ${settled}`);
      }
      const line = await lineAt(early);
      expect(await line.ok('statements', 'issue', '--account', id)).toMatchObject({ month: before });
      // One that was on its way at midnight.
      await messageEntry(id, 'charge', -15, new Date(Date.parse(midnight) - 1).toISOString());
      const later = await lineAt(settled);
      expect(await later.ok('statements', 'issue', '--account', id)).toMatchObject({
        ...{ month, amount_grosze: 15 },
      });
    },
  );

  test('are written into new files once a worker has made their documents', async () => {
    const id = await account(...postpaid);
    const statement = String((await ok('statements', 'issue', '--account', id))['id']);
    const folder = mkdtempSync(join(tmpdir(), 'goniec-statements-'));
    const wordsFor = (format: string, out: string) => [
      'statements',
      format,
      '--statement',
      statement,
      '--out',
      out,
    ];
    expect((await no(...wordsFor('pdf', join(folder, 'early')))).code).toBe('not_found');
    const documents = { pdf: Buffer.from('%PDF ś'), csv: Buffer.from('day,type') };
    await sql()`
      update statement_documents set ${sql()({ ...documents, made_at: new Date() })} where statement_id = ${statement}`;
    for (const [format, content] of Object.entries(documents)) {
      const out = join(folder, format);
      expect(await ok(...wordsFor(format, out))).toEqual({ statement, out, bytes: content.length });
      expect(readFileSync(out)).toEqual(content);
      expect(await database.lastAudit()).toMatchObject({
        action: `statements ${format}`,
        subject: statement,
      });
      expect((await no(...wordsFor(format, out))).message).toContain('file already exists');
    }
    rmSync(folder, { recursive: true });
  });

  test('are for postpaid accounts and months that are over', async () => {
    const prepaid = await account('--mode', 'live');
    expect((await no('statements', 'issue', '--account', prepaid)).code).toBe('refused');
    const [now] = await sql()<{ month: string }[]>`
      select to_char(now() at time zone 'Europe/Warsaw', 'YYYY-MM') as month`;
    const id = await account(...postpaid);
    const { code, message } = await no('statements', 'issue', '--account', id, '--month', now?.month ?? '');
    expect(code).toBe('invalid_argument');
    expect(message).toContain('not over');
  });
});
