import { hasSqlState, type Sql, SQLSTATE } from '../connection.ts';

/** The account cannot have the keyword it claims (v2.3.0, Account and senders: 409). */
export class KeywordUnavailableError extends Error {
  override readonly name = 'KeywordUnavailableError';
  constructor(readonly why: 'taken' | 'resting' | 'too_many') {
    super(why);
  }
}

export function keywordRefusal(error: unknown): KeywordUnavailableError['why'] | null {
  // Two accounts that claim each other's keyword deadlock: the one PostgreSQL aborts finds the other's still in use.
  if (hasSqlState(error, SQLSTATE.uniqueViolation) || hasSqlState(error, SQLSTATE.deadlock)) return 'taken';
  if (hasSqlState(error, SQLSTATE.keywordRests)) return 'resting';
  return hasSqlState(error, SQLSTATE.keywordsTooMany) ? 'too_many' : null;
}

/** Whether staff allow the keyword to the account. It stays so as long as the account is locked. */
export async function isAllowed(sql: Sql, accountId: string, keyword: string): Promise<boolean> {
  const found = await sql`select from allowed_keywords where account_id = ${accountId} and word = ${keyword}`;
  return found.length > 0;
}

/** Allows the account to claim an everyday word; idempotent. @returns false when it was allowed before */
export async function allowKeyword(sql: Sql, accountId: string, keyword: string): Promise<boolean> {
  const allowed = await sql`
    insert into allowed_keywords (account_id, word) values (${accountId}, ${keyword}) on conflict do nothing`;
  return allowed.count > 0;
}

/** Withdraws the permission. @returns false when there was none */
export async function revokeKeyword(sql: Sql, accountId: string, keyword: string): Promise<boolean> {
  const revoked = await sql`
    delete from allowed_keywords where account_id = ${accountId} and word = ${keyword}`;
  return revoked.count > 0;
}

/** Removes the keyword from the account, so that its rest begins. @returns false when the account does not have it */
export async function takeKeywordAway(sql: Sql, accountId: string, keyword: string): Promise<boolean> {
  const taken = await sql`
    update accounts set inbound_prefix = null, updated_at = now()
     where id = ${accountId} and inbound_prefix = ${keyword}`;
  return taken.count > 0;
}

/** Ends the rest of a keyword early. @returns its former owner; null when it does not rest */
export async function releaseKeyword(sql: Sql, keyword: string): Promise<string | null> {
  const [released] = await sql<{ accountId: string }[]>`
    delete from resting_keywords where word = ${keyword} and ${rests(sql)} returning account_id`;
  return released?.accountId ?? null;
}

export interface KnownKeyword {
  word: string;
  accountId: string;
  /** `allowed`: the account may claim the everyday word but does not have it. */
  state: 'in use' | 'allowed' | 'resting';
  allowed: boolean;
  until: Date | null;
}

export async function listKeywords(sql: Sql, account: string | null): Promise<KnownKeyword[]> {
  return await sql<KnownKeyword[]>`
    select k.word, k.account_id, k.state, k.until,
           exists (select from allowed_keywords w where w.account_id = k.account_id and w.word = k.word) as allowed
      from (select inbound_prefix as word, id as account_id, 'in use' as state, null::timestamptz as until
              from accounts where inbound_prefix is not null
            union all
            select w.word, w.account_id, 'allowed', null
              from allowed_keywords w join accounts a on a.id = w.account_id
             where a.inbound_prefix is distinct from w.word
            union all
            select word, account_id, 'resting', given_up_at + interval '30 days' from resting_keywords
             where ${rests(sql)}) k
     where ${account === null ? sql`true` : sql`k.account_id = ${account}`}
     order by k.word, k.state, k.account_id`;
}

const rests = (sql: Sql) => sql`given_up_at > now() - interval '30 days'`;
