import type {
  LookupAnswer,
  LookupFailure,
  LookupFinding,
  LookupState,
  StartableLookup,
} from '../../domain/submission.ts';
import { chargeTool, givenBack, type Spending } from '../accounts/quotas.ts';
import { type Database, type Fragment, type Sql, transaction } from '../connection.ts';
import { availableGrosze } from '../money/ledger.ts';
import { refundOf } from '../money/billing.ts';
import { isOverdue } from '../money/statements.ts';
import { chargedAndReserved, fundsError } from '../money/reservations.ts';

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
interface LookupTerms {
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
              where l.account_id = a.id and l.msisdn = ${msisdn} and l.state = 'charged'
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

/** What starts the workflows of look-ups. */
export async function startableLookups(sql: Sql, ids: readonly string[]): Promise<StartableLookup[]> {
  if (ids.length === 0) return [];
  return await sql<StartableLookup[]>`
    select id, account_id, route from number_lookups where id = any(${ids as string[]}::text[])`;
}

/** The number to ask the provider about; null when this is not to be asked (any more): it has ended, or it is too late. */
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
  await refund(sql, sql`id = ${id}`, reason);
  return await stateOf(sql, id);
}

/** Ends and refunds a look-up that no workflow has taken up, so that none ever asks for it; leaves alone one that is taken up. */
export async function abandonLookup(sql: Database, id: string): Promise<void> {
  await transaction(sql, async (tx) => {
    // Whoever deletes it decides: this, or the workflow's first step.
    const settled = await tx`delete from reservations where subject_id = ${id}`;
    if (settled.count > 0) await failLookup(tx, id, 'abandoned');
  });
}

/** Ends and refunds an account's look-up of a number whose workflow is lost. */
async function endLost(sql: Sql, accountId: string, msisdn: string): Promise<void> {
  const lost: Fragment = sql`
    account_id = ${accountId} and msisdn = ${msisdn}
    and created_at < now() - make_interval(secs => ${LOST_AFTER_SECONDS})`;
  await refund(sql, lost, 'timed_out');
}

/** Look-ups whose workflows are lost, the oldest first. */
export async function lostLookups(sql: Sql, limit: number): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select id from number_lookups
     where state = 'charged' and created_at < now() - make_interval(secs => ${LOST_AFTER_SECONDS}) order by id limit ${limit}`;
  return rows.map(({ id }) => id);
}

/** Fails a charged look-up and gives back what it cost, to the account and to the tool budget. @param which one at most */
async function refund(sql: Sql, which: Fragment, reason: LookupFailure): Promise<void> {
  await sql`
    with failed as (
      update number_lookups set state = 'failed', reason = ${reason}
       where state = 'charged' and ${which}
      returning id, cost_grosze, tool_key_id, tool_day
    ), given_back as (${givenBack(sql, sql`failed`)})
    ${refundOf(sql, sql`failed`)}`;
}

/** Where a look-up stands, with its result when there is one. */
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

/** As SQL, of look-ups: a result that is still given again (v2.3.0, Number lookup: 24 h). */
function isKnown(sql: Sql): Fragment {
  return sql`state = 'done' and checked_at > now() - interval '24 hours'`;
}

/** A look-up as it is accepted; money in grosze net. */
interface NewLookup {
  id: string;
  accountId: string;
  /** E.164. */
  msisdn: string;
  /** The one that it is asked by. */
  route: string;
  costGrosze: number;
  /** What is charged to the budget of a key for tools; null where it has none. */
  spending: Spending | null;
}

/** A look-up under way; `own` is false when another request of the account has begun it, and pays for it. */
export interface AcceptedLookup {
  id: string;
  own: boolean;
}

/**
 * Accepts a look-up: its row, its cost (balance, ledger, tool budget) and the reservation for its workflow, in one transaction. An account
 * has at most one under way for a number: where there is one, that one is joined, which costs nothing. The caller starts its workflow.
 * @returns null where another one has just ended: what was asked for may be known now
 * @throws InsufficientFundsError, ToolBudgetError; nothing is left behind
 */
export async function acceptLookup(sql: Database, lookup: NewLookup): Promise<AcceptedLookup | null> {
  await endLost(sql, lookup.accountId, lookup.msisdn);
  try {
    return await transaction(sql, (tx) => acceptIn(tx, lookup));
  } catch (error) {
    throw fundsError(error);
  }
}

/** The budget first, then the account, as sends do: in one order, nobody waits for whom he keeps waiting. */
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
  // Another one may have found the number before this row was written. Its own snapshot is younger, and sees that: two at once cost once.
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

// Whoever asked has long stopped waiting.
const KEPT = '1 hour';

/**
 * Keeps the answer to a look-up that a provider's callback brought; a repeated one changes nothing. What nobody waits for
 * any more is removed.
 *
 * @param providerId the provider's own id of the look-up
 */
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

/** The answer to a look-up with the provider's id; null when it has not come. */
export async function findLookupAnswer(
  sql: Sql,
  route: string,
  providerId: string,
): Promise<LookupAnswer | null> {
  const [row] = await sql<{ answer: LookupAnswer }[]>`
    select answer from lookup_answers where route = ${route} and provider_id = ${providerId}`;
  return row?.answer ?? null;
}
