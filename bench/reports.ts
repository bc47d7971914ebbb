import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startPostgres } from '../bin/embedded/postgres.ts';
import { type Database, openDatabase } from '../db/connection.ts';
import { migrate } from '../db/migrate.ts';
import { type Grouping, readReport } from '../db/reports/reports.ts';
import { addDays, divide, polishDay, startOfDay } from '../domain/calendar.ts';
import type { ReportDivision } from '../domain/reports.ts';
import { fillWithMessages, REPORTED } from './reportData.ts';
import { click, liveThrough, type WriteCost } from './reportWrites.ts';
import { median } from './spread.ts';

/**
 * Measures reports (`npx tsx bench/reports.ts`) on a PostgreSQL of its own, over an account with many messages beside
 * another one with as many: each grouping, warm and cold (the server restarted, its files dropped from the system's
 * cache). Then what the index of the reports costs each message, and what counting beside its message costs each click.
 *
 * --messages <n>  messages of each of the two accounts (1000000)
 * --runs <n>      warm runs of each report; their median counts (5)
 * --lives <n>     messages that are sent and delivered with and without the index, and clicks (4000)
 */
const { values } = parseArgs({
  options: {
    messages: { type: 'string', default: '1000000' },
    runs: { type: 'string', default: '5' },
    lives: { type: 'string', default: '4000' },
  },
});
const DIVISIONS: readonly ReportDivision[] = [
  'day',
  'week',
  'month',
  'sender',
  'country',
  'reference',
  'status',
];
const PERIODS = [30, 366];
const NO_FILTER = { sender: null, country: null, reference: null, status: null, type: null };
const PATIENCE_MS = 600_000;

const dataDir = mkdtempSync(join(tmpdir(), 'goniec-reports-'));
chmodSync(dataDir, 0o711);
let postgres = await startPostgres({ dataDir, log: () => undefined });
let sql = openDatabase(postgres.superuserUrl, 1);
try {
  await migrate(postgres.url);
  console.error('fills the tables …');
  await fillWithMessages(sql, Number(values.messages));
  await measureReports();
  await measureWrites();
} finally {
  await sql.end({ timeout: 5 });
  await postgres.stop();
  rmSync(realpathSync(join(dataDir, 'postgres')), { recursive: true, force: true });
  rmSync(dataDir, { recursive: true, force: true });
}

async function measureReports(): Promise<void> {
  console.log(
    '| grouped by | days | messages | warm, median (ms) | of that CPU (ms) | cold (ms) |\n| --- | ---: | ---: | ---: | ---: | ---: |',
  );
  for (const by of DIVISIONS) {
    for (const days of PERIODS) {
      await restartCold();
      const cold = await timed(() => report(by, days));
      const warm: Timing[] = [];
      let messages = 0;
      for (let run = 0; run < Number(values.runs); run += 1) {
        warm.push(await timed(async () => (messages = await report(by, days))));
      }
      const [ms, cpuMs] = [median(warm.map((one) => one.ms)), median(warm.map((one) => one.cpuMs))];
      console.log(`| ${by} | ${days} | ${messages} | ${ms.toFixed(0)} | ${cpuMs} | ${cold.ms.toFixed(0)} |`);
    }
  }
}

/** Asks for a report as the API does; returns its messages. */
async function report(by: ReportDivision, days: number): Promise<number> {
  const to = polishDay(Date.now());
  const first = addDays(to, 1 - days);
  const grouping: Grouping =
    by === 'day' || by === 'week' || by === 'month'
      ? { by: 'time', startsAt: divide(first, to, by).map(({ startsAt }) => startsAt) }
      : { by, limit: 100 };
  const period = { from: startOfDay(first), until: startOfDay(addDays(to, 1)) };
  const query = { accountId: REPORTED, ...period, grouping, filter: NO_FILTER, testMode: false };
  const { groups } = await readReport(sql, query, PATIENCE_MS);
  return groups.at(-1)!.messages;
}

async function restartCold(): Promise<void> {
  await sql.end({ timeout: 5 });
  await postgres.stop();
  const cluster = realpathSync(join(dataDir, 'postgres'));
  execFileSync('find', [
    cluster,
    '-type',
    'f',
    '-size',
    '+0',
    '-exec',
    'dd',
    'if={}',
    'iflag=nocache',
    'count=0',
    'status=none',
    ';',
  ]);
  postgres = await startPostgres({ dataDir, log: () => undefined });
  sql = openDatabase(postgres.superuserUrl, 1);
  await sql`select 1`;
}

async function measureWrites(): Promise<void> {
  const lives = Number(values.lives);
  await click(sql, lives);
  const counted = await click(sql, lives);
  await sql`alter table link_clicks disable trigger link_clicks_effects`;
  const uncounted = await click(sql, lives);
  const size = await sizeOf(sql, 'messages_reports');
  await liveThrough(sql, lives);
  const withIndex = await liveThrough(sql, lives);
  await sql`drop index messages_reports`;
  const without = await liveThrough(sql, lives);
  console.log(
    `\nThe index has ${(size / 2 ** 20).toFixed(0)} MB.\n\n| | ms | bytes of log |\n| --- | ---: | ---: |`,
  );
  const rows: [string, WriteCost][] = [
    ['a message from its draft to its delivery', withIndex],
    ['the same without the index', without],
    ['a click', counted],
    ['the same without its trigger', uncounted],
  ];
  for (const [what, { ms, walBytes }] of rows) {
    console.log(`| ${what} | ${ms.toFixed(3)} | ${walBytes.toFixed(0)} |`);
  }
}

async function sizeOf(database: Database, index: string): Promise<number> {
  const [row] = await database<{ size: number }[]>`select pg_relation_size(${index}::regclass) as size`;
  return row!.size;
}

interface Timing {
  ms: number;
  /** Of the one server process that answers. */
  cpuMs: number;
}

async function timed(work: () => Promise<unknown>): Promise<Timing> {
  const [server] = await sql<{ pid: number }[]>`select pg_backend_pid() as pid`;
  const cpuBefore = cpuMsOf(server!.pid);
  const start = performance.now();
  await work();
  return { ms: performance.now() - start, cpuMs: cpuMsOf(server!.pid) - cpuBefore };
}

function cpuMsOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10;
}
