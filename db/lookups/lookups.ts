import type { LookupFailure, LookupFinding, LookupRefusal, LookupState } from '../../domain/lookups.ts';
import { hasSqlState, type Fragment, type Sql, SQLSTATE } from '../connection.ts';
import { availableGrosze } from '../money/available.ts';
import { refundOf } from '../money/billing.ts';
import { isOverdue } from '../money/statements.ts';

// A caller waits a few seconds for its answer: what begins much later (workers were down, say) would be paid by
// someone who was answered with a failure long ago. Nobody waits for a row that was not taken up within ten.
const BEGIN_WITHIN_SECONDS = 30;
const TAKEN_UP_WITHIN_SECONDS = 10;
// Its caller waits 8 s and a provider takes up to 3 to answer: what is asked later is billed by the provider, and nobody gets it.
const ASKED_WITHIN_SECONDS = 4.5;
// Long after every way a workflow can take: it was terminated, and nobody else would refund.
const LOST_AFTER_SECONDS = 120;

/** A result as it is shown; money in grosze net. */
export interface LookupResult extends LookupFinding {
  msisdn: string;
  costGrosze: number;
  checkedAt: Date;
}

/** What an account's look-up of a number is measured by. */
export interface LookupTerms {
  mode: 'test' | 'live';
  pricePerHlrGrosze: number;
  /** A postpaid account with a statement past its due time. */
  overdue: boolean;
  /** Whether the number is among those that a test account has verified. */
  verified: boolean;
  /** What may be spent: the balance, of a postpaid account with its credit limit; grosze net. */
  availableGrosze: number;
  /** Whether the account's look-up of this number is under way, so that another one of it costs nothing. */
  underWay: boolean;
}

/** A look-up under way; `own` is false when another request of the account has begun it. */
export interface ClaimedLookup {
  id: string;
  own: boolean;
}

/** A look-up as it stands, with its result when there is one. */
export interface LookupRow {
  now: LookupState;
  result: LookupResult | null;
}

/** Everything of the account that a look-up depends on; null when there is no such account. */
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
              where l.account_id = a.id and l.msisdn = ${msisdn} and l.state in ('open', 'charged')
           ) as under_way
      from accounts a where a.id = ${accountId}`;
  return terms ?? null;
}

/** The account's own latest result for the number from the last 24 h (v2.3.0, Limits); null when there is none. */
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

/**
 * Begins a look-up, or finds the one that is under way: an account has at most one for a number. One that nobody has
 * taken up in time is ended first; one whose workflow is lost is ended and refunded.
 * @param id the new look-up's id, used only when none is under way
 * @returns null in the moment between the end of another one and now; ask again
 */
export async function claimLookup(
  sql: Sql,
  {
    id,
    accountId,
    msisdn,
    costGrosze,
  }: { id: string; accountId: string; msisdn: string; costGrosze: number },
): Promise<ClaimedLookup | null> {
  const [begun] = await insertLookup(sql, id, accountId, msisdn, costGrosze);
  if (begun) return { id, own: true };
  const ended = await endStale(sql, accountId, msisdn);
  if (ended) {
    const [instead] = await insertLookup(sql, id, accountId, msisdn, costGrosze);
    if (instead) return { id, own: true };
  }
  return await lookupUnderWay(sql, accountId, msisdn);
}

/** The look-up of a number that another request of the account has begun; null: none is under way. */
export async function lookupUnderWay(
  sql: Sql,
  accountId: string,
  msisdn: string,
): Promise<ClaimedLookup | null> {
  const [other] = await sql<{ id: string }[]>`
    select id from number_lookups
     where account_id = ${accountId} and msisdn = ${msisdn} and state in ('open', 'charged')`;
  return other ? { id: other.id, own: false } : null;
}

/**
 * Charges a look-up: state, ledger and balance move in one statement. Running it again changes nothing and gives the
 * same answer. It is refused when another one has found the number in the meantime: two at once cost once.
 */
export async function chargeLookup(sql: Sql, id: string): Promise<LookupState> {
  try {
    await sql`
      with moved as (
        update number_lookups l set state = 'charged'
         where id = ${id} and state = 'open'
           and created_at > now() - make_interval(secs => ${BEGIN_WITHIN_SECONDS})
           and not exists (
             select from number_lookups
              where account_id = l.account_id and msisdn = l.msisdn and ${isKnown(sql)}
           )
        returning id, account_id, cost_grosze
      )
      insert into ledger_entries (account_id, kind, amount_grosze, subject_kind, subject_id)
      select account_id, 'charge', -cost_grosze, 'lookup', id from moved where cost_grosze > 0`;
  } catch (error) {
    if (!hasSqlState(error, SQLSTATE.insufficientFunds)) throw error;
    await refuseLookup(sql, id, sql`'insufficient_funds'`);
    return await stateOf(sql, id);
  }
  // What is still open was not charged for one of the two conditions.
  await refuseLookup(
    sql,
    id,
    sql`case when created_at > now() - make_interval(secs => ${BEGIN_WITHIN_SECONDS})
             then 'known' else 'too_late' end`,
  );
  return await stateOf(sql, id);
}

/** The number to ask the provider about; null when this is not to be asked (any more): not charged, ended, or too late. */
export async function openLookup(sql: Sql, id: string): Promise<string | null> {
  const [row] = await sql<{ msisdn: string }[]>`
    select msisdn from number_lookups
     where id = ${id} and state = 'charged'
       and created_at > now() - make_interval(secs => ${ASKED_WITHIN_SECONDS})`;
  return row?.msisdn ?? null;
}

/** Stores what the provider found, unless the look-up was ended before. */
export async function finishLookup(sql: Sql, id: string, finding: LookupFinding): Promise<LookupState> {
  const { status, network, mcc, mnc, ported } = finding;
  await sql`
    update number_lookups
       set state = 'done', status = ${status}, network = ${network}, mcc = ${mcc}, mnc = ${mnc}, ported = ${ported},
           checked_at = now()
     where id = ${id} and state = 'charged'`;
  return await stateOf(sql, id);
}

/** Ends a charged look-up without a result and refunds it, once; leaves alone what has ended. */
export async function failLookup(sql: Sql, id: string, reason: LookupFailure): Promise<LookupState> {
  await refunding(sql, sql`id = ${id}`, reason);
  return await stateOf(sql, id);
}

/**
 * Where a look-up stands, for a caller that waits no longer: one that nobody has charged is ended, so that it never
 * will be.
 */
export async function settleLookup(sql: Sql, id: string): Promise<LookupRow> {
  await refuseLookup(sql, id, sql`'abandoned'`);
  const [row] = await sql<(LookupState & LookupResult)[]>`
    select state, reason, msisdn, status, network, mcc, mnc, ported, cost_grosze, checked_at
      from number_lookups where id = ${id}`;
  const { state, reason, ...result } = row!;
  return { now: { state, reason } as LookupState, result: state === 'done' ? result : null };
}

async function insertLookup(sql: Sql, id: string, accountId: string, msisdn: string, costGrosze: number) {
  return await sql`
    insert into number_lookups (id, account_id, msisdn, cost_grosze)
    values (${id}, ${accountId}, ${msisdn}, ${costGrosze})
    on conflict (account_id, msisdn) where state in ('open', 'charged') do nothing
    returning id`;
}

async function endStale(sql: Sql, accountId: string, msisdn: string): Promise<boolean> {
  const ended = await sql`
    update number_lookups set state = 'refused', reason = 'abandoned'
     where account_id = ${accountId} and msisdn = ${msisdn} and state = 'open'
       and created_at < now() - make_interval(secs => ${TAKEN_UP_WITHIN_SECONDS})`;
  const lost: Fragment = sql`
    account_id = ${accountId} and msisdn = ${msisdn}
    and created_at < now() - make_interval(secs => ${LOST_AFTER_SECONDS})`;
  return ended.count + (await refunding(sql, lost, 'timed_out')) > 0;
}

/** Fails charged look-ups and gives back what they cost. @returns how many */
async function refunding(sql: Sql, which: Fragment, reason: LookupFailure): Promise<number> {
  const [ended] = await sql<{ count: number }[]>`
    with failed as (
      update number_lookups set state = 'failed', reason = ${reason}
       where state = 'charged' and ${which}
      returning id
    ), refunded as (${refundOf(sql, sql`failed`)}
    )
    select count(*) as count from failed`;
  return ended!.count;
}

async function refuseLookup(sql: Sql, id: string, reason: Fragment): Promise<void> {
  await sql`update number_lookups set state = 'refused', reason = ${reason} where id = ${id} and state = 'open'`;
}

async function stateOf(sql: Sql, id: string): Promise<LookupState> {
  const [row] = await sql<LookupState[]>`select state, reason from number_lookups where id = ${id}`;
  const gone: { state: 'refused'; reason: LookupRefusal } = { state: 'refused', reason: 'abandoned' };
  return row ? { ...row } : gone;
}

function isKnown(sql: Sql) {
  return sql`state = 'done' and checked_at > now() - interval '24 hours'`;
}
