import { hasSqlState, type Sql, SQLSTATE } from '../connection.ts';

/** An account cannot have the keyword it claims, as the schema sees it (v2.3.0, Account and senders: 409). */
export class KeywordUnavailableError extends Error {
  override readonly name = 'KeywordUnavailableError';
  constructor(readonly why: 'taken' | 'resting' | 'too_many') {
    super(why);
  }
}

/** What the schema's refusal of a keyword means; null for any other error. */
export function keywordRefusal(error: unknown): KeywordUnavailableError['why'] | null {
  // Two accounts that claim each other's word at one instant wait for each other: to whom PostgreSQL ends it, the other still has its word.
  if (hasSqlState(error, SQLSTATE.uniqueViolation) || hasSqlState(error, SQLSTATE.deadlock)) return 'taken';
  if (hasSqlState(error, SQLSTATE.keywordRests)) return 'resting';
  return hasSqlState(error, SQLSTATE.keywordsTooMany) ? 'too_many' : null;
}

/** Whether staff have allowed the word to the account; read with the account locked, it stays so. */
export async function isAllowed(sql: Sql, accountId: string, keyword: string): Promise<boolean> {
  const found = await sql`select from allowed_keywords where account_id = ${accountId} and word = ${keyword}`;
  return found.length > 0;
}

/** Lets the account claim an everyday word; again changes nothing. @returns false when it was allowed before */
export async function allowKeyword(sql: Sql, accountId: string, keyword: string): Promise<boolean> {
  const allowed = await sql`
    insert into allowed_keywords (account_id, word) values (${accountId}, ${keyword}) on conflict do nothing`;
  return allowed.count > 0;
}

/** Takes the consent back. @returns false when there was none */
export async function revokeKeyword(sql: Sql, accountId: string, keyword: string): Promise<boolean> {
  const revoked = await sql`
    delete from allowed_keywords where account_id = ${accountId} and word = ${keyword}`;
  return revoked.count > 0;
}

/** Takes the keyword away from an account that has it, so that it begins to rest. @returns false when it has another or none */
export async function takeKeywordAway(sql: Sql, accountId: string, keyword: string): Promise<boolean> {
  const taken = await sql`
    update accounts set inbound_prefix = null, updated_at = now()
     where id = ${accountId} and inbound_prefix = ${keyword}`;
  return taken.count > 0;
}

/** Ends the rest of a keyword before its time. @returns its former owner; null when it does not rest */
export async function releaseKeyword(sql: Sql, keyword: string): Promise<string | null> {
  const [released] = await sql<{ accountId: string }[]>`
    delete from resting_keywords where word = ${keyword} and ${rests(sql)} returning account_id`;
  return released?.accountId ?? null;
}

/** What is known of a keyword and an account. */
interface KnownKeyword {
  word: string;
  accountId: string;
  /** `allowed`: it may claim the everyday word, and does not have it. */
  state: 'in use' | 'allowed' | 'resting';
  /** Staff's consent. */
  allowed: boolean;
  /** The end of its rest. */
  until: Date | null;
}

/** Keywords in use, allowed and at rest, by word; of one account, or of all when `account` is null. */
export async function listKeywords(sql: Sql, account: string | null): Promise<KnownKeyword[]> {
  return [
    ...(await sql<KnownKeyword[]>`
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
       order by k.word, k.state, k.account_id`),
  ];
}

const rests = (sql: Sql) => sql`given_up_at > now() - interval '30 days'`;
