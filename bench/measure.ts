import { statSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import type { Database } from '../db/connection.ts';
import { cpuMs } from './cpu.ts';
import {
  addAccount,
  aRequest,
  deliverySeconds,
  progressOf,
  readStatements,
  resetStatements,
  someMessages,
  type StatementCount,
  storedBytes,
} from './database.ts';
import { type Caller, openCaller, run, type Timing } from './load.ts';
import type { Servers } from './servers.ts';

/** What is under measurement, and the means to look at it. */
export interface Bench {
  servers: Servers;
  sql: Database;
  client: Client;
}

/** One way of sending. */
export interface Scenario {
  name: string;
  requests: number;
  concurrency: number;
  /** Recipients of each request; 1 sends to a single number. */
  recipients: number;
  /** The account's webhook, if it is to have one. */
  webhookUrl?: string;
}

/** What a scenario cost; "per message" divides all that happened until the last workflow had ended. */
export interface Measurement {
  scenario: Scenario;
  messages: number;
  accept: Timing;
  /** From the first acceptance to the last delivery; the simulated network takes one second of it. */
  deliverySeconds: number;
  messagesPerSecond: number;
  /** CPU milliseconds per message by process. */
  cpuMs: Record<string, number>;
  /** Statements per message by process, BEGIN and COMMIT included. */
  statements: Record<string, number>;
  /** Milliseconds of execution in PostgreSQL per message by process. */
  statementMs: Record<string, number>;
  /** Bytes per message: tables with indexes, write-ahead log, Temporal's file. */
  bytes: { tables: number; log: number; temporal: number };
  history: History;
  batchHistory: History | null;
  topStatements: StatementCount[];
}

/** The size of a workflow's past. */
export interface History {
  events: number;
  bytes: number;
  stateTransitions: number;
}

/** What goes on while nothing is sent, per second. */
export interface Idle {
  cpuMs: Record<string, number>;
  statements: Record<string, number>;
}

const DELIVERY_PATIENCE_MS = 180_000;
const POLL_MS = 100;
const IDLE_SECONDS = 5;
const TOP = 12;

/** Runs a scenario on a new account until its last workflow has ended. */
export async function measure(bench: Bench, scenario: Scenario): Promise<Measurement> {
  const { sql, servers } = bench;
  const account = await addAccount(sql);
  const caller = openCaller(servers.apiUrl, account.key, scenario.concurrency);
  try {
    if (scenario.webhookUrl !== undefined) await caller.webhook(scenario.webhookUrl);
    await resetStatements(sql);
    const before = await snapshot(bench);
    const accept = await run(scenario.requests, scenario.concurrency, () => caller.send(numbersOf(scenario)));
    const messages = scenario.requests * scenario.recipients;
    await allDelivered(sql, account.id, messages);
    await allEnded(bench.client, account.id);
    const after = await snapshot(bench);
    const statements = await readStatements(sql);
    const seconds = await deliverySeconds(sql, account.id);
    return {
      scenario,
      messages,
      accept,
      deliverySeconds: seconds,
      messagesPerSecond: messages / seconds,
      cpuMs: per(messages, difference(after.cpu, before.cpu)),
      statements: per(messages, sumByRole(statements, 'calls')),
      statementMs: per(messages, sumByRole(statements, 'totalMs')),
      bytes: {
        tables: (after.tables - before.tables) / messages,
        log: (after.log - before.log) / messages,
        temporal: (after.temporal - before.temporal) / messages,
      },
      history: await historyOf(bench.client, (await someMessages(sql, account.id, 1))[0]!),
      batchHistory:
        scenario.recipients > 1 ? await historyOf(bench.client, await aRequest(sql, account.id)) : null,
      topStatements: statements.slice(0, TOP),
    };
  } finally {
    await caller.close();
  }
}

/** Looks at the service while nobody uses it. */
export async function measureIdle({ sql, servers }: Bench): Promise<Idle> {
  await resetStatements(sql);
  const before = cpuMs(servers.pids);
  await delay(IDLE_SECONDS * 1000);
  const cpu = difference(cpuMs(servers.pids), before);
  return {
    cpuMs: per(IDLE_SECONDS, cpu),
    statements: per(IDLE_SECONDS, sumByRole(await readStatements(sql), 'calls')),
  };
}

/** The time of the smallest request, for what HTTP alone costs. */
export async function measureHealth(bench: Bench, requests: number, concurrency: number): Promise<Timing> {
  const caller: Caller = openCaller(bench.servers.apiUrl, 'none', concurrency);
  try {
    return await run(requests, concurrency, () => caller.health());
  } finally {
    await caller.close();
  }
}

function numbersOf({ recipients }: Scenario): string | string[] {
  const number = (index: number): string => `+48500${String(100_000 + index * 1_000).padStart(6, '0')}`;
  return recipients === 1 ? number(0) : Array.from({ length: recipients }, (_, index) => number(index));
}

async function snapshot({ sql, servers }: Bench) {
  return {
    ...(await storedBytes(sql)),
    temporal: sizeOf(servers.temporalFile) + sizeOf(`${servers.temporalFile}-wal`),
    cpu: cpuMs(servers.pids),
  };
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

async function allDelivered(sql: Database, account: string, messages: number): Promise<void> {
  const deadline = Date.now() + DELIVERY_PATIENCE_MS;
  for (;;) {
    const progress = await progressOf(sql, account);
    if (progress.delivered === messages) return;
    if (Date.now() > deadline) {
      throw new Error(`${progress.delivered} of ${messages} delivered (${progress.messages} stored)`);
    }
    await delay(POLL_MS);
  }
}

async function allEnded(client: Client, account: string): Promise<void> {
  const deadline = Date.now() + DELIVERY_PATIENCE_MS;
  for (;;) {
    const { count } = await client.workflow.count(`Account = '${account}' and ExecutionStatus = 'Running'`);
    if (count === 0) return;
    if (Date.now() > deadline) throw new Error(`${count} workflows did not end`);
    await delay(POLL_MS);
  }
}

async function historyOf(client: Client, workflowId: string): Promise<History> {
  const { raw } = await client.workflow.getHandle(workflowId).describe();
  const info = raw.workflowExecutionInfo;
  return {
    events: Number(info?.historyLength ?? 0),
    bytes: Number(info?.historySizeBytes ?? 0),
    stateTransitions: Number(info?.stateTransitionCount ?? 0),
  };
}

function difference(after: Record<string, number>, before: Record<string, number>): Record<string, number> {
  return Object.fromEntries(
    Object.entries(after).map(([name, value]) => [name, value - (before[name] ?? 0)]),
  );
}

function per(divisor: number, values: Record<string, number>): Record<string, number> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, value / divisor]));
}

function sumByRole(statements: StatementCount[], field: 'calls' | 'totalMs'): Record<string, number> {
  const sums: Record<string, number> = {};
  for (const statement of statements) {
    const role = statement.role === 'start' ? 'service' : statement.role;
    sums[role] = (sums[role] ?? 0) + statement[field];
  }
  return sums;
}
