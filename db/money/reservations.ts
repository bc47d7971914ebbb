import { type Fragment, hasSqlState, type Sql, SQLSTATE } from '../connection.ts';

type Chargeable = 'message' | 'email' | 'lookup';

export interface Reserved {
  id: string;
  kind: Chargeable | Uncharged;
  /** '' for a reply, whose account its workflow determines, and for a bulk. */
  accountId: string;
  /** The `traceparent` of its request; null when it is not traced. */
  trace: string | null;
}

/** Free work: a reply, a webhook event without a workflow of its subject, a resend, a payment of the account, a bulk of staff. */
type Uncharged = 'reply' | 'event' | 'resend' | 'payment' | 'bulk';

/** The account cannot pay; nothing is stored. */
export class InsufficientFundsError extends Error {
  override readonly name = 'InsufficientFundsError';
}

/** Translates an error of {@link chargedAndReserved} to InsufficientFundsError; returns any other one unchanged. */
export function fundsError(error: unknown): unknown {
  return hasSqlState(error, SQLSTATE.insufficientFunds) ? new InsufficientFundsError() : error;
}

/** Lease of a taken reservation; after it, another worker takes over. */
export const LEASE_MS = 10_000;

/**
 * As SQL, CTEs: charges the rows just written and reserves their workflows, except rejected and suppressed ones.
 * @param written id, account_id, status, cost_grosze, test_credits, priority; all of one account
 * @param isTaken the caller starts the workflows itself; workers do after {@link LEASE_MS}
 */
export function chargedAndReserved(
  sql: Sql,
  kind: Chargeable,
  written: Fragment,
  trace: string | null,
  isTaken = false,
): Fragment {
  // `account_id` has no foreign key: it is copied from rows that have one, and another check for each message could not fail.
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

/** As SQL: reserves the workflows of free work. @param rows with id and account_id */
export function reserved(sql: Sql, kind: Uncharged, rows: Fragment): Fragment {
  return sql`
    insert into reservations (subject_id, kind, account_id, priority)
    select id, ${kind}, account_id, false from (${rows}) r`;
}

/** Leases reservations, to start their workflows: by priority, accounts in rotation, oldest first; skips rows locked by other workers. */
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

export interface Backlog {
  total: number;
  ofAccounts: ReadonlyMap<string, number>;
  /** Age of the oldest, in seconds; 0 without any. */
  oldestSeconds: number;
}

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

export async function stillReserved(sql: Sql, ids: readonly string[]): Promise<Set<string>> {
  const rows = await sql<{ id: string }[]>`
    select subject_id as id from reservations where subject_id = any(${ids as string[]})`;
  return new Set(rows.map(({ id }) => id));
}

/** Deletes a reservation once its workflow has started; idempotent. */
export async function settleReservation(sql: Sql, id: string): Promise<void> {
  await sql`delete from reservations where subject_id = ${id}`;
}

function leaseEnd(sql: Sql): Fragment {
  return sql`now() + ${LEASE_MS} * interval '1 millisecond'`;
}
