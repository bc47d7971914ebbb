import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { type AuditDetails, type AuditEntry, type Request, writeAudit } from '../db/accounts/audit.ts';
import { lockAccount } from '../db/accounts/staff.ts';
import { type Database, type Sql, transaction } from '../db/connection.ts';
import { requireRole } from '../db/people/members.ts';
import { type Actor, actorName, type PersonActor, type StaffActor } from '../domain/actor.ts';
import { StaffRefused } from '../domain/refusals.ts';

const RECORD_ATTEMPTS = 10;
const RECORD_AGAIN_MS = 1_000;

/** Dependencies of staff operations; Temporal and the key are loaded only when needed. */
export interface StaffServices {
  sql: Database;
  temporal: () => Promise<Client>;
  /** The encryption key of the secrets in this database, 32 bytes. */
  secretsKey: () => Promise<Buffer>;
}

/** The same for a process that has them. */
export function staffServices({
  sql,
  temporal,
  secretsKey,
}: Pick<StaffServices, 'sql'> & { temporal: Client; secretsKey: Buffer }): StaffServices {
  return { sql, temporal: () => Promise.resolve(temporal), secretsKey: () => Promise.resolve(secretsKey) };
}

/** Why staff do something, where they are asked for it: audit details. */
export type Grounds = { reason: string; approved_by?: string };

/** @typeParam Who who may ask: staff alone unless the operation says otherwise */
export interface StaffRequest<Input, Who extends Actor = StaffActor> {
  services: StaffServices;
  actor: Who;
  /** The request of a person; staff have none. */
  request?: Request;
  grounds?: Grounds;
  /** What it would do: a change of the database is rolled back, and anything else is not even tried. */
  dryRun?: boolean;
  input: Input;
}

/** Audit fields of one action, besides actor, time and command. */
export interface ActRecord {
  account?: string | null | undefined;
  subject?: string;
  details?: AuditDetails;
  /** It ends access: see {@link AuditEntry}. */
  protective?: boolean;
}

interface Done<Data> extends ActRecord {
  data: Data;
  records?: readonly ActRecord[];
}

/** Commits the audit record of one of several actions, whatever happens to the rest. */
export type Recorder = (act: ActRecord) => Promise<void>;

/** Outcome of one action; `carriedOut` is null if it timed out and may still happen. */
export type ActOutcome<Why> =
  { carriedOut: true | null; record: ActRecord } | { carriedOut: false; why: Why };

export interface ItemOutcome<Why> {
  id: string;
  carriedOut: boolean | null;
  /** Why not: its own reason, the error that ended the run, or not tried after that. Null if it was or may be carried out. */
  why: Why | Error | 'not_tried' | null;
}

/** The message of an error that a refusal passes on. */
export function faultOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

export type StaffOperation<Input, Data, Who extends Actor = StaffActor> = (
  request: StaffRequest<Input, Who>,
) => Promise<Data>;

/** Locks the account of a person who asks for a change, if the role is still the one of the request. @throws StaffRefused */
export async function lockAsPerson(tx: Sql, actor: PersonActor): Promise<void> {
  await lockAccount(tx, actor.accountId);
  await requireRole(tx, actor);
}

/** Makes a staff operation from a database change, written in one transaction with its audit record. @param action its audit name */
export function recorded<Input, Data, Who extends Actor = StaffActor>(
  action: string,
  change: (tx: Sql, input: Input, asked: { services: StaffServices; actor: Who }) => Promise<Done<Data>>,
): StaffOperation<Input, Data, Who> {
  return async ({ services, actor, request, grounds, dryRun = false, input }) => {
    const carryOut = async (tx: Sql) => {
      if (actor.kind === 'person') await lockAsPerson(tx, actor);
      const done = await change(tx, input, { services, actor });
      const entries = entriesOf(actor, action, done, grounds);
      await writeAll(
        tx,
        entries.map((entry) => ({ ...entry, request })),
      );
      if (dryRun) throw new RolledBack(done.data);
      return done.data;
    };
    try {
      return await transaction(services.sql, carryOut);
    } catch (error) {
      if (dryRun && error instanceof RolledBack) return error.data as Data;
      throw error;
    }
  };
}

/** Ends a dry run, whose changes are undone. */
class RolledBack extends Error {
  constructor(readonly data: unknown) {
    super('a dry run');
  }
}

/** A dry run of something that cannot tell beforehand what it will do. */
export class NoDryRunError extends Error {
  override readonly name = 'NoDryRunError';
}

// Those that can tell take whether they are agreed to.
const isUnagreed = (input: unknown): boolean =>
  typeof input === 'object' && input !== null && 'agreed' in input && input.agreed === false;

/**
 * Makes a staff operation that also acts outside the database (binds to an SMSC, signals a workflow): no transaction, audit record
 * afterwards. One that acts on several things may record each right after it.
 * @param action its audit name
 * @throws NoDryRunError in a dry run, unless its input says itself that nothing is `agreed`
 */
export function recordedAfter<Input, Data>(
  action: string,
  act: (services: StaffServices, input: Input, record: Recorder) => Promise<Done<Data>>,
): StaffOperation<Input, Data> {
  return async ({ services, actor, grounds, dryRun = false, input }) => {
    if (dryRun && !isUnagreed(input)) throw new NoDryRunError();
    const record: Recorder = (one) => recordWithRetry(services.sql, [entryOf(actor, action, one, grounds)]);
    const done = await act(services, input, record);
    await recordWithRetry(services.sql, entriesOf(actor, action, done, grounds));
    return done.data;
  };
}

/**
 * Acts on several things in order and records each right after it. A refusal is reported and the rest go on; any other error ends the run.
 * @param act throws errors that concern more than this one thing
 * @param atOnce concurrency
 * @throws what `act` throws, unless something was done before: then the result reports it
 * @throws Error if something was done but could not be recorded
 */
export async function actOnEach<Why>(
  ids: readonly string[],
  record: Recorder,
  act: (id: string) => Promise<ActOutcome<Why>>,
  atOnce = 1,
): Promise<ItemOutcome<Why>[]> {
  const all: ItemOutcome<Why>[] = [];
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

function actedOn<Why>(id: string, result: PromiseSettledResult<ActOutcome<Why>>): ItemOutcome<Why> {
  if (result.status === 'rejected') {
    const error: unknown = result.reason;
    return { id, carriedOut: false, why: error instanceof Error ? error : new Error(String(error)) };
  }
  const one = result.value;
  return { id, carriedOut: one.carriedOut, why: one.carriedOut === false ? one.why : null };
}

function notTried(id: string): ItemOutcome<never> {
  return { id, carriedOut: false, why: 'not_tried' };
}

/** Audit details of the things not carried out or not known to be: id and reason. */
export function notCarriedOut(
  all: readonly ItemOutcome<{ reason: string }>[],
): { id: string; reason: string }[] {
  return all
    .filter(({ carriedOut }) => carriedOut !== true)
    .map(({ id, carriedOut, why }) => ({ id, reason: carriedOut === null ? 'timed_out' : reasonOf(why) }));
}

function reasonOf(why: ItemOutcome<{ reason: string }>['why']): string {
  if (why === null || why === 'not_tried') return 'not_tried';
  if (why instanceof StaffRefused) return why.refusal.reason;
  return why instanceof Error ? 'failed' : why.reason;
}

// The action cannot be undone, so the audit write is retried.
async function recordWithRetry(sql: Database, entries: readonly AuditEntry[]): Promise<void> {
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

function entriesOf(actor: Actor, action: string, done: Done<unknown>, grounds?: Grounds): AuditEntry[] {
  return (done.records ?? [done]).map((act) => entryOf(actor, action, act, grounds));
}

function entryOf(
  actor: Actor,
  action: string,
  { account, subject, details, protective }: ActRecord,
  grounds?: Grounds,
): AuditEntry {
  const about = { account: account ?? null, subject: subject ?? null, details: { ...details, ...grounds } };
  return { actor: actorName(actor), action, ...about, protective };
}
