import type {
  LookupAnswer,
  LookupFailure,
  LookupFinding,
  LookupState,
  StartableLookup,
} from '../../domain/submission.ts';
import { chargeTool, refundToolBudget, type ToolCharge } from '../accounts/quotas.ts';
import { type Database, type Fragment, type Sql, transaction } from '../connection.ts';
import { availableGrosze } from '../money/ledger.ts';
import { refundOf } from '../money/billing.ts';
import { isOverdue } from '../money/statements.ts';
import { chargedAndReserved, fundsError } from '../money/reservations.ts';

// The caller waits 8 s and a provider takes up to 3 s: a later query would be billed, but its result discarded.
const ASKED_WITHIN_SECONDS = 4.5;
// Longer than any path of the workflow: it was terminated, and nothing else would refund the look-up.
const LOST_AFTER_SECONDS = 120;

export interface LookupResult extends LookupFinding {
  msisdn: string;
  costGrosze: number;
  checkedAt: Date;
}

interface LookupTerms {
  mode: 'test' | 'live';
  pricePerHlrGrosze: number;
  overdue: boolean;
  /** The number is one that the account has verified, which test accounts need. */
  verified: boolean;
  /** Balance, plus the credit limit of a postpaid account; grosze net. */
  availableGrosze: number;
  /** The account has a look-up of this number under way, which a new one would join for free. */
  underWay: boolean;
}

export interface LookupRow {
  now: LookupState;
  result: LookupResult | null;
}

export async function readLookupTerms(
  sql: Sql,
  accountId: string,
  msisdn: string,
): Promise<LookupTerms | null> {
  const [terms] = await sql<LookupTerms[]>`
    select a.mode, a.price_per_hlr_grosze,
           ${isOverdue(sql, sql`a`)} as overdue,
           exists (
             select from verified_numbers v where v.account_id = a.id and v.msisdn = ${msisdn}
           ) as verified,
           ${availableGrosze(sql)} as available_grosze,
           exists (
             select from number_lookups l
              where l.account_id = a.id and l.msisdn = ${msisdn} and l.state = 'charged'
           ) as under_way
      from accounts a where a.id = ${accountId}`;
  return terms ?? null;
}

/** The account's latest result for the number within 24 h (v2.3.0, Limits); null when there is none. */
export async function readKnownResult(
  sql: Sql,
  accountId: string,
  msisdn: string,
): Promise<LookupResult | null> {
  const [known] = await sql<LookupResult[]>`
    select msisdn, status, network, mcc, mnc, ported, cost_grosze, checked_at from number_lookups
     where account_id = ${accountId} and msisdn = ${msisdn} and ${isKnown(sql)}
     order by checked_at desc limit 1`;
  return known ?? null;
}

export async function startableLookups(sql: Sql, ids: readonly string[]): Promise<StartableLookup[]> {
  if (ids.length === 0) return [];
  return await sql<StartableLookup[]>`
    select id, account_id, route from number_lookups where id = any(${ids as string[]}::text[])`;
}

/** The number to query; null when the look-up has ended or it is too late to ask the provider. */
export async function openLookup(sql: Sql, id: string): Promise<string | null> {
  const [row] = await sql<{ msisdn: string }[]>`
    select msisdn from number_lookups
     where id = ${id} and state = 'charged'
       and created_at > now() - make_interval(secs => ${ASKED_WITHIN_SECONDS})`;
  return row?.msisdn ?? null;
}

export async function finishLookup(sql: Sql, id: string, finding: LookupFinding): Promise<LookupState> {
  const { status, network, mcc, mnc, ported } = finding;
  await sql`
    update number_lookups
       set state = 'done', status = ${status}, network = ${network}, mcc = ${mcc}, mnc = ${mnc}, ported = ${ported},
           checked_at = now()
     where id = ${id} and state = 'charged'`;
  return await stateOf(sql, id);
}

/** Fails a charged look-up and refunds it, once; a finished one is left unchanged. */
export async function failLookup(sql: Sql, id: string, reason: LookupFailure): Promise<LookupState> {
  await refund(sql, sql`id = ${id}`, reason);
  return await stateOf(sql, id);
}

/** Fails and refunds a look-up whose workflow was not started, and prevents its start; otherwise does nothing. */
export async function abandonLookup(sql: Database, id: string): Promise<void> {
  await transaction(sql, async (tx) => {
    // Deleting the reservation decides between this and the workflow's first step.
    const settled = await tx`delete from reservations where subject_id = ${id}`;
    if (settled.count > 0) await failLookup(tx, id, 'abandoned');
  });
}

async function failLostLookup(sql: Sql, accountId: string, msisdn: string): Promise<void> {
  const lost: Fragment = sql`
    account_id = ${accountId} and msisdn = ${msisdn}
    and created_at < now() - make_interval(secs => ${LOST_AFTER_SECONDS})`;
  await refund(sql, lost, 'timed_out');
}

export async function lostLookups(sql: Sql, limit: number): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select id from number_lookups
     where state = 'charged' and created_at < now() - make_interval(secs => ${LOST_AFTER_SECONDS}) order by id limit ${limit}`;
  return rows.map(({ id }) => id);
}

/** Fails a charged look-up and refunds account and tool budget. @param which must match at most one */
async function refund(sql: Sql, which: Fragment, reason: LookupFailure): Promise<void> {
  await sql`
    with failed as (
      update number_lookups set state = 'failed', reason = ${reason}
       where state = 'charged' and ${which}
      returning id, cost_grosze, tool_key_id, tool_day
    ), given_back as (${refundToolBudget(sql, sql`failed`)})
    ${refundOf(sql, sql`failed`)}`;
}

export async function readLookup(sql: Sql, id: string): Promise<LookupRow> {
  const [row] = await sql<(LookupState & LookupResult)[]>`
    select state, reason, msisdn, status, network, mcc, mnc, ported, cost_grosze, checked_at
      from number_lookups where id = ${id}`;
  const { state, reason, ...result } = row!;
  return { now: { state, reason } as LookupState, result: state === 'done' ? result : null };
}

async function stateOf(sql: Sql, id: string): Promise<LookupState> {
  const [row] = await sql<LookupState[]>`select state, reason from number_lookups where id = ${id}`;
  return row ? { ...row } : { state: 'failed', reason: 'abandoned' };
}

/** As SQL, for look-ups: a result that is reused (v2.3.0, Number lookup: 24 h). */
function isKnown(sql: Sql): Fragment {
  return sql`state = 'done' and checked_at > now() - interval '24 hours'`;
}

interface NewLookup {
  id: string;
  accountId: string;
  /** E.164. */
  msisdn: string;
  route: string;
  costGrosze: number;
  /** The charge to the key's tool budget; null when the call comes from no tool. */
  spending: ToolCharge | null;
}

/** A look-up under way; `own` is false when an earlier request of the account started it, and pays. */
export interface AcceptedLookup {
  id: string;
  own: boolean;
}

/**
 * Accepts a look-up (row, charge, workflow reservation) in one transaction, or joins the account's one under way for the number for free.
 * @returns null when another one has just ended: its result may be known now
 * @throws InsufficientFundsError, ToolBudgetError; nothing is stored then
 */
export async function acceptLookup(sql: Database, lookup: NewLookup): Promise<AcceptedLookup | null> {
  await failLostLookup(sql, lookup.accountId, lookup.msisdn);
  try {
    return await transaction(sql, (tx) => acceptIn(tx, lookup));
  } catch (error) {
    throw fundsError(error);
  }
}

/** Locks the budget before the account, as sends do, to avoid deadlocks. */
async function acceptIn(
  tx: Sql,
  { id, accountId, msisdn, route, costGrosze, spending }: NewLookup,
): Promise<AcceptedLookup | null> {
  const inserted = await tx`
    insert into number_lookups (id, account_id, msisdn, route, cost_grosze)
    values (${id}, ${accountId}, ${msisdn}, ${route}, ${costGrosze})
    on conflict (account_id, msisdn) where state = 'charged' do nothing`;
  if (inserted.count === 0) {
    const [other] = await tx<{ id: string }[]>`
      select id from number_lookups where account_id = ${accountId} and msisdn = ${msisdn} and state = 'charged'`;
    return other ? { id: other.id, own: false } : null;
  }
  // A concurrent look-up may have finished before this row was inserted. This statement's newer snapshot sees its result, so that only one
  // of two is charged.
  const needless = await tx`
    delete from number_lookups where id = ${id} and exists (
      select from number_lookups where account_id = ${accountId} and msisdn = ${msisdn} and ${isKnown(tx)})`;
  if (needless.count > 0) return null;

  const toolDay = spending && (await chargeTool(tx, spending));
  await tx`
    with written as (
      update number_lookups set tool_key_id = ${toolDay && spending.keyId}, tool_day = ${toolDay} where id = ${id}
      returning id, account_id, state as status, cost_grosze, 0 as test_credits, true as priority
    ), ${chargedAndReserved(tx, 'lookup', tx`select * from written`, null, true)}
    select from reserved`;
  return { id, own: true };
}

// The caller's timeout is long over.
const KEPT = '1 hour';

/** Stores an answer from a provider's callback, ignoring duplicates, and deletes answers too old for any caller. */
export async function storeLookupAnswer(
  sql: Sql,
  route: string,
  providerId: string,
  answer: LookupAnswer,
): Promise<void> {
  await sql`delete from lookup_answers where received_at < now() - ${KEPT}::interval`;
  await sql`
    insert into lookup_answers (route, provider_id, answer)
    values (${route}, ${providerId}, ${sql.json({ ...answer })})
    on conflict (route, provider_id) do nothing`;
}

export async function findLookupAnswer(
  sql: Sql,
  route: string,
  providerId: string,
): Promise<LookupAnswer | null> {
  const [row] = await sql<{ answer: LookupAnswer }[]>`
    select answer from lookup_answers where route = ${route} and provider_id = ${providerId}`;
  return row?.answer ?? null;
}
