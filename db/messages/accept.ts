import { chargeTool, QuotaReachedError, readMessageUsage, type ToolCharge } from '../accounts/quotas.ts';
import {
  byColumnName,
  type Database,
  type Fragment,
  type Sql,
  transaction,
  violates,
} from '../connection.ts';
import type { Interface } from '../../domain/ids.ts';
import type { Quotas } from '../../domain/money.ts';
import type { MessageRow } from '../../domain/records.ts';
import type { AcceptedStatus } from '../../domain/statuses.ts';
import { chargedAndReserved, fundsError } from '../money/reservations.ts';
import { claimed, claimKeys, type KeyClaim, KeyTakenError, keyTakenOnLockTimeout } from './idempotency.ts';

export interface NewMessage extends MessageRow {
  status: AcceptedStatus;
  accountId: string;
  requestId: string;
  batched: boolean;
  /** ISO 3166-1 alpha-2; null if the number belongs to no country. */
  country: string | null;
  /** How the text was split into parts for pricing. */
  cut: string;
  links: NewLink[];
  /** Token of the opt-out link in its text, if that link is to be created. */
  optOutToken: string | null;
  /** Test credits charged: 1 on a test account, else 0. */
  testCredits: number;
  giveUpAt: Date;
  route: string;
  interface: Interface;
  /** The caller's identifier (v1.2.0); at most 255 characters. */
  idx: string | null;
}

export interface NewLink {
  url: string;
  token: string;
  isNew: boolean;
}

/** Messages of one account and request, accepted all or none. */
export interface Accepting {
  messages: readonly NewMessage[];
  claims: readonly KeyClaim[];
  limits: Pick<Quotas, 'unpaid_messages' | 'unpaid_bytes'>;
  /** The charge to the key's tool budget; null when the call comes from no tool. */
  spending: ToolCharge | null;
  trace?: string | null;
  /** Runs in the same transaction, before the messages are written; what it throws rolls all back. */
  also?: (tx: Sql) => Promise<void>;
}

/** A new link was created concurrently, or an existing one deleted. Nothing is stored; the caller has to render the texts again. */
export class LinksChangedError extends Error {
  override readonly name = 'LinksChangedError';
}

// Per statement: 10,000 long texts as one parameter would block the process while they are serialized.
const CHUNK_LIMITS = { messages: 1_000, characters: 1_000_000 };

/**
 * Accepts messages in one transaction: idempotency keys, charges, workflow reservations, messages and links.
 * @throws KeyTakenError, InsufficientFundsError, QuotaReachedError, ToolBudgetError, LinksChangedError; nothing is stored then
 */
export async function acceptMessages(sql: Database, accepting: Accepting): Promise<void> {
  const { messages, claims, spending, trace = null, also } = accepting;
  const isOneStatement =
    also === undefined &&
    claims.length <= 1 &&
    spending === null &&
    chunksOf(messages).length === 1 &&
    rejectedOf(messages).length <= 1;
  try {
    if (isOneStatement) await acceptAtOnce(sql, messages, claims[0] ?? null, trace);
    else await transaction(sql, (tx) => acceptIn(tx, accepting));
  } catch (error) {
    throw translated(error);
  }
}

async function acceptAtOnce(
  sql: Sql,
  messages: readonly NewMessage[],
  claim: KeyClaim | null,
  trace: string | null,
): Promise<void> {
  const { accountId, requestId } = messages[0]!;
  const isClaimed: Fragment = claim === null ? sql`true` : sql`exists (select from claimed)`;
  const written = await sql`
    with ${claim === null ? sql`` : sql`${claimed(sql, accountId, requestId, claim)},`}
         ${insertion(sql, messages, isClaimed)}, ${chargedAndReserved(sql, 'message', sql`select * from written`, trace)}
    select from written limit 1`.catch(keyTakenOnLockTimeout(claim?.key ?? ''));
  if (written.count === 0) throw new KeyTakenError(claim!.key);
}

/** For requests that need several statements. Locks keys before the account, as everywhere, to avoid deadlocks. */
async function acceptIn(
  tx: Sql,
  { messages, claims, limits, spending, trace = null, also }: Accepting,
): Promise<void> {
  const { accountId, requestId, createdAt } = messages[0]!;
  await claimKeys(tx, accountId, requestId, claims);
  if (spending !== null) await chargeTool(tx, spending);
  await also?.(tx);
  const rejected = rejectedOf(messages);
  if (rejected.length > 1) await refuseUnpaidBeyond(tx, accountId, rejected, limits, createdAt);
  const sorted = messages.toSorted(
    (a, b) => Number(a.recipient > b.recipient) - Number(a.recipient < b.recipient),
  );
  for (const chunk of chunksOf(sorted))
    await tx`with ${insertion(tx, chunk, tx`true`)} select from written limit 1`;
  const written: Fragment = tx`select * from messages where request_id = ${requestId} and account_id = ${accountId}`;
  await tx`
    with ${chargedAndReserved(tx, 'message', written, trace)}
    select from reserved limit 1`;
}

/** Locks the account, so that concurrent requests cannot exceed the quota. */
async function refuseUnpaidBeyond(
  tx: Sql,
  accountId: string,
  rejected: readonly NewMessage[],
  limits: Accepting['limits'],
  now: Date,
): Promise<void> {
  await tx`select from accounts where id = ${accountId} for no key update`;
  const used = await readMessageUsage(tx, accountId, { ...limits, scheduled_messages: 0 }, now.getTime());
  const added = {
    unpaid_messages: rejected.length,
    unpaid_bytes: rejected.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0),
  };
  for (const quota of ['unpaid_messages', 'unpaid_bytes'] as const)
    if (used[quota] + added[quota] > limits[quota]) throw new QuotaReachedError(quota, limits[quota]);
}

function rejectedOf(messages: readonly NewMessage[]): NewMessage[] {
  return messages.filter(({ status }) => status === 'rejected');
}

function chunksOf(messages: readonly NewMessage[]): (readonly NewMessage[])[] {
  const longest = messages.reduce((most, { text }) => Math.max(most, text.length), 1);
  const size = Math.max(1, Math.min(CHUNK_LIMITS.messages, Math.floor(CHUNK_LIMITS.characters / longest)));
  return Array.from({ length: Math.ceil(messages.length / size) }, (_, index) =>
    messages.slice(index * size, (index + 1) * size),
  );
}

/** As SQL, the CTE `written` (and those of links). Rows are one JSON parameter, so that one prepared statement serves any number. */
export function insertion(sql: Sql, messages: readonly NewMessage[], condition: Fragment): Fragment {
  const rows = JSON.stringify(messages.map(({ links: _, ...message }) => byColumnName(message)));
  return sql`
    written as (
      insert into messages (id, account_id, request_id, batched, channel, status, accepted_as, recipient, country, sender,
                            text, content, parts, cut, cost_grosze, test_credits, priority, reference, send_at, expires_at,
                            give_up_at, route, interface, idx, error_code, opt_out_token, created_at, updated_at)
      select id, account_id, request_id, batched, channel, status, status, recipient, country, sender,
             text, content, parts, cut, cost_grosze, test_credits, priority, reference, send_at, expires_at,
             give_up_at, route, interface, idx, error_code, opt_out_token, created_at, created_at
        from jsonb_populate_recordset(null::messages, ${rows}::text::jsonb) where ${condition}
      returning id, account_id, request_id, status, cost_grosze, test_credits, priority
    )${messages.some(({ links }) => links.length > 0) ? linksOf(sql, messages, condition) : sql``}`;
}

// If another request created a link for the pair meanwhile, the insert is skipped, and the foreign key of `message_links` then fails the
// whole statement. Lock order everywhere: the account before its links, links sorted; this avoids deadlocks.
function linksOf(sql: Sql, messages: readonly NewMessage[], condition: Fragment): Fragment {
  const carrying = messages
    .filter(({ links }) => links.length > 0)
    .map(({ id, accountId, recipient, links }) => byColumnName({ id, accountId, recipient, links }));
  const { accountId } = messages[0]!;
  return sql`, turn as materialized (
      select from accounts where id = ${accountId} and ${condition} for no key update
    ), carried as (
      select d.id, d.account_id, d.recipient, l.url, l.token, l."isNew" as new
        from jsonb_to_recordset(${JSON.stringify(carrying)}::text::jsonb) as d(id text, account_id text, recipient text, links jsonb)
        join written using (id)
       cross join jsonb_to_recordset(d.links) as l(url text, token text, "isNew" boolean)
    ), made as (
      insert into tracked_links (token, account_id, recipient, url)
      select token, account_id, recipient, url from carried where new and exists (select from turn)
       order by recipient collate "C", url collate "C"
      on conflict (account_id, recipient, url) do nothing
    ), linked as (
      insert into message_links (message_id, token) select id, token from carried order by token collate "C"
    )`;
}

// Includes a collision of random tokens.
const CHANGED_LINKS = ['message_links_token_fkey', 'tracked_links_token_key'];

function translated(error: unknown): unknown {
  if (CHANGED_LINKS.some((constraint) => violates(error, constraint))) return new LinksChangedError();
  return fundsError(error);
}
