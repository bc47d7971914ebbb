import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { type AuditDetails, type AuditEntry, writeAudit } from '../db/accounts/audit.ts';
import type { Database, Sql } from '../db/connection.ts';
import { transaction } from '../db/transaction.ts';

const RECORD_ATTEMPTS = 10;
const RECORD_AGAIN_MS = 1_000;

/** What stands behind the operations of staff. The last two are asked for by those alone that need them. */
export interface StaffServices {
  sql: Database;
  temporal: () => Promise<Client>;
  /** The key of the secrets in this database, 32 bytes. */
  secretsKey: () => Promise<Buffer>;
}

/** One thing that one of our own people asks of the service, whichever door it came through. */
export interface StaffAsked<Input> {
  services: StaffServices;
  /** Who asks, as the audit log names them. */
  actor: string;
  input: Input;
}

/** What the audit log says of one thing that was acted on, beyond who, when and what was asked. */
export interface ActRecord {
  account?: string;
  subject?: string;
  details?: AuditDetails;
}

/** What came of a request, and what the audit log is to say of it. */
export interface Done<Data> extends ActRecord {
  data: Data;
  /** Where one request acted on several things: a record of each, instead of one. */
  records?: readonly ActRecord[];
}

/** @throws StaffRefused */
export type StaffOperation<Input, Data> = (asked: StaffAsked<Input>) => Promise<Data>;

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
 * Makes an operation of what acts outside the database too (asks an SMSC, signals a workflow): it runs in no transaction, and its
 * audit record is written after it.
 * @param action what the audit log calls it
 */
export function recordedAfter<Input, Data>(
  action: string,
  act: (services: StaffServices, input: Input) => Promise<Done<Data>>,
): StaffOperation<Input, Data> {
  return async ({ services, actor, input }) => {
    const done = await act(services, input);
    await recordLate(services.sql, entriesOf(actor, action, done));
    return done.data;
  };
}

// What is done cannot be taken back, so its record is not given up at the first failure.
async function recordLate(sql: Database, entries: readonly AuditEntry[]): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await transaction(sql, (tx) => writeAll(tx, entries));
    } catch (error) {
      if (attempt === RECORD_ATTEMPTS) {
        throw new Error(`${entries[0]?.action} was carried out, but not recorded`, { cause: error });
      }
      await delay(RECORD_AGAIN_MS);
    }
  }
}

async function writeAll(tx: Sql, entries: readonly AuditEntry[]): Promise<void> {
  for (const entry of entries) await writeAudit(tx, entry);
}

function entriesOf(actor: string, action: string, done: Done<unknown>): AuditEntry[] {
  return (done.records ?? [done]).map(({ account, subject, details }) => ({
    ...{ actor, action, account: account ?? null, subject: subject ?? null, details: details ?? {} },
  }));
}
