import postgres, { type ISql, type Sql as PostgresSql } from 'postgres';
import { serially } from '../concurrency/tasks.ts';

/** A pool or a transaction: the first argument of every query function. */
export type Sql = ISql<{ bigint: number }>;
export type Database = PostgresSql<{ bigint: number }>;
export type PoolState = postgres.PoolState;
// Server-side limits in milliseconds: for a statement, for its wait for a lock, and for a transaction (or a single statement). No limit
// unless given.
interface StatementLimits {
  /** Statements that would write fail. */
  readOnly?: boolean;
  statementMs?: number;
  lockMs?: number;
  transactionMs?: number;
}
export type Fragment = postgres.PendingQuery<postgres.Row[]>;

/** The installed driver is not the patched one that this service needs. The message says what to do. */
export class DriverProblem extends Error {
  override readonly name = 'DriverProblem';
}

// Version of the patch in `patches/`; change both together.
const CORRECTIONS = 2;
const INT8 = 20;
const RECONNECT_SECONDS = 0.5;
export const LONGEST_TRANSACTION_MS = 60_000;
const KEEPALIVE = { tcp_keepalives_idle: 60, tcp_keepalives_interval: 10, tcp_keepalives_count: 3 };

/**
 * Opens a pool. Columns are camelCased; 64-bit integers are numbers, and reading one beyond 2^53 throws.
 * @param url postgres://user:password@host:port/database
 * @param silenceMs drops a connection without network traffic during a statement: that fails with ETIMEDOUT, and may have been executed.
 *   Must exceed the longest statement; off unless given.
 * @throws DriverProblem as {@link requireDriver} does
 */
export function openDatabase(
  url: string,
  max = 10,
  silenceMs?: number,
  { readOnly = false, statementMs, lockMs, transactionMs }: StatementLimits = {},
): Database {
  requireDriver();
  // If the client dies without closing the connection, its transaction would keep its locks for hours. An idle timeout is not enough: the
  // server may be waiting for the second half of a statement.
  const deadClientLimits =
    silenceMs === undefined ? {} : { transaction_timeout: LONGEST_TRANSACTION_MS, ...KEEPALIVE };
  const limits = {
    ...(readOnly ? { default_transaction_read_only: true } : {}),
    ...(statementMs === undefined ? {} : { statement_timeout: statementMs }),
    ...(lockMs === undefined ? {} : { lock_timeout: lockMs }),
    ...(transactionMs === undefined ? {} : { transaction_timeout: transactionMs, ...KEEPALIVE }),
  };
  return postgres(url, {
    max,
    silence: silenceMs,
    connect_timeout: 10,
    idle_timeout: 300,
    // Without a growing backoff: a database that comes back is noticed within a second, however long it was away.
    backoff: () => RECONNECT_SECONDS,
    onnotice: () => undefined,
    // Column names only: keys inside jsonb values stay as stored.
    transform: { column: { from: postgres.toCamel } },
    connection: { application_name: 'goniec', TimeZone: 'UTC', ...deadClientLimits, ...limits },
    types: {
      bigint: { to: INT8, from: [INT8], serialize: (value: number) => value.toString(), parse: parseInteger },
    },
  });
}

export async function withDatabase<T>(url: string, work: (sql: Database) => Promise<T>): Promise<T> {
  const sql = openDatabase(url, 1);
  try {
    return await work(sql);
  } finally {
    await sql.end({ timeout: 5 });
  }
}

/** Unpatched, the driver ends the process when a server dies, and loses statements and transactions. @throws DriverProblem */
export function requireDriver(): void {
  if (postgres.corrections === CORRECTIONS) return;
  const state =
    postgres.corrections === undefined ? 'without its corrections' : 'with corrections of another release';
  throw new DriverProblem(
    `The PostgreSQL driver (npm package postgres) is installed ${state}: run npm ci again, and after npm ci --ignore-scripts also npm run postinstall.`,
  );
}

function parseInteger(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new RangeError(`integer out of range: ${text}`);
  return value;
}

/** Splits a process's connections into those for priority requests, which must not wait for anything else, and the rest. */
export function splitPool(connections: number): [front: number, rest: number] {
  const front = connections >= 8 ? 2 : 1;
  return [front, Math.max(connections - front, 1)];
}

export function addPools(one: PoolState, other: PoolState): PoolState {
  return {
    max: one.max + other.max,
    idle: one.idle + other.idle,
    busy: one.busy + other.busy,
    connecting: one.connecting + other.connecting,
    waiting: one.waiting + other.waiting,
  };
}

/** SQLSTATEs that callers distinguish; those beginning with GN are raised by the schema. */
export const SQLSTATE = {
  insufficientFunds: 'GN402',
  forbiddenTransition: 'GN409',
  keywordRests: 'GN423',
  keywordsTooMany: 'GN429',
  deadlock: '40P01',
  statementCancelled: '57014',
  transactionTimeout: '25P04',
  lockNotAvailable: '55P03',
  uniqueViolation: '23505',
  undefinedTable: '42P01',
  readOnly: '25006',
} as const;

export function hasSqlState(error: unknown, state: string): boolean {
  return error instanceof postgres.PostgresError && error.code === state;
}

/** Whether PostgreSQL itself raised the error: then nothing of the statement or transaction was committed. */
export function isFromServer(error: unknown): boolean {
  return error instanceof postgres.PostgresError;
}

/** Whether a lock timed out while waiting for a row of this table, or for a row being written to it. */
export function isLockTimeoutOn(error: unknown, table: string): boolean {
  return (
    hasSqlState(error, SQLSTATE.lockNotAvailable) &&
    (error as postgres.PostgresError).where?.includes(`"${table}"`) === true
  );
}

export function violates(error: unknown, constraint: string): boolean {
  return error instanceof postgres.PostgresError && error.constraint_name === constraint;
}

/** Runs one transaction, limited by the pool's `transaction_timeout`. @throws what `work` throws, after a rollback; connection loss */
export async function transaction<T>(sql: Database, work: (tx: Sql) => Promise<T>): Promise<T> {
  return (await sql.begin(work)) as T;
}

/** Reads in one transaction with this statement timeout in place of the pool's limits. */
export async function readWithin<T>(
  sql: Database,
  timeoutMs: number,
  read: (tx: Sql) => Promise<T>,
): Promise<T> {
  return await transaction(sql, async (tx) => {
    await tx`
      select set_config('statement_timeout', ${String(timeoutMs)}, true), set_config('transaction_timeout', '0', true)`;
    return await read(tx);
  });
}

/** As {@link readWithin}; null where a statement takes longer. */
export async function readUnlessSlow<T>(
  sql: Database,
  timeoutMs: number,
  read: (tx: Sql) => Promise<T>,
): Promise<T | null> {
  try {
    return await readWithin(sql, timeoutMs, read);
  } catch (error) {
    if (hasSqlState(error, SQLSTATE.statementCancelled)) return null;
    throw error;
  }
}

export async function setLockTimeout(tx: Sql, lockMs: number): Promise<void> {
  await tx`select from set_config('lock_timeout', ${`${lockMs}ms`}, true)`;
}

/**
 * Runs a transaction under a named lock, exclusive across processes; within a process, callers queue without holding a connection.
 * @throws QueueTimeoutError; lock_not_available; what `work` throws, and nothing is changed then
 */
export async function withNamedLock<T>(
  sql: Database,
  name: string,
  work: (tx: Sql) => Promise<T>,
): Promise<T> {
  return await serially(name, () =>
    transaction(sql, async (tx) => {
      await lockNames(tx, [name]);
      return await work(tx);
    }),
  );
}

export async function lockNames(tx: Sql, names: readonly string[]): Promise<void> {
  // Sorted, to avoid deadlocks.
  for (const name of [...names].sort()) {
    await tx`select pg_advisory_xact_lock(hashtextextended(${name}, 0))`;
  }
}

// Cache: ten thousand messages have the same few columns.
const known = new Map<string, string>();

/** Converts a row's camelCase keys to column names, for inserts, the audit log and the command line; values stay as they are. */
export function byColumnName<T>(row: Readonly<Record<string, T>>): Record<string, T>;
export function byColumnName(row: object): Record<string, unknown>;
export function byColumnName(row: object): Record<string, unknown> {
  const named: Record<string, unknown> = {};
  for (const [field, value] of Object.entries(row)) named[columnName(field)] = value;
  return named;
}

function columnName(field: string): string {
  let column = known.get(field);
  if (column === undefined) {
    column = postgres.fromCamel(field);
    known.set(field, column);
  }
  return column;
}
