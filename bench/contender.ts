import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import type { Receiver } from './receiver.ts';
import type { Servers } from './servers.ts';
import type { BenchSmsc } from './smsc.ts';

/** What every contender is started with. */
export interface Ground {
  servers: Servers;
  client: Client;
  smsc: BenchSmsc;
  receiver: Receiver;
  /** Folder for CPU profiles of the contenders' processes, or null. */
  profiles: string | null;
}

/** One way of having messages sent, started and ready. */
export interface Contender {
  key: string;
  /** For tables: what it is, in a few words. */
  title: string;
  /** Its own processes; the role of each in the database has the contender's family and this name: `plain-api`. */
  pids: Record<string, number>;
  roles: Record<string, string>;
  /** Null where it needs no database. */
  databaseUrl: string | null;
  /** Messages of each request. */
  recipients: number;
  /** Sends one request. Returns what was accepted, as far as it has workflows: their ids. */
  send(): Promise<string[]>;
  /** Requests so far that were not accepted in time and had to be sent again. */
  refused(): number;
  /** Forgets what has ended so far. */
  begin(): Promise<void>;
  /** Waits for the end of so many messages. Returns the instant of the last one, epoch milliseconds. */
  ended(messages: number): Promise<number>;
  /** Waits until nothing of it is under way. */
  settled(): Promise<void>;
  /** The folder of a store beside PostgreSQL and Temporal, or null. */
  extraFolder: string | null;
  stop(): Promise<void>;
}

/** The size of a workflow's past. */
export interface History {
  events: number;
  bytes: number;
  stateTransitions: number;
}

const PATIENCE_MS = 600_000;

/**
 * Calls `look` every so often until it gives something.
 * @param progress for the error at the end of the patience, ten minutes unless given
 */
export async function poll<T>(
  everyMs: number,
  look: () => Promise<T | null>,
  progress: () => string,
  patienceMs = PATIENCE_MS,
): Promise<T> {
  const deadline = Date.now() + patienceMs;
  for (;;) {
    const found = await look();
    if (found !== null) return found;
    if (Date.now() > deadline) throw new Error(`waited in vain: ${progress()}`);
    await new Promise((resolve) => setTimeout(resolve, everyMs));
  }
}

// Of a message that is sent and delivered.
const EVENTS = 2;
const POLL_MS = 25;

/**
 * Begin and end by the webhooks that the receiver has acknowledged.
 * @param refused how many requests were refused so far: of some of them nobody knew, and their messages come on top
 */
export function endedByWebhooks(
  receiver: Receiver,
  refused: () => number = () => 0,
): Pick<Contender, 'begin' | 'ended'> {
  let calls = 0;
  let lastAt = 0;
  return {
    async begin() {
      await receiver.counts();
      calls = 0;
    },
    async ended(messages) {
      const wanted = messages * EVENTS;
      return await poll(
        POLL_MS,
        async () => {
          const counts = await receiver.counts();
          if (counts.unsigned > 0) throw new Error(`${counts.unsigned} webhooks without a signature`);
          if (counts.repeated > 0) console.error(`${counts.repeated} webhooks came once more`);
          calls += counts.calls;
          if (counts.calls > 0) lastAt = counts.lastAt;
          if (calls > wanted && refused() === 0) throw new Error(`${calls} webhooks of ${wanted}`);
          return calls >= wanted ? lastAt : null;
        },
        () => `${calls} of ${wanted} webhooks`,
      );
    },
  };
}

/** Waits until no workflow fits the query. */
export async function noneRunning(client: Client, query: string): Promise<void> {
  let running = 0;
  await poll(
    POLL_MS * 4,
    async () => {
      const asked = performance.now();
      ({ count: running } = await client.workflow.count(`${query} and ExecutionStatus = 'Running'`));
      if (running === 0) return true;
      // Counting among very many takes the server its time, which is measured here.
      await delay((performance.now() - asked) * 10);
      return null;
    },
    () => `${running} workflows still run (${query})`,
  );
}
