import {
  GUESSES_MAX,
  type ReachedLimit,
  reachedLimit,
  type VerificationRow,
} from '../../domain/verifications.ts';
import type { Fragment, Sql } from '../connection.ts';
import { newId } from '../ids.ts';
import { reserved } from '../money/reservations.ts';
import { countOwnCode, type OwnNumber } from './ownNumbers.ts';

/** The account may send no further code to the number yet. */
export class CodesTooManyError extends Error {
  override readonly name = 'CodesTooManyError';
  readonly reached: ReachedLimit;

  constructor(reached: ReachedLimit) {
    super(`the account may send ${reached.limit} codes to a number`);
    this.reached = reached;
  }
}

/** The number's pending verification is not the one that was read before. */
export class PendingChangedError extends Error {
  override readonly name = 'PendingChangedError';
}

export async function readVerification(
  sql: Sql,
  accountId: string,
  id: string,
): Promise<VerificationRow | null> {
  const [row] = await sql<VerificationRow[]>`
    select ${columns(sql)} from verifications where id = ${id} and account_id = ${accountId}`;
  return row ?? null;
}

/** The account's pending verification of a number (E.164); there is one at most, and one for each who makes it an own number. */
export async function readPending(
  sql: Sql,
  accountId: string,
  msisdn: string,
  own?: OwnNumber,
  locked: Fragment = sql``,
): Promise<VerificationRow | null> {
  const [row] = await sql<VerificationRow[]>`
    select ${columns(sql)} from verifications
     where account_id = ${accountId} and msisdn = ${msisdn} and for_account is not distinct from ${own?.accountId ?? null}
       and asked_by is not distinct from ${own?.personId ?? null} and ${isPending(sql)} ${locked}`;
  return row ?? null;
}

/**
 * Records a code in the transaction that accepts its SMS: a new verification, or the next code of a pending one. Locks the account, so that
 * concurrent requests neither exceed a limit together nor begin two.
 * @param before the pending verification that `row` continues
 * @throws CodesTooManyError, PendingChangedError, OwnCodeRefusedError
 */
export async function recordCode(
  tx: Sql,
  accountId: string,
  row: VerificationRow,
  before: VerificationRow | null,
  own?: OwnNumber,
): Promise<void> {
  const { id, msisdn, codeLength, costGrosze, expiresAt, createdAt, updatedAt } = row;
  await tx`select from accounts where id = ${accountId} for no key update`;
  if (own !== undefined) await countOwnCode(tx, accountId, msisdn, own);
  const sent = await tx<{ age: number }[]>`
    select extract(epoch from clock_timestamp() - at)::float8 as age from verifications, unnest(sent_at) as at
     where account_id = ${accountId} and msisdn = ${msisdn} and approved_at is null
       and expires_at > now() - interval '1 day' order by at desc`;
  const reached = reachedLimit(sent.map(({ age }) => age));
  if (reached !== null) throw new CodesTooManyError(reached);
  const now = await readPending(tx, accountId, msisdn, own, tx`for update`);
  if (versionOf(now) !== versionOf(before)) throw new PendingChangedError();
  await tx`
    insert into verifications as v (id, account_id, msisdn, code_length, sent_at, cost_grosze, expires_at, created_at, updated_at,
                                    for_account, asked_by, network)
    values (${id}, ${accountId}, ${msisdn}, ${codeLength}, array[clock_timestamp()], ${costGrosze}, ${expiresAt}, ${createdAt}, ${updatedAt},
            ${own?.accountId ?? null}, ${own?.personId ?? null}, ${own?.network ?? null}::inet)
    on conflict (id) do update
       set sent_at = v.sent_at || excluded.sent_at, cost_grosze = excluded.cost_grosze,
           expires_at = excluded.expires_at, updated_at = excluded.updated_at`;
}

function versionOf(row: VerificationRow | null): string {
  return JSON.stringify(row === null ? null : [row.id, row.guesses, row.codes]);
}

/**
 * Counts a guess and, in the same statement, what it comes to: of any number at once, {@link GUESSES_MAX} have an effect. Approval is a
 * webhook event, whose delivery is reserved.
 * @returns the verification after it; null, and nothing is changed, if it was not pending
 */
export async function countGuess(sql: Sql, id: string, isRight: boolean): Promise<VerificationRow | null> {
  const [counted] = await sql<VerificationRow[]>`
    with counted as (
      update verifications
         set guesses = guesses + 1, approved_at = case when ${isRight}::boolean then now() end, updated_at = now()
       where id = ${id} and ${isPending(sql)}
      returning *
    ), events as (
      insert into webhook_events (id, account_id, subject_kind, subject_id, type, snapshot)
      select ${newId('evt')}, c.account_id, 'verification', c.id, 'verification.approved', '{}'
        from counted c join accounts a on a.id = c.account_id
       where c.approved_at is not null and a.webhook_url is not null
      returning id, account_id
    ), reserved as (
      ${reserved(sql, 'event', sql`select id, account_id from events`)}
    )
    select ${columns(sql)} from counted`;
  return counted ?? null;
}

function columns(sql: Sql): Fragment {
  return sql`
    id, msisdn, code_length, guesses, cardinality(sent_at) as codes, cost_grosze, expires_at, approved_at, created_at, updated_at,
    case when approved_at is not null then 'approved' when ${isPending(sql)} then 'pending'
         when guesses >= ${GUESSES_MAX} then 'failed' else 'expired' end as status`;
}

function isPending(sql: Sql): Fragment {
  return sql`(approved_at is null and guesses < ${GUESSES_MAX} and expires_at > now())`;
}
