import { setTimeout as delay } from 'node:timers/promises';
import { hasSqlState, SQLSTATE, type Sql } from './connection.ts';

/** How long a migration waits for a lock that others hold, and how often it is tried again. */
export interface LockPatience {
  lockMs: number;
  /** In between, those who came after it have their turn. */
  pauseMs: number;
  tries: number;
}

/** Ten minutes. */
export const LOCK_PATIENCE: LockPatience = { lockMs: 2_000, pauseMs: 10_000, tries: 50 };

/** The first line of a script whose statements run each by itself, outside of any transaction. */
export const BY_ITSELF = '-- Each statement by itself.\n';

const CONCURRENT = /^(?:create (?:unique )?index|drop index) concurrently /;
const NEW_INDEX = /^create (?:unique )?index concurrently if not exists (\w+) /;

/**
 * Runs a migration's script while the service is at work. All of it is one transaction, unless its first line is
 * {@link BY_ITSELF}: then it may build indexes concurrently, and has to do no harm when it is run again. Whoever waits for a table's
 * lock keeps everybody who comes after from the table, so it waits for a short time only, and is tried again from the start.
 * @param sql one connection, all the time
 * @param name of the migration, for people
 * @throws an error in words for staff when it never got a lock: nothing of its transaction was done
 */
export async function runScript(
  sql: Sql,
  script: string,
  patience: LockPatience,
  name: string,
): Promise<void> {
  const steps = script.startsWith(BY_ITSELF) ? statementsOf(script) : [script];
  for (const step of steps) {
    if (CONCURRENT.test(step)) await runConcurrently(sql, step);
    else await runPatiently(sql, step, patience, name);
  }
  await limitLocks(sql, 0);
}

/** The statements of a script in which each ends with its line, without comments that have lines of their own. */
export function statementsOf(script: string): string[] {
  const statements = script.replace(/^--.*$/gm, '').split(/;[^\S\n]*$/m);
  return statements.map((statement) => statement.trim()).filter((statement) => statement !== '');
}

// It keeps nobody from the table, and waits for as long as transactions take that began before it: a backup, for instance.
async function runConcurrently(sql: Sql, statement: string): Promise<void> {
  await limitLocks(sql, 0);
  const index = NEW_INDEX.exec(statement)?.[1];
  if (index !== undefined && (await isInvalid(sql, index))) {
    await sql`drop index concurrently if exists ${sql(index)}`;
  }
  await sql.unsafe(statement);
}

/** Whether a build of this index was interrupted: what it leaves answers nothing, and costs every write. */
async function isInvalid(sql: Sql, index: string): Promise<boolean> {
  const rows = await sql`
    select from pg_index where indexrelid = to_regclass(${`public.${index}`}) and not indisvalid`;
  return rows.count > 0;
}

async function runPatiently(
  sql: Sql,
  step: string,
  { lockMs, pauseMs, tries }: LockPatience,
  name: string,
): Promise<void> {
  await limitLocks(sql, lockMs);
  for (let left = tries - 1; ; left -= 1) {
    try {
      await sql.unsafe(step);
      return;
    } catch (error) {
      if (!hasSqlState(error, SQLSTATE.lockNotAvailable) && !hasSqlState(error, SQLSTATE.deadlock))
        throw error;
      if (left === 0) throw new Error(unlocked(name, tries), { cause: error });
      await delay(pauseMs);
    }
  }
}

async function limitLocks(sql: Sql, ms: number): Promise<void> {
  await sql`select set_config('lock_timeout', ${`${ms}ms`}, false)`;
}

function unlocked(name: string, tries: number): string {
  return `Migration ${name} got no lock on a table in ${tries} tries: somebody has held one all the time, such as a backup (pg_stat_activity has who, and since when). What came before is done: migrate again later.`;
}
