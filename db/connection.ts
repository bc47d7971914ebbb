import postgres, { type ISql, type Sql as PostgresSql } from 'postgres';
import { serially } from '../concurrency/tasks.ts';

/** A pool of connections, or one transaction of it: every query function takes one as its first argument. */
export type Sql = ISql<{ bigint: number }>;
export type Database = PostgresSql<{ bigint: number }>;
/** How a pool's connections are used at this moment. */
export type PoolState = postgres.PoolState;
/**
 * How long a statement may take, how long of it it may wait for a lock, and how long a transaction may take, or a statement by itself;
 * as long as it takes unless given.
 */
interface StatementLimits {
  statementMs?: number;
  lockMs?: number;
  transactionMs?: number;
}
/** A piece of a statement, made by the same tag as whole ones. */
export type Fragment = ReturnType<Sql>;

/** The driver is not the one that this service was made with. The message says what to do. */
export class DriverProblem extends Error {
  override readonly name = 'DriverProblem';
}

// What the patch in `patches/` says of itself; the two are changed together.
const CORRECTIONS = 2;
const INT8 = 20;
const RECONNECT_SECONDS = 0.5;
/** So long a transaction may take. */
export const LONGEST_TRANSACTION_MS = 60_000;
const KEEPALIVE = { tcp_keepalives_idle: 60, tcp_keepalives_interval: 10, tcp_keepalives_count: 3 };

/**
 * Opens a pool. Rows have the names of their columns in camelCase; 64-bit integers arrive as numbers (money in grosze stays far below 2^53; beyond it, reading throws).
 * @param url postgres://user:password@host:port/database
 * @param max connections held at most
 * @param silenceMs a connection on which a statement has waited for so long and nothing moved is given up: its statement
 *   fails with ETIMEDOUT, and may have been carried out. Longer than any statement may take; never unless given.
 * @param limits after which the server gives a statement up
 * @throws DriverProblem as {@link requireDriver} does
 */
export function openDatabase(
  url: string,
  max = 10,
  silenceMs?: number,
  { statementMs, lockMs, transactionMs }: StatementLimits = {},
): Database {
  requireDriver();
  // The other end of a connection that died without a word: its transaction would keep its locks for hours, also where it
  // is not idle but waits for the second half of a statement.
  const forgetful =
    silenceMs === undefined ? {} : { transaction_timeout: LONGEST_TRANSACTION_MS, ...KEEPALIVE };
  const limits = {
    ...(statementMs === undefined ? {} : { statement_timeout: statementMs }),
    ...(lockMs === undefined ? {} : { lock_timeout: lockMs }),
    ...(transactionMs === undefined ? {} : { transaction_timeout: transactionMs, ...KEEPALIVE }),
  };
  return postgres(url, {
    max,
    silence: silenceMs,
    connect_timeout: 10,
    idle_timeout: 300,
    // A database that comes back is noticed at once, however long it was away.
    backoff: () => RECONNECT_SECONDS,
    onnotice: () => undefined,
    // Names of columns only: what a jsonb value holds stays as it was stored.
    transform: { column: { from: postgres.toCamel } },
    connection: { application_name: 'goniec', TimeZone: 'UTC', ...forgetful, ...limits },
    types: {
      bigint: {
        to: INT8,
        from: [INT8],
        serialize: (value: number) => value.toString(),
        parse: parseInteger,
      },
    },
  });
}

/** Does something with a database, on a connection of its own. */
export async function withDatabase<T>(url: string, work: (sql: Database) => Promise<T>): Promise<T> {
  const sql = openDatabase(url, 1);
  try {
    return await work(sql);
  } finally {
    await sql.end({ timeout: 5 });
  }
}

/**
 * As published, the driver ends the process when a server dies, and loses statements and transactions: better not to start.
 * @throws DriverProblem where it is installed without its corrections, or with others
 */
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

/** Of a process's connections: those for what must not wait for anything else, and those for the rest. */
export function splitPool(connections: number): [front: number, rest: number] {
  const front = connections >= 8 ? 2 : 1;
  return [front, Math.max(connections - front, 1)];
}

/** Two pools of one process as one. */
export function addPools(one: PoolState, other: PoolState): PoolState {
  return {
    max: one.max + other.max,
    idle: one.idle + other.idle,
    busy: one.busy + other.busy,
    connecting: one.connecting + other.connecting,
    waiting: one.waiting + other.waiting,
  };
}

/** The SQLSTATEs that callers tell apart; those beginning with GN are raised by the schema itself. */
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
} as const;

/** True when the error came from PostgreSQL with this SQLSTATE. */
export function hasSqlState(error: unknown, state: string): boolean {
  return error instanceof postgres.PostgresError && error.code === state;
}

/** True when PostgreSQL itself refused: nothing of the statement or transaction was carried out. */
export function isFromServer(error: unknown): boolean {
  return error instanceof postgres.PostgresError;
}

/** True when a lock was waited for in vain that somebody has on a row of this table, or on one that is being written. */
export function isLockTimeoutOn(error: unknown, table: string): boolean {
  return (
    hasSqlState(error, SQLSTATE.lockNotAvailable) &&
    (error as postgres.PostgresError).where?.includes(`"${table}"`) === true
  );
}

/** True when the error came from PostgreSQL because a row broke this constraint. */
export function violates(error: unknown, constraint: string): boolean {
  return error instanceof postgres.PostgresError && error.constraint_name === constraint;
}

/**
 * Runs statements in one transaction: all of them or none. How long it may take is the pool's `transaction_timeout`.
 * @throws what `work` throws, after a rollback; the loss of the connection
 */
export async function transaction<T>(sql: Database, work: (tx: Sql) => Promise<T>): Promise<T> {
  return (await sql.begin(work)) as T;
}

/** Reads in one transaction, or fails once a statement has taken longer than `timeoutMs`. */
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

/** Has the rest of a transaction wait no longer than that for each lock. */
export async function limitLocks(tx: Sql, lockMs: number): Promise<void> {
  await tx`select from set_config('lock_timeout', ${`${lockMs}ms`}, true)`;
}

/**
 * Does something in one transaction, one at a time of everything with the same name, in all processes. Within a process they wait without
 * a connection.
 * @param name such as `address book of cl_…`
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

/** Waits, within a transaction, until nobody is at any of these, and keeps others from them until it ends. */
export async function lockNames(tx: Sql, names: readonly string[]): Promise<void> {
  // In one order for all.
  for (const name of [...names].sort()) {
    await tx`select pg_advisory_xact_lock(hashtextextended(${name}, 0))`;
  }
}

// Of ten thousand messages each name is made once.
const known = new Map<string, string>();

/**
 * A row under the names of its columns, as tables, the audit log and the command line have them; values stay as they are.
 * Rows leave this folder with names in camelCase: the driver makes those once for each statement.
 */
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
