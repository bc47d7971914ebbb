import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { withTimeout } from '../concurrency/tasks.ts';
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
import { inTraceOf } from '../telemetry/temporalTraces.ts';
import { startOnce } from '../workflows/starts.ts';
import {
  bulkStart,
  emailStart,
  inboundStart,
  lookupStart,
  messageStart,
  notifyStart,
  resendStart,
  topupStart,
} from '../workflows/startOptions.ts';

// Started and not charged yet. More than the workers have slots for would only queue at Temporal, ahead of other accounts' messages.
const IN_FLIGHT_MAX = 20;
// Poll intervals: while there is work, and the longest.
const BUSY_MS = 20;
const IDLE_MS = 100;
const AWAY_MS = 1_000;
const START_MS = 5_000;

/**
 * Starts the workflows of reservations: priority first, accounts in round-robin, no faster than workers take them up. A start not taken up
 * within its lease is repeated, which finds the first one: a worker may die at any line.
 */
export function startAccepted(
  { sql, client }: { sql: Database; client: Client },
  onError: (error: unknown) => void,
): { stop(): Promise<void> } {
  const stopping = new AbortController();
  const { signal } = stopping;
  /** Start times, epoch milliseconds. */
  const inFlight = new Map<string, number>();

  /** Queries the database only when slots run low: most starts are charged within milliseconds. */
  async function freeSlots(): Promise<number> {
    if (inFlight.size < IN_FLIGHT_MAX / 2) return IN_FLIGHT_MAX - inFlight.size;
    const waiting = await stillReserved(sql, [...inFlight.keys()]);
    // Past its lease it is to be started again: Temporal may have lost it, e.g. after a restore from a backup.
    const lostBefore = Date.now() - LEASE_MS;
    for (const [id, since] of inFlight) if (!waiting.has(id) || since <= lostBefore) inFlight.delete(id);
    return IN_FLIGHT_MAX - inFlight.size;
  }

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
  // The API process that took the request is gone, and so is the caller: refunded without asking a provider.
  const lookups = await startableLookups(sql, idsOf('lookup'));
  const traces = new Map(taken.map(({ id, trace }) => [id, trace]));
  const start = (workflow: string, how: Start, apart: boolean) =>
    inTraceOf(traces.get(how.workflowId) ?? null, apart, () => startOne(sql, client, workflow, how));
  const starting = client.withDeadline(Date.now() + START_MS, () =>
    Promise.all([
      ...messages.map((message) => start('message', messageStart(message), message.batched)),
      ...emails.map((email) => start('email', emailStart(email), false)),
      ...lookups.map((lookup) => start('lookup', lookupStart(lookup), false)),
      ...of('reply').map(({ id }) => start('inbound', inboundStart(id), false)),
      ...of('event').map((event) => start('notify', notifyStart(event), false)),
      ...of('resend').map((resend) => start('resend', resendStart(resend), false)),
      ...of('payment').map((payment) => start('topup', topupStart(payment), false)),
      ...of('bulk').map(({ id }) => start('bulk', bulkStart(id), false)),
    ]),
  );
  // The deadline limits each attempt of the SDK, not its retries.
  await withTimeout(starting, START_MS, () => {
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
  | typeof topupStart
  | typeof bulkStart
>;

async function startOne(sql: Database, client: Client, workflow: string, start: Start): Promise<void> {
  // Eager start: the first workflow task comes with the response if this worker has a free slot.
  const how = { ...start, workflowIdConflictPolicy: 'FAIL', requestEagerStart: true } as const;
  if ((await startOnce(client.workflow.start(workflow, how))) !== null) return;
  // Already running: started by a cancel or by an earlier attempt.
  if (start.workflowIdReusePolicy === 'ALLOW_DUPLICATE') return;
  // It may have ended while a restored database has no charge for it: left to the reconciliation.
  const { status } = await client.workflow.getHandle(start.workflowId).describe();
  if (status.name !== 'RUNNING') await settleReservation(sql, start.workflowId);
}
