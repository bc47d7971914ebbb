import { chmodSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startPostgres } from '../dev/postgres.ts';
import { type Database, openDatabase } from '../db/connection.ts';
import { lostLookups } from '../db/lookups/lookups.ts';
import { ledgersAfter } from '../db/money/ledger.ts';
import { openMessagesAfter } from '../db/messages/openMessages.ts';
import { migrate } from '../db/migrate.ts';
import { readStuck, STUCK_KINDS } from '../db/messages/stuck.ts';
import { readFacts, readInternalFacts } from '../db/messages/history.ts';
import { DELIVERY_STATES, readDeliveries } from '../db/webhooks/webhookDeliveries.ts';
import { unnotifiedAfter } from '../db/webhooks/unnotified.ts';
import { fillWithMessages, REPORTED } from './reportData.ts';
import { fillForSupport } from './supportData.ts';
import { median } from './spread.ts';

/**
 * Measures what support and the regular work ask of a database with many messages (`npm run bench:support`), on a
 * PostgreSQL of its own. Temporal's share is left out: it is asked by id, or by lists of a hundred.
 *
 * --messages <n>  in all, half of them of the account that is looked at (1000000)
 * --runs <n>      of each; the median counts (5)
 */
const { values } = parseArgs({
  options: { messages: { type: 'string', default: '1000000' }, runs: { type: 'string', default: '5' } },
});
const runs = Number(values.runs);
const PAGE = 100;

const dataDir = mkdtempSync(join(tmpdir(), 'goniec-support-'));
chmodSync(dataDir, 0o711);
const postgres = await startPostgres(dataDir);
const sql = openDatabase(postgres.url, 2);
try {
  await migrate(postgres.url);
  console.error('fills the tables …');
  await fillWithMessages(sql, Number(values.messages) / 2);
  await fillForSupport(sql);
  for (const [what, ask] of Object.entries(questions(sql))) await measure(what, ask);
} finally {
  await sql.end({ timeout: 5 });
  await postgres.stop();
  rmSync(realpathSync(join(dataDir, 'postgres')), { recursive: true, force: true });
  rmSync(dataDir, { recursive: true, force: true });
}

function questions(at: Database): Record<string, () => Promise<unknown>> {
  const any = { state: null, type: null, messageId: null, since: null, before: null };
  const listed: Record<string, () => Promise<unknown>> = {};
  for (const state of [null, ...DELIVERY_STATES]) {
    const name = state ?? 'any state';
    listed[`webhooks list, ${name}`] = () => readDeliveries(at, { ...any, accountId: null, state }, 20);
    listed[`GET …/webhook/deliveries, ${name}`] = () =>
      readDeliveries(at, { ...any, accountId: REPORTED, state }, 50);
  }
  const rare = { ...any, type: 'link.clicked' };
  listed['GET …/webhook/deliveries, a type of which there is none'] = () =>
    readDeliveries(at, { ...rare, accountId: REPORTED }, 50);
  for (const kind of STUCK_KINDS) {
    listed[`stuck, ${kind}`] = () => readStuck(at, kind, { accountId: null, route: null, minutes: 5 }, 20);
  }
  return {
    ...listed,
    'messages show': async () => {
      const [{ id }] =
        (await at`select id from messages where account_id = ${REPORTED} limit 1 offset 1000`) as unknown as [
          { id: string },
        ];
      const facts = await readFacts(at, id, null);
      return await readInternalFacts(at, facts!);
    },
    'reconciliation: a page of open messages': () => openMessagesAfter(at, '', PAGE),
    'reconciliation: all open messages': () => allOpen(at),
    'reconciliation: 60,000 webhook events, of ten minutes at 100 a second': () => lookAtEvents(at, 60_000),
    'reconciliation: ledgers': () => ledgersAfter(at, '', PAGE),
    'reconciliation: look-ups left': () => lostLookups(at, PAGE),
  };
}

async function allOpen(at: Database): Promise<number> {
  let count = 0;
  for (let after = ''; ;) {
    const page = await openMessagesAfter(at, after, PAGE);
    count += page.length;
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE) return count;
    after = `${last.accountId}/${last.id}`;
  }
}

async function lookAtEvents(at: Database, count: number): Promise<void> {
  const page = 5_000;
  let after = '';
  for (let looked = 0; looked < count; looked += page) {
    const { last } = await unnotifiedAfter(at, after, page);
    if (last === null) throw new Error(`only ${looked} events`);
    after = last;
  }
}

async function measure(what: string, ask: () => Promise<unknown>): Promise<void> {
  const times: number[] = [];
  for (let run = 0; run < runs; run += 1) {
    const from = performance.now();
    await ask();
    times.push(performance.now() - from);
  }
  const [first = 0] = times;
  console.log(
    `${what.padEnd(70)} first ${first.toFixed(1).padStart(9)} ms   median ${median(times).toFixed(1).padStart(9)} ms`,
  );
}
