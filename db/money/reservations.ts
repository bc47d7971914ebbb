import { type Fragment, hasSqlState, type Sql, SQLSTATE } from '../connection.ts';

/** What is charged for, and followed by a workflow whose id is its own. */
type Chargeable = 'message' | 'email' | 'lookup';

/** Something whose workflow is to be started. */
export interface Reserved {
  id: string;
  kind: Chargeable | Uncharged;
  /** '' of a reply, whose account its workflow finds. */
  accountId: string;
  /** The `traceparent` of its request; null where that is not traced. */
  trace: string | null;
}

/** What costs nothing: a reply, a webhook event that no workflow of its subject delivers, a further delivery of one. */
type Uncharged = 'reply' | 'event' | 'resend';

/** The account cannot pay: nothing is written. */
export class InsufficientFundsError extends Error {
  override readonly name = 'InsufficientFundsError';
}

/** Of an error of {@link chargedAndReserved}: InsufficientFundsError where that is what it says, else the error itself. */
export function fundsError(error: unknown): unknown {
  return hasSqlState(error, SQLSTATE.insufficientFunds) ? new InsufficientFundsError() : error;
}

/** The lease of one that was taken: after this long its worker is gone, or Temporal was. */
export const LEASE_MS = 10_000;

/**
 * As SQL: charges what was just written, and reserves that for its workflows; rejected and suppressed ones cost nothing and have none.
 * @param written rows with id, account_id, status, cost_grosze, test_credits and priority, all of one account
 * @param trace the `traceparent` of the request; null where that is not traced
 * @param isTaken its workflow is started by whoever writes this, unless that takes longer than {@link LEASE_MS}
 */
export function chargedAndReserved(
  sql: Sql,
  kind: Chargeable,
  written: Fragment,
  trace: string | null,
  isTaken = false,
): Fragment {
  return sql`
    charged as (
      insert into ledger_entries (account_id, kind, amount_grosze, test_credits, subject_kind, subject_id)
      select account_id, 'charge', case when test_credits > 0 then 0 else -cost_grosze end, -test_credits, ${kind}, id
        from (${written}) w where cost_grosze > 0 or test_credits > 0 order by id
    ), reserved as (
      insert into reservations (subject_id, kind, account_id, priority, start_after, trace)
      select id, ${kind}, account_id, priority, ${isTaken ? leaseEnd(sql) : sql`now()`}, ${trace}::text from (${written}) w where status not in ('rejected', 'suppressed')
      returning subject_id
    )`;
}

/** As SQL: reserves something that costs nothing for its workflow. @param rows with id and account_id */
export function reserved(sql: Sql, kind: Uncharged, rows: Fragment): Fragment {
  return sql`
    insert into reservations (subject_id, kind, account_id, priority)
    select id, ${kind}, account_id, false from (${rows}) r`;
}

/**
 * Takes what was accepted and whose workflows are to be started, for ten seconds: those with priority first, the accounts in
 * turns, of each the oldest first. Several workers take different ones.
 */
export async function takeReserved(sql: Sql, limit: number): Promise<Reserved[]> {
  return await sql<Reserved[]>`
    with recursive waiting(account_id) as (
      (select account_id from reservations order by account_id limit 1)
      union all
      select (select r.account_id from reservations r where r.account_id > w.account_id order by r.account_id limit 1)
        from waiting w where w.account_id is not null
    ), due as (
      select d.subject_id, d.priority, row_number() over (partition by w.account_id, d.priority order by d.subject_id) as turn
        from waiting w cross join lateral (
          select subject_id, priority from reservations
           where account_id = w.account_id and start_after <= now()
           order by priority desc, subject_id limit ${limit}
             for update skip locked) d
       where w.account_id is not null
    ), next as (
      select subject_id from due order by priority desc, turn, subject_id limit ${limit}
    ), taken as (
      update reservations r set start_after = ${leaseEnd(sql)} from next n where r.subject_id = n.subject_id
      returning r.subject_id as id, r.kind, r.account_id, r.trace, r.priority
    )
    select id, kind, account_id, trace from taken order by priority desc, id`;
}

/** What waits to be started. */
export interface Backlog {
  total: number;
  ofAccounts: ReadonlyMap<string, number>;
  /** How long the oldest has waited; 0 where nothing waits. */
  oldestSeconds: number;
}

/** Reads what waits to be started: a handful of rows, unless the workers or Temporal are away. */
export async function readBacklog(sql: Sql): Promise<Backlog> {
  const accounts = await sql<{ accountId: string; waiting: number; oldestSeconds: number }[]>`
    select account_id, count(*)::int as waiting, extract(epoch from now() - min(reserved_at))::float8 as oldest_seconds
      from reservations group by account_id`;
  return {
    total: accounts.reduce((sum, { waiting }) => sum + waiting, 0),
    ofAccounts: new Map(accounts.map(({ accountId, waiting }) => [accountId, waiting])),
    oldestSeconds: Math.max(0, ...accounts.map(({ oldestSeconds }) => oldestSeconds)),
  };
}

/** Of these those whose reservations nobody has settled. */
export async function stillReserved(sql: Sql, ids: readonly string[]): Promise<Set<string>> {
  const rows = await sql<{ id: string }[]>`
    select subject_id as id from reservations where subject_id = any(${ids as string[]})`;
  return new Set(rows.map(({ id }) => id));
}

/** Settles what was reserved: its workflow has it now. Running it again changes nothing. */
export async function settleReservation(sql: Sql, id: string): Promise<void> {
  await sql`delete from reservations where subject_id = ${id}`;
}

function leaseEnd(sql: Sql): Fragment {
  return sql`now() + ${LEASE_MS} * interval '1 millisecond'`;
}
