import type { MessageRow } from '../../domain/records.ts';
import type { CountryRates } from '../../domain/price.ts';
import type { Refusal } from '../../domain/acceptance.ts';
import { activeEntry } from '../incoming/blacklist.ts';
import type { Fragment, Sql } from '../connection.ts';
import { isOverdue } from '../money/statements.ts';

/** What an account's sends are measured by; money in grosze net. */
export interface SendTerms {
  /** The database's clock, epoch milliseconds: one clock decides for all API processes. */
  now: number;
  mode: 'test' | 'live';
  price_per_part_grosze: number;
  country_rates: CountryRates;
  /** What may be spent: the balance, of a postpaid account with its credit limit. */
  available_grosze: number;
  test_credits: number;
  send_window: string | null;
  /** The sender asked for, else the account's default; null when that one is not active or there is none. */
  sender: string | null;
  /** A postpaid account with a statement past its due time: sends are suspended. */
  overdue: boolean;
  /** Of the recipients handed over: those a test account has not verified. */
  unverified: string[];
  /** Of the recipients handed over: those on the account's blacklist. */
  blacklisted: string[];
}

/** A message before its charge: invisible to every read, and never sent unless the charge accepts it. */
export interface Draft extends MessageRow {
  account_id: string;
  request_id: string;
  /** One of several recipients of its request. */
  batched: boolean;
  /** The status it gets if the charge accepts it. */
  accepted_as: 'scheduled' | 'queued' | 'rejected';
  /** ISO 3166-1 alpha-2; null where the number belongs to none. */
  country: string | null;
  /** Tokens of the tracked links in its text. */
  links: string[];
  /** Test credits it takes: 1 on a test account, else 0. */
  test_credits: number;
  /** When the wait for a delivery report ends. */
  give_up_at: Date;
  carrier: string;
}

/** The claim of an idempotency key, written together with the drafts. */
export interface KeyClaim {
  key: string;
  /** Keyed hash of method, path and body. */
  fingerprint: Buffer;
  acceptedStatus: number;
  /** The answer if the request is accepted. */
  acceptedBody: unknown;
}

/** How a request ended that its caller stopped waiting for. */
export type Resolution = 'charged' | Refusal;

/**
 * Everything of the account that a send depends on, in one statement.
 * @param sender the sender asked for; null means the account's default
 * @param recipients MSISDNs in E.164 with plus, to be checked against verified numbers and blacklist
 */
export async function readSendTerms(
  sql: Sql,
  accountId: string,
  sender: string | null,
  recipients: readonly string[],
): Promise<SendTerms | null> {
  const [terms] = await sql<SendTerms[]>`
    select floor(extract(epoch from clock_timestamp()) * 1000)::bigint as now,
           a.mode, a.price_per_part_grosze, a.country_rates, a.send_window, a.test_credits,
           a.balance_grosze + case when a.billing_mode = 'postpaid' then a.credit_limit_grosze else 0 end
             as available_grosze,
           (select s.name from senders s
             where s.account_id = a.id and s.active and s.name = coalesce(${sender}, a.sender_name)) as sender,
           ${isOverdue(sql, sql`a`)} as overdue,
           array(
             select r from unnest(${recipients as string[]}::text[]) as r
              where a.mode = 'test'
                and not exists (select from verified_numbers v where v.account_id = a.id and v.msisdn = r)
           ) as unverified,
           array(
             select r from unnest(${recipients as string[]}::text[]) as r
              where exists (${activeEntry(sql, sql`a.id`, sql`r`)})
           ) as blacklisted
      from accounts a where a.id = ${accountId}`;
  return terms ?? null;
}

/** Writes the drafts of one request with their tracked links (one statement, all or none). */
export async function writeDrafts(sql: Sql, drafts: readonly Draft[]): Promise<void> {
  await sql`with ${draftsOf(sql, drafts, sql``)} select from drafted`;
}

/**
 * Claims an idempotency key and writes the drafts in one statement: both or neither. A key older than 24 h is free
 * again (v2.3.0, Limits). The claim is open for a lease of 15 s; the charge settles it.
 *
 * @returns false when the key is taken; nothing is written then
 */
export async function writeDraftsWithKey(
  sql: Sql,
  drafts: readonly Draft[],
  claim: KeyClaim,
): Promise<boolean> {
  const { account_id: accountId, request_id: requestId } = drafts[0]!;
  const written = await sql`
    with claimed as (
      insert into idempotency_keys as k
             (account_id, key, fingerprint, request_id, accepted_status, accepted_body, lease_until)
      values (${accountId}, ${claim.key}, ${claim.fingerprint}, ${requestId}, ${claim.acceptedStatus},
              ${JSON.stringify(claim.acceptedBody)}::text::jsonb, now() + interval '15 s')
      on conflict (account_id, key) do update
         set fingerprint = excluded.fingerprint, request_id = excluded.request_id, state = 'open',
             accepted_status = excluded.accepted_status, accepted_body = excluded.accepted_body,
             lease_until = excluded.lease_until, created_at = now()
       where k.created_at <= now() - interval '24 hours'
      returning request_id
    ), ${draftsOf(sql, drafts, sql`where exists (select from claimed)`)}
    select id from drafted limit 1`;
  return written.length > 0;
}

/**
 * Ends a request whose caller is about to be told that nothing will be sent: its drafts are refused and its
 * idempotency key is freed, unless the charge was faster. Waits for a charge that is under way.
 *
 * @returns `abandoned` when it was ended here or never written, else how the charge had decided
 */
export async function abandonRequest(sql: Sql, requestId: string): Promise<Resolution> {
  await sql`
    with waiting as (
      select id from messages where request_id = ${requestId} and status = 'draft' order by id for update
    ), abandoned as (
      update messages set status = 'refused', refusal = 'abandoned', updated_at = now()
       where id in (select id from waiting)
      returning id
    )
    delete from idempotency_keys
     where request_id = ${requestId} and state = 'open' and exists (select from abandoned)`;
  const [message] = await sql<{ status: string; refusal: Refusal | null }[]>`
    select status, refusal from messages where request_id = ${requestId} limit 1`;
  if (!message) return 'abandoned';
  return message.status === 'refused' ? (message.refusal ?? 'abandoned') : 'charged';
}

// Rows travel as one JSON parameter: one prepared statement whatever their number.
function draftsOf(sql: Sql, drafts: readonly Draft[], condition: Fragment) {
  const rows = JSON.stringify(drafts);
  const linked = drafts.some(({ links }) => links.length > 0);
  return sql`
    drafted as (
      insert into messages (id, account_id, request_id, batched, type, status, accepted_as, recipient, country, sender,
                            text, parts, cost_grosze, test_credits, priority, reference, send_at, expires_at,
                            give_up_at, carrier, error_code, created_at, updated_at)
      select id, account_id, request_id, batched, type, 'draft', accepted_as, recipient, country, sender,
             text, parts, cost_grosze, test_credits, priority, reference, send_at, expires_at,
             give_up_at, carrier, error_code, created_at, created_at
        from jsonb_populate_recordset(null::messages, ${rows}::text::jsonb) ${condition}
      returning id
    )${
      linked
        ? sql`, linked as (
      insert into message_links (message_id, token)
      select d.id, token
        from jsonb_to_recordset(${rows}::text::jsonb) as d(id text, links text[])
        join drafted using (id) cross join unnest(d.links) as token
    )`
        : sql``
    }`;
}
