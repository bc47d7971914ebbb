import { type Acceptances, type Cost, payInOrder, type Purse } from '../../domain/acceptance.ts';
import { isFaultOfRow, type Database, hasSqlState, type Sql, SQLSTATE } from '../connection.ts';
import { removeUndecided } from '../messages/undecided.ts';
import { transaction } from '../transaction.ts';
import { availableGrosze } from './available.ts';
import { ACCEPT_WITHIN_SECONDS, acceptDrafts } from './billing.ts';

// Longer than other charges of an account take, and short for those who wait beside it.
const LOCK_MS = 150;
// It has the money of all these accounts in hand: where this process stands still it is taken from it.
const TRANSACTION_MS = 3_000;

type Locked = Cost & Purse & { id: string; purseCredits: number; late: boolean };

/**
 * Charges requests of one message each together, in one transaction and each for itself: one that its account cannot pay is
 * refused alone, and gone with its refusal. Running it again changes nothing. What somebody else has in hand (a caller that gives
 * up, a transaction with that account's money) holds up nobody: it is waited for briefly, beside the others, and else left.
 * @param id of the workflow that charges them, which the messages remember
 * @param front connections of those who wait for nobody; `sql` is for what has to be waited for
 */
export async function chargeTogether(
  sql: Database,
  id: string,
  requestIds: readonly string[],
  front = sql,
): Promise<Acceptances> {
  const first = await decide(front, id, requestIds, 'skip');
  if (first.left.length === 0) return first;
  const accounts = await accountsOfDrafts(front, first.left);
  const later = await Promise.all([...accounts.values()].map((ids) => decide(sql, id, ids, 'wait')));
  // Those that were no drafts any more when the accounts were looked for: somebody has decided meanwhile.
  const known = new Set([...accounts.values()].flat());
  const others = first.left.filter((requestId) => !known.has(requestId));
  if (others.length > 0) later.push(await decide(sql, id, others, 'skip'));
  return {
    accepted: [first, ...later].flatMap(({ accepted }) => accepted),
    refused: Object.assign({}, ...[first, ...later].map(({ refused }) => refused)) as Acceptances['refused'],
    left: later.flatMap(({ left }) => left),
  };
}

async function decide(
  sql: Database,
  id: string,
  requestIds: readonly string[],
  locked: 'skip' | 'wait',
): Promise<Acceptances> {
  try {
    return await transaction(sql, async (tx) => {
      // The connection's own time runs already, and is set anew only where none runs.
      await tx`
        select set_config('transaction_timeout', '0', true),
               set_config('transaction_timeout', ${`${TRANSACTION_MS}ms`}, true),
               set_config('lock_timeout', ${`${LOCK_MS}ms`}, true)`;
      const drafts = await lockDrafts(tx, requestIds, locked);
      const inTime = drafts.filter(({ late }) => !late);
      const paid = payInOrder(inTime, inTime.map(purseOf));
      if (paid.size > 0) await acceptDrafts(tx, [...paid], id);
      const refused: Acceptances['refused'] = {};
      for (const { requestId, late } of drafts)
        if (!paid.has(requestId)) refused[requestId] = late ? 'too_late' : 'insufficient_funds';
      await removeUndecided(tx, Object.keys(refused));
      const others = requestIds.filter((one) => !paid.has(one) && refused[one] === undefined);
      return await withOthers(tx, { accepted: [...paid], refused, left: [] }, others);
    });
  } catch (error) {
    // Of one of them, which fails by itself when it is charged by itself.
    if (isFaultOfRow(error) || hasSqlState(error, SQLSTATE.lockNotAvailable))
      return { accepted: [], refused: {}, left: [...requestIds] };
    throw error;
  }
}

/** The drafts that nobody else has in hand, in the order in which they came, each with what its account may spend. */
async function lockDrafts(
  tx: Sql,
  requestIds: readonly string[],
  locked: 'skip' | 'wait',
): Promise<readonly Locked[]> {
  return await tx<Locked[]>`
    select m.id, m.request_id, m.account_id, m.cost_grosze as grosze, m.test_credits,
           m.created_at <= now() - make_interval(secs => ${ACCEPT_WITHIN_SECONDS}) as late,
           ${availableGrosze(tx)} as available_grosze,
           a.test_credits as purse_credits
      from messages m join accounts a on a.id = m.account_id
     where m.request_id = any(${requestIds as string[]}) and m.status = 'draft'
     order by m.account_id, m.id
       for no key update of m, a ${locked === 'skip' ? tx`skip locked` : tx``}`;
}

function purseOf({ accountId, availableGrosze, purseCredits }: Locked): Purse {
  return { accountId, availableGrosze, testCredits: purseCredits };
}

/** With what was decided of those that could not be charged: before, or by somebody else. */
async function withOthers(tx: Sql, decided: Acceptances, others: readonly string[]): Promise<Acceptances> {
  if (others.length === 0) return decided;
  const rows = await tx<{ requestId: string; undecided: boolean }[]>`
    select request_id, bool_or(status = 'draft') as undecided
      from messages where request_id = any(${others as string[]}) group by request_id`;
  const known = new Map(rows.map(({ requestId, undecided }) => [requestId, undecided]));
  for (const requestId of others) {
    const undecided = known.get(requestId);
    if (undecided === undefined) decided.refused[requestId] = 'abandoned';
    else decided[undecided ? 'left' : 'accepted'].push(requestId);
  }
  return decided;
}

/** Of these requests those that are drafts, by account. */
async function accountsOfDrafts(sql: Sql, requestIds: readonly string[]): Promise<Map<string, string[]>> {
  const rows = await sql<{ accountId: string; requestIds: string[] }[]>`
    select account_id, array_agg(request_id order by id) as request_ids
      from messages where request_id = any(${requestIds as string[]}) and status = 'draft' group by account_id`;
  return new Map(rows.map(({ accountId, requestIds: ids }) => [accountId, ids]));
}
