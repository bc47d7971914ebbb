import { chargeTool, type Spending } from '../accounts/toolBudgets.ts';
import type { Database, Sql } from '../connection.ts';
import { chargedAndReserved, fundsError } from '../money/reservations.ts';
import { transaction } from '../transaction.ts';
import { endLost, isKnown } from './lookups.ts';

/** A look-up as it is accepted; money in grosze net. */
export interface NewLookup {
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
