import type { Quotas } from '../../domain/money.ts';
import { type Database, type Fragment, type Sql, transaction } from '../connection.ts';
import { availableGrosze } from '../money/ledger.ts';
import { isOverdue } from '../money/statements.ts';
import { verifiedRouteNames } from './domains.ts';
import type { Interface } from '../../domain/ids.ts';
import { QuotaReachedError } from '../accounts/quotas.ts';
import { idFloor } from '../ids.ts';
import { claimKeys, type KeyClaim } from '../messages/idempotency.ts';
import { chargedAndReserved, fundsError } from '../money/reservations.ts';

export interface EmailTerms {
  /** The database's clock, epoch milliseconds. */
  now: number;
  mode: 'test' | 'live';
  availableGrosze: number;
  testCredits: number;
  overdue: boolean;
  quotas: Partial<Quotas>;
  /** The requested sender domain, else the account's default; null when the account has none of that name, or no default. */
  domain: string | null;
  verifiedRoutes: string[];
  ownDomains: string[];
  /** The recipients' address keys that are on the account's suppression list. */
  suppressed: string[];
}

/**
 * Reads what acceptance of an e-mail depends on; null without such an account.
 * @param domain null: the account's default @param reportedOnly suppressions by bounces and complaints alone count
 */
export async function readEmailTerms(
  sql: Sql,
  accountId: string,
  domain: string | null,
  keys: readonly string[],
  reportedOnly = false,
): Promise<EmailTerms | null> {
  const [terms] = await sql<EmailTerms[]>`
    with verified as (
      select d.name, t.route from sender_domains d cross join lateral (${verifiedRouteNames(sql)}) as t(route)
       where d.account_id = ${accountId}
    ), chosen as (
      select name from sender_domains
       where account_id = ${accountId} and case when ${domain}::text is null then is_default else name = ${domain} end
    )
    select floor(extract(epoch from clock_timestamp()) * 1000)::bigint as now, a.mode, a.test_credits, a.quotas,
           ${availableGrosze(sql)} as available_grosze,
           ${isOverdue(sql, sql`a`)} as overdue,
           (select name from chosen) as domain,
           array(select v.route from verified v join chosen c on c.name = v.name) as verified_routes,
           array(select distinct name from verified) as own_domains,
           array(select s.address from suppressions s
                  where s.account_id = a.id and s.address = any(${keys as string[]}::text[])
                    and (not ${reportedOnly} or s.reason in ('bounce', 'complaint'))) as suppressed
      from accounts a where a.id = ${accountId}`;
  return terms ?? null;
}

/** Owner of an e-mail's encrypted text. */
export const emailSecretOwner = (id: string): string => `e-mail:${id}`;

const DAY_MS = 24 * 3_600_000;

export type EmailLimits = Pick<Quotas, 'unpaid_messages' | 'email_file_bytes'>;

export interface EmailRecipient {
  kind: 'to' | 'cc' | 'bcc';
  address: string;
  /** On the account's suppression list: not sent to, and free. */
  suppressed: boolean;
}

/** An attached file, in pieces whose length is a multiple of three except for the last. */
export interface EmailAttachment {
  filename: string;
  contentType: string;
  contentId: string | null;
  bytes: number;
  pieces: readonly Buffer[];
}

export interface NewEmail {
  id: string;
  accountId: string;
  requestId: string;
  interface: Interface;
  route: string;
  domain: string;
  fromAddress: string;
  fromName: string | null;
  replyTo: string | null;
  subject: string;
  headers: readonly (readonly [name: string, value: string])[];
  idx: string | null;
  unsubscribeToken: string | null;
  costGrosze: number;
  testCredits: number;
  recipients: readonly EmailRecipient[];
  html: string | null;
  text: string | null;
  /** The text of an e-mail that holds secrets, encrypted, in place of `text`. */
  sealed: Buffer | null;
  attachments: readonly EmailAttachment[];
  createdAt: Date;
  giveUpAt: Date;
}

/**
 * Accepts an e-mail in one transaction: idempotency key, charge, workflow reservation and rows. If all its recipients are suppressed, it
 * costs nothing and is final. @throws KeyTakenError, InsufficientFundsError, QuotaReachedError
 */
export async function acceptEmail(
  sql: Database,
  email: NewEmail,
  claims: readonly KeyClaim[],
  limits: EmailLimits,
  trace: string | null = null,
): Promise<void> {
  try {
    await transaction(sql, async (tx) => {
      await claimKeys(tx, email.accountId, email.requestId, claims);
      await enforceEmailQuotas(tx, email, limits);
      await insertEmail(tx, email);
      await insertAttachments(tx, email);
      const written: Fragment = tx`select *, false as priority from emails where id = ${email.id}`;
      await tx`
        with ${chargedAndReserved(tx, 'email', written, trace)}
        select from reserved`;
    });
  } catch (error) {
    throw fundsError(error);
  }
}

function fileBytesOf({ attachments }: Pick<NewEmail, 'attachments'>): number {
  return attachments.reduce((all, { bytes }) => all + bytes, 0);
}

export async function countWaitingFileBytes(sql: Sql, accountId: string): Promise<number> {
  const [counted] = await sql<{ bytes: number }[]>`
    select coalesce(sum(file_bytes), 0)::bigint as bytes from emails
     where account_id = ${accountId} and file_bytes > 0 and status = 'queued'`;
  return counted!.bytes;
}

/** Quotas of files and unpaid e-mails. The account is locked first, so that concurrent requests cannot exceed them. */
async function enforceEmailQuotas(tx: Sql, email: NewEmail, limits: EmailLimits): Promise<void> {
  const { accountId, costGrosze } = email;
  const fileBytes = fileBytesOf(email);
  if (fileBytes === 0 && costGrosze > 0) return;
  await tx`select from accounts where id = ${accountId} for no key update`;
  if (costGrosze === 0) await refuseUnpaid(tx, email, limits.unpaid_messages);
  if (fileBytes > 0 && (await countWaitingFileBytes(tx, accountId)) + fileBytes > limits.email_file_bytes)
    throw new QuotaReachedError('email_file_bytes', limits.email_file_bytes);
}

/** An e-mail with only suppressed recipients is stored but not charged; those of 24 hours are counted up to the limit. */
async function refuseUnpaid(
  tx: Sql,
  { accountId, createdAt, recipients }: NewEmail,
  limit: number,
): Promise<void> {
  const since = idFloor('em', createdAt.getTime() - DAY_MS);
  const [counted] = await tx<{ unpaid: number }[]>`
    select count(*)::int as unpaid from (
      select from emails e join email_recipients r on r.email_id = e.id
       where e.account_id = ${accountId} and e.status = 'suppressed' and e.id > ${since} limit ${limit}) counted`;
  if (counted!.unpaid + recipients.length > limit) throw new QuotaReachedError('unpaid_messages', limit);
}

async function insertEmail(tx: Sql, email: NewEmail): Promise<void> {
  const { id, recipients } = email;
  await tx`
    insert into emails (id, account_id, request_id, status, interface, route, domain, from_address, from_name, reply_to, subject, headers,
                        idx, unsubscribe_token, cost_grosze, test_credits, file_bytes, give_up_at, created_at, updated_at)
    values (${id}, ${email.accountId}, ${email.requestId}, ${isSuppressed(email) ? 'suppressed' : 'queued'}, ${email.interface}, ${email.route}, ${email.domain},
            ${email.fromAddress}, ${email.fromName}, ${email.replyTo}, ${email.subject},
            ${JSON.stringify(email.headers)}::text::jsonb, ${email.idx}, ${email.unsubscribeToken}, ${email.costGrosze},
            ${email.testCredits}, ${fileBytesOf(email)}, ${email.giveUpAt}, ${email.createdAt}, ${email.createdAt})`;
  await tx`
    insert into email_recipients (email_id, account_id, position, kind, address, state)
    select ${id}, ${email.accountId}, r.position, r.kind, r.address, r.state
      from unnest(${recipients.map((_, index) => index)}::int[], ${recipients.map(({ kind }) => kind)}::text[],
                  ${recipients.map(({ address }) => address)}::text[],
                  ${recipients.map(({ suppressed }) => (suppressed ? 'suppressed' : 'queued'))}::text[])
             as r(position, kind, address, state)`;
  await tx`
    insert into email_contents (email_id, html, text, sealed)
    values (${id}, ${email.html}, ${email.text}, ${email.sealed})`;
  if (email.unsubscribeToken !== null)
    await tx`
      insert into unsubscribe_links (token, account_id, address, email_id)
      select ${email.unsubscribeToken}, account_id, lower(address), email_id from email_recipients
       where email_id = ${id} and state <> 'suppressed' order by position limit 1`;
  await tx`
    insert into email_events (email_id, kind, address, at)
    select email_id, 'suppressed', address, ${email.createdAt}::timestamptz from email_recipients
     where email_id = ${id} and state = 'suppressed' order by position`;
}

export function isSuppressed({ recipients }: Pick<NewEmail, 'recipients'>): boolean {
  return recipients.every(({ suppressed }) => suppressed);
}

// Piece by piece: a statement with a whole file would block the process while it is serialized.
async function insertAttachments(tx: Sql, { id, attachments }: NewEmail): Promise<void> {
  for (const [number, { filename, contentType, contentId, bytes, pieces }] of attachments.entries()) {
    await tx`
      insert into email_attachments (email_id, number, filename, content_type, content_id, bytes)
      values (${id}, ${number}, ${filename}, ${contentType}, ${contentId}, ${bytes})`;
    for (const [piece, content] of pieces.entries()) {
      // Base64, because the driver would serialize a buffer in hexadecimal, half as long again.
      await tx`
        insert into email_attachment_pieces (email_id, number, piece, content)
        values (${id}, ${number}, ${piece}, decode(${content.toString('base64')}, 'base64'))`;
    }
  }
}

export interface StartableEmailRow {
  id: string;
  accountId: string;
  requestId: string;
  route: string;
  /** Epoch milliseconds. */
  giveUpAt: number;
}

export async function startableEmails(sql: Sql, ids: readonly string[]): Promise<StartableEmailRow[]> {
  if (ids.length === 0) return [];
  return await sql<StartableEmailRow[]>`
    select ${startable(sql)} from emails m where m.id = any(${ids as string[]}::text[])`;
}

export function startable(sql: Sql): Fragment {
  return sql`m.id, m.account_id, m.request_id, m.route,
             floor(extract(epoch from m.give_up_at) * 1000)::bigint as give_up_at`;
}
