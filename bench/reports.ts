import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startPostgres } from '../dev/postgres.ts';
import { openDatabase } from '../db/connection.ts';
import { migrate } from '../db/migrate.ts';
import { type Grouping, readReport } from '../db/reports/reports.ts';
import { addDays, divide, polishDay, startOfDay } from '../domain/calendar.ts';
import type { ReportDivision } from '../domain/reports.ts';
import { fillWithMessages, REPORTED } from './reportData.ts';
import { liveThrough, type WriteCost } from './reportWrites.ts';
import { median } from './spread.ts';

/**
 * Measures reports (`npx tsx bench/reports.ts`) on a PostgreSQL of its own, over an account with many messages beside
 * another one with as many: each grouping, warm and cold (the server restarted, its files dropped from the system's
 * cache). Then what the index of the reports, and that of the earlier interface's history with its numbering, cost each message, and what
 * counting beside its message costs each click.
 *
 * --messages <n>  messages of each of the two accounts (1000000)
 * --runs <n>      warm runs of each report; their median counts (5). 0: the writes alone
 * --lives <n>     messages that are sent and delivered with and without an index, and clicks (4000)
 * --rounds <n>    times that is done with and without, in turns; the medians count (3)
 */
const { values } = parseArgs({
  options: {
    messages: { type: 'string', default: '1000000' },
    runs: { type: 'string', default: '5' },
    lives: { type: 'string', default: '4000' },
    rounds: { type: 'string', default: '3' },
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
let postgres = await startPostgres(dataDir);
let sql = openDatabase(postgres.superuserUrl, 1);
try {
  await migrate(postgres.url);
  console.error('fills the tables …');
  await fillWithMessages(sql, Number(values.messages));
  if (Number(values.runs) > 0) await measureReports();
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
  postgres = await startPostgres(dataDir);
  sql = openDatabase(postgres.superuserUrl, 1);
  await sql`select 1`;
}

async function measureWrites(): Promise<void> {
  const lives = Number(values.lives);
  // Whole pages are logged after a checkpoint, by chance more or fewer of them: they would hide what is compared.
  await sql`alter system set full_page_writes = off`;
  await sql`select pg_reload_conf()`;
  const live = () => liveThrough(sql, lives);
  console.log(
    '\n| | ms | CPU ms | bytes of log | without: ms | CPU ms | bytes of log |\n| --- | ---: | ---: | ---: | ---: | ---: | ---: |',
  );
  await compare("a message's life: the index of the reports", live, await index('messages_reports'));
  const history = await index('messages_by_sent_key');
  await compare("a message's life: the index of the earlier history", live, history);
  await compare("a message's life: its numbering", live, trigger('messages', 'messages_sent_key'));
}

/** Something that can be taken away and put back. */
interface Part {
  away: () => Promise<unknown>;
  back: () => Promise<unknown>;
}

function trigger(table: string, name: string): Part {
  return {
    away: () => sql`alter table ${sql(table)} disable trigger ${sql(name)}`,
    back: () => sql`alter table ${sql(table)} enable trigger ${sql(name)}`,
  };
}

async function index(name: string): Promise<Part> {
  const [row] = await sql<{ definition: string; size: number }[]>`
    select pg_get_indexdef(${name}::regclass) as definition, pg_relation_size(${name}::regclass) as size`;
  console.error(`${name} has ${(row!.size / 2 ** 20).toFixed(0)} MB`);
  return { away: () => sql`drop index ${sql(name)}`, back: () => sql.unsafe(row!.definition) };
}

/** Writes with and without a part of the schema, in turns, and prints the medians. */
async function compare(what: string, write: () => Promise<WriteCost>, part: Part): Promise<void> {
  const having: WriteCost[] = [];
  const missing: WriteCost[] = [];
  await write();
  for (let round = 0; round < Number(values.rounds); round += 1) {
    having.push(await write());
    await part.away();
    missing.push(await write());
    await part.back();
  }
  const cells = [having, missing].flatMap((costs) => [
    median(costs.map(({ ms }) => ms)).toFixed(3),
    median(costs.map(({ cpuMs }) => cpuMs)).toFixed(3),
    median(costs.map(({ walBytes }) => walBytes)).toFixed(0),
  ]);
  console.log(`| ${[what, ...cells].join(' | ')} |`);
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
