import { readScheduled } from '../../db/messages/scheduled.ts';
import type { StaffRefusal } from '../../domain/refusals.ts';
import { findAccount } from '../accounts/find.ts';
import { cancelToTheLast } from '../cancel.ts';
import { type ActedOn, actOnEach, leftOf, recordedAfter } from '../staff.ts';
import { unlessRefused } from './decisions.ts';

const AT_ONCE = 10;

interface Input {
  account: string;
  /** Null: of all its requests. */
  request: string | null;
  limit: number;
  /** Else nothing is done, and it only answers to which it would be. */
  agreed: boolean;
}

/** What came of scheduled messages. */
export interface CancelledMany {
  /** Those that it is about, by id. */
  ids: string[];
  /** How many are scheduled in all. */
  of: number;
  /** Of each of them, in that order; null where it was not agreed to. */
  outcome: ActedOn<StaffRefusal>[] | null;
}

/**
 * Cancels and refunds what an account, or one of its requests, has scheduled, as the database knows it: also what has not been
 * started yet. Each has an audit record of its own, written right after it; a last one says what was asked, and what was left.
 * @throws StaffRefused where nothing was done
 */
export const cancelMany = recordedAfter('messages cancel-all', async (services, input: Input, record) => {
  const { account, request, limit, agreed } = input;
  await findAccount(services.sql, account);
  const { count, ids } = await readScheduled(services.sql, { accountId: account, requestId: request }, limit);
  const asked = request === null ? {} : { request };
  const about = { ids, of: count };
  if (!agreed) {
    const data: CancelledMany = { ...about, outcome: null };
    return { data, account, details: { ...asked, carried_out: false } };
  }
  const cancelOne = (id: string) => unlessRefused(id, () => cancelToTheLast(services, id));
  const outcome = await actOnEach(ids, record, cancelOne, AT_ONCE);
  const data: CancelledMany = { ...about, outcome };
  const done = outcome.filter(({ carriedOut }) => carriedOut === true).length;
  return { data, account, details: { ...asked, done, left: leftOf(outcome) } };
});
