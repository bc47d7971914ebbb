import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { type AuditDetails, type AuditEntry, writeAudit } from '../db/accounts/audit.ts';
import { type Database, type Sql, transaction } from '../db/connection.ts';
import { StaffRefused } from '../domain/refusals.ts';

const RECORD_ATTEMPTS = 10;
const RECORD_AGAIN_MS = 1_000;

/** What stands behind the operations of staff. The last two are opened by those alone that need them. */
export interface StaffServices {
  sql: Database;
  temporal: () => Promise<Client>;
  /** The key of the secrets in this database, 32 bytes. */
  secretsKey: () => Promise<Buffer>;
}

/** One request of one of our own people. */
export interface StaffRequest<Input> {
  services: StaffServices;
  /** Who acts, as the audit log names them. */
  actor: string;
  input: Input;
}

/** What the audit log says of one thing that was acted on, beyond who, when and which command. */
export interface ActRecord {
  account?: string | null | undefined;
  subject?: string;
  details?: AuditDetails;
}

/** What came of a request, and what the audit log is to say of it. */
interface Done<Data> extends ActRecord {
  data: Data;
  /** Where one request acted on several things: a record of each, instead of one. */
  records?: readonly ActRecord[];
}

/** Writes the record of one of several things that are acted on: it is there from then on, whatever becomes of the rest. */
export type Recorder = (act: ActRecord) => Promise<void>;

/** What came of one act; `carriedOut` is null where nobody answered in time, and it may still be. */
export type Act<Why> = { carriedOut: true | null; record: ActRecord } | { carriedOut: false; why: Why };

/** What came of one of several things. */
export interface ActedOn<Why> {
  id: string;
  /** Null where nobody answered in time: it may still be. */
  carriedOut: boolean | null;
  /** Why it is not: for a reason of its own, by the error that ended all, or not tried after that. Null: it is, or may be. */
  why: Why | Error | 'not_tried' | null;
}

/** @throws StaffRefused */
export type StaffOperation<Input, Data> = (request: StaffRequest<Input>) => Promise<Data>;

/**
 * Makes an operation of a change to the database: change and audit record are written in one transaction, both or neither.
 * @param action what the audit log calls it
 */
export function recorded<Input, Data>(
  action: string,
  change: (tx: Sql, input: Input, services: StaffServices) => Promise<Done<Data>>,
): StaffOperation<Input, Data> {
  return ({ services, actor, input }) =>
    transaction(services.sql, async (tx) => {
      const done = await change(tx, input, services);
      await writeAll(tx, entriesOf(actor, action, done));
      return done.data;
    });
}

/**
 * Makes an operation of what acts outside the database too (binds to an SMSC, signals a workflow): it runs in no transaction, and its
 * audit record is written after it; one that acts on several things may write a record of each right after it.
 * @param action what the audit log calls it
 */
export function recordedAfter<Input, Data>(
  action: string,
  act: (services: StaffServices, input: Input, record: Recorder) => Promise<Done<Data>>,
): StaffOperation<Input, Data> {
  return async ({ services, actor, input }) => {
    const record: Recorder = (one) => recordLate(services.sql, [entryOf(actor, action, one)]);
    const done = await act(services, input, record);
    await recordLate(services.sql, entriesOf(actor, action, done));
    return done.data;
  };
}

/**
 * Acts on several things, in their order, and records each right after it. What is left for a reason of its own is answered, and
 * the rest goes on; any other error ends it, and is answered where something was done before.
 * @param act throws what is of more than this one thing
 * @param atOnce how many are acted on at a time
 * @throws what `act` throws, where nothing was done before
 * @throws Error where something was done that could not be recorded
 */
export async function actOnEach<Why>(
  ids: readonly string[],
  record: Recorder,
  act: (id: string) => Promise<Act<Why>>,
  atOnce = 1,
): Promise<ActedOn<Why>[]> {
  const all: ActedOn<Why>[] = [];
  for (let next = 0; next < ids.length;) {
    const some = ids.slice(next, next + atOnce);
    next += some.length;
    const unrecorded: unknown[] = [];
    const results = await Promise.allSettled(
      some.map(async (id) => {
        const one = await act(id);
        if (one.carriedOut !== false)
          await record(one.record).catch((error: unknown) => void unrecorded.push(error));
        return one;
      }),
    );
    if (unrecorded.length > 0) throw unrecorded[0];
    all.push(...results.map((result, index) => actedOn(some[index]!, result)));
    const failed = results.find((result) => result.status === 'rejected');
    if (failed === undefined) continue;
    if (all.every(({ carriedOut }) => carriedOut === false)) throw failed.reason;
    return [...all, ...ids.slice(next).map(notTried)];
  }
  return all;
}

function actedOn<Why>(id: string, result: PromiseSettledResult<Act<Why>>): ActedOn<Why> {
  if (result.status === 'rejected') {
    const error: unknown = result.reason;
    return { id, carriedOut: false, why: error instanceof Error ? error : new Error(String(error)) };
  }
  const one = result.value;
  return { id, carriedOut: one.carriedOut, why: one.carriedOut === false ? one.why : null };
}

function notTried(id: string): ActedOn<never> {
  return { id, carriedOut: false, why: 'not_tried' };
}

/** What the audit log says of those that are not carried out, or not known to be: why, by the name of the reason. */
export function leftOf(all: readonly ActedOn<{ reason: string }>[]): { id: string; reason: string }[] {
  return all
    .filter(({ carriedOut }) => carriedOut !== true)
    .map(({ id, carriedOut, why }) => ({ id, reason: carriedOut === null ? 'timed_out' : reasonOf(why) }));
}

function reasonOf(why: ActedOn<{ reason: string }>['why']): string {
  if (why === null || why === 'not_tried') return 'not_tried';
  if (why instanceof StaffRefused) return why.refusal.reason;
  return why instanceof Error ? 'failed' : why.reason;
}

// What is done cannot be undone, so its record is not given up at the first failure.
async function recordLate(sql: Database, entries: readonly AuditEntry[]): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await transaction(sql, (tx) => writeAll(tx, entries));
    } catch (error) {
      if (attempt === RECORD_ATTEMPTS) {
        throw new Error(`${namesOf(entries)} was carried out, but not recorded`, { cause: error });
      }
      await delay(RECORD_AGAIN_MS);
    }
  }
}

function namesOf([first]: readonly AuditEntry[]): string {
  return [first?.action, first?.subject].filter((name) => typeof name === 'string').join(' ');
}

async function writeAll(tx: Sql, entries: readonly AuditEntry[]): Promise<void> {
  for (const entry of entries) await writeAudit(tx, entry);
}

function entriesOf(actor: string, action: string, done: Done<unknown>): AuditEntry[] {
  return (done.records ?? [done]).map((act) => entryOf(actor, action, act));
}

function entryOf(actor: string, action: string, { account, subject, details }: ActRecord): AuditEntry {
  return { actor, action, account: account ?? null, subject: subject ?? null, details: details ?? {} };
}
