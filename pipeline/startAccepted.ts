import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { waitFor } from '../concurrency/tasks.ts';
import { startableEmails } from '../db/emails/accept.ts';
import { startableLookups } from '../db/lookups/lookups.ts';
import type { Database } from '../db/connection.ts';
import { startableMessages } from '../db/messages/submissions.ts';
import {
  type Reserved,
  settleReservation,
  stillReserved,
  takeReserved,
  LEASE_MS,
} from '../db/money/reservations.ts';
import { causedBy } from '../telemetry/temporalTraces.ts';
import { startOnce } from '../workflows/starts.ts';
import {
  emailStart,
  inboundStart,
  lookupStart,
  messageStart,
  notifyStart,
  resendStart,
} from '../workflows/startOptions.ts';

// Started and not charged yet. Whatever is started beyond what the workers have slots for would only wait at Temporal, in front of the
// messages of others.
const IN_FLIGHT_MAX = 20;
// Between two looks at the table: while there is work, and at most.
const BUSY_MS = 20;
const IDLE_MS = 100;
// While Temporal or the database is away.
const AWAY_MS = 1_000;
const START_MS = 5_000;

/**
 * Starts the workflows of what was accepted: those with priority first, the accounts in turns, and no faster than they take it up. What is
 * not taken up within some seconds of its start is started again, which finds the first: so a worker may die at any line.
 */
export function startAccepted(
  { sql, client }: { sql: Database; client: Client },
  onError: (error: unknown) => void,
): { stop(): Promise<void> } {
  const stopping = new AbortController();
  const { signal } = stopping;
  /** Since when, in epoch milliseconds. */
  const inFlight = new Map<string, number>();

  /** Looked for only where slots become few: what is under way is mostly charged within some milliseconds. */
  async function freeSlots(): Promise<number> {
    if (inFlight.size < IN_FLIGHT_MAX / 2) return IN_FLIGHT_MAX - inFlight.size;
    const waiting = await stillReserved(sql, [...inFlight.keys()]);
    // One that waits for longer is to be taken again: Temporal may have lost it, restored from a backup say.
    const lostBefore = Date.now() - LEASE_MS;
    for (const [id, since] of inFlight) if (!waiting.has(id) || since <= lostBefore) inFlight.delete(id);
    return IN_FLIGHT_MAX - inFlight.size;
  }

  /** @returns whether there was anything to start */
  async function startNext(): Promise<boolean> {
    const slots = await freeSlots();
    if (slots === 0) return true;
    const taken = await takeReserved(sql, slots);
    for (const { id } of taken) inFlight.set(id, Date.now());
    await startAll(sql, client, taken);
    return taken.length > 0;
  }

  async function run(): Promise<void> {
    let pauseMs = BUSY_MS;
    while (!signal.aborted) {
      try {
        pauseMs = (await startNext()) ? BUSY_MS : Math.min(pauseMs * 1.5, IDLE_MS);
      } catch (error) {
        onError(error);
        inFlight.clear();
        pauseMs = AWAY_MS;
      }
      await delay(pauseMs, undefined, { signal }).catch(() => undefined);
    }
  }

  const running = run();
  return {
    async stop() {
      stopping.abort();
      await running;
    },
  };
}

async function startAll(sql: Database, client: Client, taken: readonly Reserved[]): Promise<void> {
  const of = (kind: Reserved['kind']) => taken.filter((one) => one.kind === kind);
  const idsOf = (kind: Reserved['kind']) => of(kind).map(({ id }) => id);
  const messages = await startableMessages(sql, idsOf('message'));
  const emails = await startableEmails(sql, idsOf('email'));
  // Their API is gone, and so is their caller: they are refunded, and nobody is asked.
  const lookups = await startableLookups(sql, idsOf('lookup'));
  const traces = new Map(taken.map(({ id, trace }) => [id, trace]));
  const start = (workflow: string, how: Start, apart: boolean) =>
    causedBy(traces.get(how.workflowId) ?? null, apart, () => startOne(sql, client, workflow, how));
  const starting = client.withDeadline(Date.now() + START_MS, () =>
    Promise.all([
      ...messages.map((message) => start('message', messageStart(message), message.batched)),
      ...emails.map((email) => start('email', emailStart(email), false)),
      ...lookups.map((lookup) => start('lookup', lookupStart(lookup), false)),
      ...of('reply').map(({ id }) => start('inbound', inboundStart(id), false)),
      ...of('event').map((event) => start('notify', notifyStart(event), false)),
      ...of('resend').map((resend) => start('resend', resendStart(resend), false)),
    ]),
  );
  // The deadline ends each attempt of the SDK, not its attempts.
  await waitFor(starting, START_MS, () => {
    throw new Error('Temporal did not answer in time');
  });
}

type Start = ReturnType<
  | typeof messageStart
  | typeof emailStart
  | typeof lookupStart
  | typeof inboundStart
  | typeof resendStart
  | typeof notifyStart
>;

async function startOne(sql: Database, client: Client, workflow: string, start: Start): Promise<void> {
  // Its first task comes along, where this worker has a place for it.
  const how = { ...start, workflowIdConflictPolicy: 'FAIL', requestEagerStart: true } as const;
  if ((await startOnce(client.workflow.start(workflow, how))) !== null) return;
  // It runs: a cancel has started it, or an earlier attempt.
  if (start.workflowIdReusePolicy === 'ALLOW_DUPLICATE') return;
  // Or it has ended without its charge, as far as a restored database knows: the reconciliation looks at that.
  const { status } = await client.workflow.getHandle(start.workflowId).describe();
  if (status.name !== 'RUNNING') await settleReservation(sql, start.workflowId);
}
