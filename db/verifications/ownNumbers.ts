import type { PersonActor } from '../../domain/actor.ts';
import { type Fragment, lockNames, type Sql } from '../connection.ts';
import { countDailyUse, lockDailyUse, polishMidnight, secondsOfToday } from '../dailyUse.ts';

/** Codes to a number and for an account on a Polish day, numbers that a network asks for on one, and accounts that a number is ever verified in. */
const LIMITS = { number: 3, account: 10, network: 5, accounts: 3 } as const;

/** For whom the installation sends a code. */
export interface OwnNumber {
  accountId: string;
  personId: string;
  /** Of the person, as made by `limitedNetwork`. */
  network: string;
  /** Codes of the installation on a Polish day. */
  budget: number;
}

/** What has had too many codes, `day`: all together, and for how many seconds more; `elsewhere`: the number, for good. */
export type CodeLimit = { limited: 'number' | 'account' | 'network' | 'day'; seconds: number } | 'elsewhere';

/** The installation sends no further code for now. The transaction must be rolled back. */
export class OwnCodeRefusedError extends Error {
  override readonly name = 'OwnCodeRefusedError';

  constructor(readonly limit: CodeLimit) {
    super('no code is sent to an own number');
  }
}

/** Counts a code to a number, with the row of the account that sends it locked. @throws OwnCodeRefusedError */
export async function countOwnCode(
  tx: Sql,
  sender: string,
  msisdn: string,
  { network, accountId, budget }: OwnNumber,
): Promise<void> {
  const sentToday = tx`verifications v, unnest(v.sent_at) as at
             where v.expires_at > now() - interval '2 days' and at >= ${polishMidnight(tx)}`;
  const [counted] = await tx<{ number: number; account: number; network: number; accounts: number }[]>`
    select (select count(*)::int from ${sentToday}
               and v.account_id = ${sender} and v.msisdn = ${msisdn} and v.for_account is not null) as number,
           (select count(*)::int from ${sentToday} and v.for_account = ${accountId}) as account,
           (select count(distinct msisdn)::int from verifications
             where network = ${network}::inet and created_at >= ${polishMidnight(tx)} and msisdn <> ${msisdn}) as network,
           ${otherAccounts(tx, accountId, msisdn)} as accounts`;
  const { number, account, network: others, accounts } = counted!;
  if (accounts >= LIMITS.accounts) throw new OwnCodeRefusedError('elsewhere');
  const used = await lockDailyUse(tx, 'number_codes');
  const [limited] = [
    ...(number >= LIMITS.number ? ['number' as const] : []),
    ...(account >= LIMITS.account ? ['account' as const] : []),
    ...(others >= LIMITS.network ? ['network' as const] : []),
    ...(used >= budget ? ['day' as const] : []),
  ];
  if (limited !== undefined) throw new OwnCodeRefusedError({ limited, seconds: secondsOfToday() });
  await countDailyUse(tx, 'number_codes', [budget]);
}

/** Whether a number may be verified for an account; no other account takes it until the transaction ends. */
export async function lockOwnNumber(tx: Sql, accountId: string, msisdn: string): Promise<boolean> {
  await lockNames(tx, [`own number ${msisdn}`]);
  const [row] = await tx<{ accounts: number }[]>`select ${otherAccounts(tx, accountId, msisdn)} as accounts`;
  return row!.accounts < LIMITS.accounts;
}

/** As SQL: how many other accounts have, or had, verified a number. */
function otherAccounts(sql: Sql, accountId: string, msisdn: string): Fragment {
  return sql`(
    select count(*)::int from (
      select account_id from verified_numbers where msisdn = ${msisdn}
       union
      select for_account from verifications where msisdn = ${msisdn} and for_account is not null and approved_at is not null
    ) a where account_id <> ${accountId})`;
}

/** A code that a person asked for. */
export interface OwnCode {
  id: string;
  /** The account that sent it. */
  sender: string;
  msisdn: string;
  approvedAt: Date | null;
}

/** The codes of a person for the account: the latest pending one, or, also when it is over, the one with this id. */
export async function readOwnCode(
  sql: Sql,
  { id: person, accountId }: PersonActor,
  id: string | null,
): Promise<OwnCode | undefined> {
  const which =
    id === null ? sql`approved_at is null and expires_at > now() and guesses < 5` : sql`id = ${id}`;
  const [row] = await sql<OwnCode[]>`
    select id, account_id as sender, msisdn, approved_at from verifications
     where for_account = ${accountId} and asked_by = ${person} and ${which} order by updated_at desc, id desc limit 1`;
  return row;
}
