import type { DomesticPrices } from '../../domain/channelDeclaration.ts';
import type { Interface } from '../../domain/interfaces.ts';
import type { MessageRow } from '../../domain/records.ts';
import type { CountryRates } from '../../domain/price.ts';
import type { Quotas } from '../../domain/quotas.ts';
import type { AcceptedStatus } from '../../domain/statuses.ts';
import { activeEntry } from '../incoming/blacklist.ts';
import { byColumnName } from '../columnNames.ts';
import { type Database, type Fragment, type Sql, violates } from '../connection.ts';
import { lockLimit } from '../lockLimit.ts';
import { transaction } from '../transaction.ts';
import { availableGrosze } from '../money/available.ts';
import { isOverdue } from '../money/statements.ts';
import { isFree } from './idempotency.ts';
import { keepLists, takenApart } from './longAnswers.ts';
import { inUnpaidTurn, takesTurn, type UnpaidRoom } from './room.ts';

/** What an account's sends are measured by; money in grosze net. */
export interface SendTerms extends DomesticPrices {
  /** The database's clock, epoch milliseconds: one clock decides for all API processes. */
  now: number;
  mode: 'test' | 'live';
  countryRates: CountryRates;
  /** What may be spent: the balance, of a postpaid account with its credit limit. */
  availableGrosze: number;
  testCredits: number;
  sendWindow: string | null;
  /** The sender asked for, else the account's default; null when that one is not active or there is none. */
  sender: string | null;
  /** A postpaid account with a statement past its due time: sends are suspended. */
  overdue: boolean;
  /** What staff have set of the account's quotas. */
  quotas: Partial<Quotas>;
  /** Tracked links that the account has. */
  links: number;
  /** Of the recipients handed over: those a test account has not verified. */
  unverified: string[];
  /** Of the recipients handed over: those on the account's blacklist. */
  blacklisted: string[];
  /** Of these: those whose owners opted out. */
  optedOut: string[];
}

/** A message before its charge: invisible to every read, and never sent unless the charge accepts it. */
export interface Draft extends MessageRow {
  accountId: string;
  requestId: string;
  /** One of several recipients of its request. */
  batched: boolean;
  /** The status it gets if the charge accepts it. */
  acceptedAs: AcceptedStatus;
  /** ISO 3166-1 alpha-2; null where the number belongs to none. */
  country: string | null;
  /** How its content was cut when it was counted. */
  cut: string;
  /** The tracked links in its text. */
  links: DraftLink[];
  /** The token of the opt-out link in its text where that link is still to be made; it is when the draft is accepted. */
  optOutToken: string | null;
  /** Test credits it takes: 1 on a test account, else 0. */
  testCredits: number;
  /** When the wait for a delivery report ends. */
  giveUpAt: Date;
  route: string;
  /** The one that it is sent through. */
  interface: Interface;
  /** The caller's identifier, of the earlier interface; at most 255 characters. */
  idx: string | null;
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

/** A tracked link that a draft's text carries. */
export interface DraftLink {
  url: string;
  token: string;
  /** Not among those that there were: to be made. */
  isNew: boolean;
}

/**
 * Somebody else has made one of the new links in the meantime, or taken back one that there was. Nothing is written:
 * texts and links are to be made anew.
 */
export class LinksChangedError extends Error {
  override readonly name = 'LinksChangedError';
}

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
           a.mode, a.price_per_part_grosze, a.price_per_mms_grosze, a.price_per_vms_grosze, a.country_rates, a.send_window, a.test_credits,
           ${availableGrosze(sql)} as available_grosze,
           (select s.name from senders s
             where s.account_id = a.id and s.active and s.name = coalesce(${sender}, a.sender_name)) as sender,
           ${isOverdue(sql, sql`a`)} as overdue, a.quotas,
           coalesce((select used from account_usage where account_id = a.id and kind = 'links'), 0) as links,
           array(
             select r from unnest(${recipients as string[]}::text[]) as r
              where a.mode = 'test'
                and not exists (select from verified_numbers v where v.account_id = a.id and v.msisdn = r)
           ) as unverified,
           array(
             select r from unnest(${recipients as string[]}::text[]) as r
              where exists (${activeEntry(sql, sql`a.id`, sql`r`)})
           ) as blacklisted,
           array(
             select r from unnest(${recipients as string[]}::text[]) as r
              where (${activeEntry(sql, sql`a.id`, sql`r`)}) = 'opt_out'
           ) as opted_out
      from accounts a where a.id = ${accountId}`;
  return terms ?? null;
}

// What travels in one statement at most: of longer requests each stretch is written by itself, as one parameter for all would hold
// up whoever shares the process.
const WRITTEN_AT_ONCE = { drafts: 1_000, characters: 1_000_000 };

/**
 * Writes the drafts of one request with their tracked links. What is left where that is cut off was never charged, and is
 * deleted as any draft is. Drafts with links are written all or nothing, in one statement.
 * @throws LinksChangedError
 */
export async function writeDrafts(sql: Sql, drafts: readonly Draft[]): Promise<void> {
  if (haveLinks(drafts)) await writeStretch(sql, drafts);
  else for (const stretch of stretchesOf(drafts)) await writeStretch(sql, stretch);
}

/** Whether so much is to be written that one statement for all would hold up whoever shares the process. */
export function areWrittenInStretches(drafts: readonly Draft[]): boolean {
  return stretchesOf(drafts).length > 1;
}

export function haveLinks(drafts: readonly Draft[]): boolean {
  return drafts.some(({ links }) => links.length > 0);
}

async function writeStretch(sql: Sql, stretch: readonly Draft[]): Promise<void> {
  await withLinks(sql`with ${draftsOf(sql, stretch, sql``)} select from drafted`);
}

function stretchesOf(drafts: readonly Draft[]): (readonly Draft[])[] {
  const longest = Math.max(1, ...drafts.map(({ text }) => text.length));
  const size = Math.max(
    1,
    Math.min(WRITTEN_AT_ONCE.drafts, Math.floor(WRITTEN_AT_ONCE.characters / longest)),
  );
  return Array.from({ length: Math.ceil(drafts.length / size) }, (_, index) =>
    drafts.slice(index * size, (index + 1) * size),
  );
}

/**
 * Claims idempotency keys, if there are any, and writes the drafts of their request with their tracked links: all or nothing.
 * @returns the key that is taken, if one is: nothing is written then
 * @throws LinksChangedError, QuotaReachedError
 */
export async function writeDraftsTogether(
  sql: Database,
  drafts: readonly Draft[],
  claims: readonly KeyClaim[],
  room: UnpaidRoom,
): Promise<string | null> {
  const { accountId, requestId } = drafts[0]!;
  // In one order everywhere: those who want the same keys, or links, wait for each other instead of deadlocking.
  const keys = [...claims].sort((a, b) => (a.key < b.key ? -1 : 1));
  const sorted = [...drafts].sort(
    (a, b) => Number(a.recipient > b.recipient) - Number(a.recipient < b.recipient),
  );
  const [claim, ...more] = keys;
  const isLong = more.length === 0 && areWrittenInStretches(drafts);
  const write = async (tx: Sql): Promise<void> => {
    if (claim !== undefined && isLong) await claimWithLongAnswer(tx, accountId, requestId, claim);
    else for (const one of keys) await claimKey(tx, accountId, requestId, one);
    for (const stretch of stretchesOf(sorted)) await writeStretch(tx, stretch);
  };
  try {
    await (takesTurn(room) ? inUnpaidTurn(sql, room, write) : transaction(sql, write));
    return null;
  } catch (error) {
    if (error instanceof KeyTakenError) return error.key;
    throw error;
  }
}

async function claimWithLongAnswer(
  tx: Sql,
  accountId: string,
  requestId: string,
  claim: KeyClaim,
): Promise<void> {
  const { head, lists } = takenApart(claim.acceptedBody);
  await claimKey(tx, accountId, requestId, { ...claim, acceptedBody: head });
  await keepLists(tx, { accountId, requestId, key: claim.key }, lists);
}

/** An idempotency key belongs to another request. */
export class KeyTakenError extends Error {
  override readonly name = 'KeyTakenError';
  readonly key: string;

  constructor(key: string) {
    super();
    this.key = key;
  }
}

/** Claims one idempotency key within a transaction, as {@link writeDraftsWithKey} does. @throws KeyTakenError */
export async function claimKey(
  tx: Sql,
  accountId: string,
  requestId: string,
  claim: KeyClaim,
): Promise<void> {
  const claimed = await tx`with ${claimOf(tx, accountId, requestId, claim)} select from claimed`;
  if (claimed.length === 0) throw new KeyTakenError(claim.key);
}

/**
 * Claims an idempotency key and writes the drafts in one statement: both or neither. A key older than 24 h is free
 * again (v2.3.0, Limits). The claim is open for a lease of 15 s; the charge settles it.
 *
 * @returns false when the key is taken; nothing is written then
 * @throws LinksChangedError
 */
export async function writeDraftsWithKey(
  sql: Sql,
  drafts: readonly Draft[],
  claim: KeyClaim,
): Promise<boolean> {
  const { accountId, requestId } = drafts[0]!;
  const written = await withLinks(sql`
    with ${claimOf(sql, accountId, requestId, claim)}, ${draftsOf(sql, drafts, sql`where exists (select from claimed)`)}
    select id from drafted limit 1`);
  return written.length > 0;
}

/** A request of one message, as it is written. */
export interface Single {
  draft: Draft;
  claim: KeyClaim | null;
}

// A hundred of these are no more than a stretch.
const LONG = 10_000;

/**
 * Whether it can be written in one statement with others. Those with links would make them, account by account, in an order that
 * others do not keep; a long one would keep the others waiting.
 */
export function isWrittenWithOthers({ draft: { links, text } }: Single): boolean {
  return links.length === 0 && text.length <= LONG;
}

/**
 * Writes the drafts of several requests without links in one statement, and claims their keys: each request with its key or not
 * at all. No two of them may claim the same key.
 * @param lockMs how long it waits for keys that others have locked; as long as the connection lets it unless given
 * @returns the ids of the requests that are written; the key of any other is taken
 */
export async function writeSingles(
  sql: Sql,
  singles: readonly Single[],
  lockMs?: number,
): Promise<Set<string>> {
  const keyless = singles.flatMap(({ draft, claim }) => (claim === null ? [draft.requestId] : []));
  const claims = singles.flatMap(({ draft: { accountId, requestId }, claim }) => {
    if (claim === null) return [];
    const fingerprint = claim.fingerprint.toString('hex');
    return [byColumnName({ ...claim, ...{ fingerprint, accountId, requestId } })];
  });
  const drafts = singles.map(({ draft }) => draft);
  const isClaimed: Fragment = sql`where request_id = any(${keyless}) or request_id in (select request_id from claimed)`;
  // In one order everywhere: those who want the same keys wait for each other instead of deadlocking.
  const written = await sql<{ requestId: string }[]>`
    with limited as materialized (${lockLimit(sql, lockMs)}), claimed as (
      insert into idempotency_keys as k
             (account_id, key, fingerprint, request_id, accepted_status, accepted_body, lease_until)
      select account_id, key, decode(fingerprint, 'hex'), request_id, accepted_status, accepted_body, now() + ${LEASE}::interval
        from jsonb_to_recordset(${JSON.stringify(claims)}::text::jsonb)
          as c(account_id text, key text, fingerprint text, request_id text, accepted_status smallint, accepted_body jsonb)
       cross join limited
       order by account_id collate "C", key collate "C"
      ${takesFreeKey(sql)}
    ), ${draftsOf(sql, drafts, isClaimed)}
    select request_id from drafted`;
  return new Set(written.map(({ requestId }) => requestId));
}

const LEASE = '15 s';

/** As SQL: lets an insert of keys `k` take those that are free again; returns the requests that have theirs. */
function takesFreeKey(sql: Sql): Fragment {
  return sql`
      on conflict (account_id, key) do update
         set fingerprint = excluded.fingerprint, request_id = excluded.request_id, state = 'open',
             accepted_status = excluded.accepted_status, accepted_body = excluded.accepted_body,
             lease_until = excluded.lease_until, created_at = now()
       where ${isFree(sql, sql`k`)}
      returning request_id`;
}

function claimOf(sql: Sql, accountId: string, requestId: string, claim: KeyClaim): Fragment {
  return sql`
    claimed as (
      insert into idempotency_keys as k
             (account_id, key, fingerprint, request_id, accepted_status, accepted_body, lease_until)
      values (${accountId}, ${claim.key}, ${claim.fingerprint}, ${requestId}, ${claim.acceptedStatus},
              ${JSON.stringify(claim.acceptedBody)}::text::jsonb, now() + ${LEASE}::interval)
      ${takesFreeKey(sql)}
    )`;
}

// Rows travel as one JSON parameter: one prepared statement whatever their number.
function draftsOf(sql: Sql, drafts: readonly Draft[], condition: Fragment) {
  const rows = JSON.stringify(drafts.map(({ links: _, ...draft }) => byColumnName(draft)));
  return sql`
    drafted as (
      insert into messages (id, account_id, request_id, batched, channel, status, accepted_as, recipient, country, sender,
                            text, content, parts, cut, cost_grosze, test_credits, priority, reference, send_at, expires_at,
                            give_up_at, route, interface, idx, error_code, opt_out_token, created_at, updated_at)
      select id, account_id, request_id, batched, channel, 'draft', accepted_as, recipient, country, sender,
             text, content, parts, cut, cost_grosze, test_credits, priority, reference, send_at, expires_at,
             give_up_at, route, interface, idx, error_code, opt_out_token, created_at, created_at
        from jsonb_populate_recordset(null::messages, ${rows}::text::jsonb) ${condition}
      returning id, request_id
    )${haveLinks(drafts) ? linksOf(sql, drafts) : sql``}`;
}

// A pair that somebody else has made a link of meanwhile is left alone. Its message then names a link that is not there,
// which its foreign key refuses together with all the rest. In one order everywhere: those who want the same wait for each
// other instead of deadlocking.
function linksOf(sql: Sql, drafts: readonly Draft[]): Fragment {
  const carrying = drafts
    .filter(({ links }) => links.length > 0)
    .map(({ id, accountId, recipient, links }) => byColumnName({ id, accountId, recipient, links }));
  return sql`, carried as (
      select d.id, d.account_id, d.recipient, l.url, l.token, l."isNew" as new
        from jsonb_to_recordset(${JSON.stringify(carrying)}::text::jsonb) as d(id text, account_id text, recipient text, links jsonb)
        join drafted using (id)
       cross join jsonb_to_recordset(d.links) as l(url text, token text, "isNew" boolean)
    ), made as (
      insert into tracked_links (token, account_id, recipient, url)
      select token, account_id, recipient, url from carried where new
       order by recipient collate "C", url collate "C"
      on conflict (account_id, recipient, url) do nothing
    ), linked as (
      insert into message_links (message_id, token) select id, token from carried order by token collate "C"
    )`;
}

// A token drawn twice is refused as well.
const CHANGED_LINKS = ['message_links_token_fkey', 'tracked_links_token_key'];

async function withLinks<T>(writing: Promise<T>): Promise<T> {
  try {
    return await writing;
  } catch (error) {
    throw CHANGED_LINKS.some((constraint) => violates(error, constraint)) ? new LinksChangedError() : error;
  }
}
