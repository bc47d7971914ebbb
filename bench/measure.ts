import type { Client } from '@temporalio/client';
import { type Database, openDatabase } from '../db/connection.ts';
import type { Contender, Ground, History } from './contender.ts';
import { cpuMs } from './cpu.ts';
import { readStatements, resetStatements, type StatementCount, storedBytes } from './database.ts';
import { folderSize, sqliteSize } from './fileSize.ts';
import { arrive, run, type Timing } from './load.ts';

/** What one saturated run of a contender gave; "per message" divides all that happened until nothing was under way. */
export interface Saturated {
  messages: number;
  requests: number;
  inFlight: number;
  /** Requests that were not accepted in time and sent again; their time goes on. */
  refused: number;
  /** From the first request to the last acknowledged webhook. */
  seconds: number;
  perSecond: number;
  accept: Timing;
  /** CPU milliseconds per message by process. */
  cpuMs: Record<string, number>;
  /** Statements per message by process, BEGIN and COMMIT included. */
  statements: Record<string, number>;
  /** Milliseconds of execution in PostgreSQL per message by process. */
  statementMs: Record<string, number>;
  /** Bytes per message: tables with indexes, write-ahead log, Temporal's file, Redis's files. */
  bytes: { tables: number; log: number; temporal: number | null; extra: number | null };
  history: History | null;
  topStatements: StatementCount[];
}

/** How long accepting took while messages came at a given mean rate. */
export interface HalfLoad {
  messages: number;
  perSecond: number;
  accept: Timing;
}

const TOP = 15;
const HISTORIES = 10;
const SEED = 2026;

/** Sends messages with so many requests open all the time, until the last has ended. */
export async function saturate(
  ground: Ground,
  contender: Contender,
  sql: Database,
  { messages, inFlight }: { messages: number; inFlight: number },
): Promise<Saturated> {
  const requests = Math.max(1, Math.round(messages / contender.recipients));
  const all = requests * contender.recipients;
  const ids: string[] = [];
  const roles = Object.values(contender.roles);
  await resetStatements(sql);
  const before = await snapshot(ground, contender);
  const refused = contender.refused();
  await contender.begin();
  const startedAt = Date.now();
  const running = run(requests, inFlight, async () => {
    ids.push(...(await contender.send()));
  });
  const [accept, endedAt] = await Promise.all([running, contender.ended(all)]);
  await contender.settled();
  const after = await snapshot(ground, contender);
  const statements = await readStatements(sql, roles);
  const seconds = (endedAt - startedAt) / 1000;
  const growth = (field: 'temporal' | 'extra'): number | null =>
    before[field] === null ? null : ((after[field] ?? 0) - before[field]) / all;
  return {
    ...{ messages: all, requests, inFlight, seconds, perSecond: all / seconds, accept },
    refused: contender.refused() - refused,
    cpuMs: per(all, difference(after.cpu, before.cpu)),
    statements: per(all, sumByProcess(contender, statements, 'calls')),
    statementMs: per(all, sumByProcess(contender, statements, 'totalMs')),
    bytes: {
      tables: (after.tables - before.tables) / all,
      log: (after.log - before.log) / all,
      temporal: growth('temporal'),
      extra: growth('extra'),
    },
    history: await historyOf(ground.client, contender, ids.slice(-HISTORIES)),
    topStatements: statements.slice(0, TOP),
  };
}

/** Sends messages one by one at a mean rate, and waits for their end. */
export async function atRate(contender: Contender, perSecond: number, messages: number): Promise<HalfLoad> {
  await contender.begin();
  const [accept] = await Promise.all([
    arrive(messages, perSecond, SEED, () => contender.send()),
    contender.ended(messages * contender.recipients),
  ]);
  await contender.settled();
  return { messages, perSecond, accept };
}

async function snapshot({ servers, smsc, receiver }: Ground, { pids, databaseUrl, extraFolder }: Contender) {
  const sql = openDatabase(databaseUrl ?? servers.databaseUrl, 1);
  try {
    return {
      ...(await storedBytes(sql)),
      temporal: servers.temporalFile === null ? null : sqliteSize(servers.temporalFile),
      extra: extraFolder === null ? null : folderSize(extraFolder),
      cpu: cpuMs({
        ...servers.pids,
        ...pids,
        ...{ load: process.pid, smsc: smsc.pid, receiver: receiver.pid },
      }),
    };
  } finally {
    await sql.end({ timeout: 5 });
  }
}

/** The mean of the given workflows; null where they are none. */
async function historyOf(client: Client, { key }: Contender, ids: string[]): Promise<History | null> {
  if (ids.length === 0 || ['pgboss', 'bullmq'].includes(key)) return null;
  const found = await Promise.all(ids.map((id) => describe(client, id)));
  const mean = (field: keyof History): number =>
    found.reduce((sum, history) => sum + history[field], 0) / found.length;
  return { events: mean('events'), bytes: mean('bytes'), stateTransitions: mean('stateTransitions') };
}

async function describe(client: Client, workflowId: string): Promise<History> {
  const { raw } = await client.workflow.getHandle(workflowId).describe();
  const info = raw.workflowExecutionInfo;
  return {
    events: Number(info?.historyLength ?? 0),
    bytes: Number(info?.historySizeBytes ?? 0),
    stateTransitions: Number(info?.stateTransitionCount ?? 0),
  };
}

/** What was added, by name. */
export function difference(
  after: Record<string, number>,
  before: Record<string, number>,
): Record<string, number> {
  return Object.fromEntries(
    Object.entries(after).map(([name, value]) => [name, value - (before[name] ?? 0)]),
  );
}

/** Each value divided. */
export function per(divisor: number, values: Record<string, number>): Record<string, number> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, value / divisor]));
}

function sumByProcess(
  { roles }: Contender,
  statements: StatementCount[],
  field: 'calls' | 'totalMs',
): Record<string, number> {
  return Object.fromEntries(
    Object.entries(roles).map(([name, role]) => [
      name,
      statements.filter((one) => one.role === role).reduce((sum, one) => sum + one[field], 0),
    ]),
  );
}
