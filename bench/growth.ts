import { setTimeout as delay } from 'node:timers/promises';
import { type Ground, noneRunning, poll } from './contender.ts';
import { type Customer, numbers, type Product, sendMany } from './contenders/product.ts';
import { cpuMs, memoryBytes } from './cpu.ts';
import { readStatements, resetStatements, storedBytes } from './database.ts';
import { sqliteSize } from './fileSize.ts';
import { arrive, type Timing } from './load.ts';
import { difference, per } from './measure.ts';

/** How the service is while so many scheduled messages sleep. */
export interface GrowthStep {
  asleep: number;
  /** Recipients accepted a second, in requests of 500; null for the step without any. */
  acceptedPerSecond: number | null;
  /** Seconds from the first request until every message had its workflow. */
  startedSeconds: number | null;
  /** Of single messages sent at once. */
  accept: Timing;
  /** Bytes by process. */
  memory: Record<string, number>;
  /** While nobody asks for anything, per second: CPU milliseconds by process, statements of API and worker. */
  idleCpuMs: Record<string, number>;
  idleStatements: number;
  /** Bytes in all. */
  tables: number;
  temporalFile: number | null;
}

const SLEEP_MS = 60 * 86_400_000;
const CALM_MS = 10_000;
const IDLE_MS = 10_000;
const RATE = 10;
const SEED = 7;

/**
 * Lets more and more messages sleep, and looks at the service at each step.
 * @param keep told of all steps so far, after each
 */
export async function measureGrowth(
  ground: Ground,
  product: Product,
  { sleeper, other }: { sleeper: Customer; other: Customer },
  {
    steps,
    requests,
    keep,
  }: { steps: number[]; requests: number; keep: (found: GrowthStep[]) => Promise<void> },
): Promise<void> {
  const found = [await look(ground, product, other, { asleep: 0, requests, filled: null })];
  let asleep = 0;
  for (const step of steps) {
    console.error(`${step} messages fall asleep …`);
    const filled = await fill(ground, sleeper, asleep, step);
    asleep = step;
    found.push(await look(ground, product, other, { asleep, requests, filled }));
    await keep(found);
  }
}

interface Filled {
  acceptedPerSecond: number;
  startedSeconds: number;
}

async function fill({ client }: Ground, sleeper: Customer, from: number, to: number): Promise<Filled> {
  const all = to - from;
  const start = performance.now();
  await sendMany(sleeper, all, () => ({ send_at: new Date(Date.now() + SLEEP_MS).toISOString() }));
  const acceptedPerSecond = (all / (performance.now() - start)) * 1000;
  let count = 0;
  await poll(
    Math.max(LOOK_MS, to * LOOK_PER_MESSAGE_MS),
    async () => {
      const query = `Account = '${sleeper.id}' and WorkflowType = 'message' and ExecutionStatus = 'Running'`;
      ({ count } = await client.workflow.count(query));
      return count >= to ? true : null;
    },
    () => `${count} of ${to} workflows`,
    PATIENCE_MS,
  );
  return { acceptedPerSecond, startedSeconds: (performance.now() - start) / 1000 };
}

const LOOK_MS = 500;
// Counting takes the server the longer, the more there are.
const LOOK_PER_MESSAGE_MS = 0.05;
// A hundred thousand workflows take their time to start.
const PATIENCE_MS = 3_600_000;

const BUSY_MS_PER_SECOND = 250;
const WINDOW_MS = 5_000;

/** A workflow is counted when it is started; it sleeps when its first task is done, which may be much later. */
async function untilCalm(pids: Record<string, number>): Promise<void> {
  let busy = Infinity;
  await poll(
    0,
    async () => {
      const before = cpuMs(pids);
      await delay(WINDOW_MS);
      const used = difference(cpuMs(pids), before);
      busy = Object.values(used).reduce((sum, ms) => sum + ms, 0) / (WINDOW_MS / 1000);
      return busy < BUSY_MS_PER_SECOND ? true : null;
    },
    () => `the service still works: ${busy.toFixed(0)} ms of CPU a second`,
    PATIENCE_MS,
  );
}

async function look(
  { servers, client }: Ground,
  product: Product,
  other: Customer,
  { asleep, requests, filled }: { asleep: number; requests: number; filled: Filled | null },
): Promise<GrowthStep> {
  const { sql } = product;
  const pids = { ...servers.pids, ...product.pids };
  await untilCalm(pids);
  await delay(CALM_MS);
  await resetStatements(sql);
  const before = cpuMs(pids);
  await delay(IDLE_MS);
  const idleCpuMs = per(IDLE_MS / 1000, difference(cpuMs(pids), before));
  const statements = await readStatements(sql, Object.values(product.roles));
  const memory = memoryBytes(pids);
  const { tables } = await storedBytes(sql);
  const accept = await arrive(requests, RATE, SEED, () => other.caller.send(numbers(1)[0]!));
  await noneRunning(client, `Account = '${other.id}'`);
  return {
    asleep,
    acceptedPerSecond: filled?.acceptedPerSecond ?? null,
    startedSeconds: filled?.startedSeconds ?? null,
    ...{ accept, memory, idleCpuMs, tables },
    idleStatements: statements.reduce((sum, { calls }) => sum + calls, 0) / (IDLE_MS / 1000),
    temporalFile: servers.temporalFile === null ? null : sqliteSize(servers.temporalFile),
  };
}
