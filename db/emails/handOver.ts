import type { EmailStatus, RecipientState } from '../../domain/email/statuses.ts';
import type { Sql } from '../connection.ts';
import { decrypt } from '../encryption.ts';
import { refundOf } from '../money/billing.ts';
import { domainSecretOwner } from './domains.ts';
import { recipientsOf } from './reads.ts';

/** An e-mail as a worker hands it over. */
export interface OpenEmail {
  id: string;
  accountId: string;
  accountStatus: 'active' | 'suspended' | 'closed';
  requestId: string;
  status: EmailStatus | 'draft';
  submission: 'waiting' | 'submitting' | 'answered' | 'unanswered';
  route: string;
  domain: string;
  fromAddress: string;
  fromName: string | null;
  replyTo: string | null;
  subject: string;
  headers: (readonly [name: string, value: string])[];
  unsubscribeToken: string | null;
  firstSubmittedAt: Date | null;
  giveUpAt: Date;
  createdAt: Date;
  html: string | null;
  text: string | null;
  recipients: { kind: 'to' | 'cc' | 'bcc'; address: string; state: RecipientState }[];
  attachments: {
    number: number;
    filename: string;
    contentType: string;
    contentId: string | null;
    bytes: number;
  }[];
  /** Routes for which its domain is verified. */
  verifiedRoutes: string[];
  dkimSelector: string | null;
  dkimPrivateKey: Buffer | null;
  domainId: string | null;
  /** The database's clock, epoch milliseconds. */
  now: number;
}

/** Reads an e-mail with all that is handed over but the contents of its files; null when there is none. */
export async function readOpenEmail(sql: Sql, id: string): Promise<OpenEmail | null> {
  const [email] = await sql<OpenEmail[]>`
    select e.id, e.account_id, a.status as account_status, e.request_id, e.status, e.submission, e.route, e.domain,
           e.from_address, e.from_name, e.reply_to, e.subject, e.headers, e.unsubscribe_token, e.first_submitted_at, e.give_up_at,
           e.created_at, c.html, c.text,
           ${recipientsOf(sql)} as recipients,
           (select coalesce(jsonb_agg(jsonb_build_object('number', f.number, 'filename', f.filename, 'contentType', f.content_type,
                                                         'contentId', f.content_id, 'bytes', f.bytes) order by f.number), '[]')
              from email_attachments f where f.email_id = e.id) as attachments,
           array(select u.route from sender_domain_routes u
                  where u.domain_id = d.id and (u.verified_at is not null or d.confirmed_at is not null)) as verified_routes,
           d.dkim_selector, d.dkim_private_key, d.id as domain_id,
           floor(extract(epoch from clock_timestamp()) * 1000)::bigint as now
      from emails e join accounts a on a.id = e.account_id
      left join email_contents c on c.email_id = e.id
      left join sender_domains d on d.account_id = e.account_id and d.name = e.domain
     where e.id = ${id} and e.status <> 'draft'`;
  return email ?? null;
}

/** A domain's private key, PEM. @throws DecryptionError */
export function signingKey(secretsKey: Buffer, domainId: string, encrypted: Buffer): string {
  return decrypt(secretsKey, domainSecretOwner(domainId), encrypted);
}

/** One piece of a file; undefined behind the last. */
export async function readPiece(
  sql: Sql,
  id: string,
  number: number,
  piece: number,
): Promise<Buffer | undefined> {
  const [row] = await sql<{ content: Buffer }[]>`
    select content from email_attachment_pieces where email_id = ${id} and number = ${number} and piece = ${piece}`;
  return row?.content;
}

/**
 * Notes that an e-mail is about to leave by a route.
 * @param again also one whose hand-over got no answer: its provider takes the same id once
 * @returns false where it must not leave: it has, it is over, or another route has it
 */
export async function claimEmail(sql: Sql, id: string, route: string, again: boolean): Promise<boolean> {
  const claimed = await sql`
    update emails set submission = 'submitting', first_submitted_at = coalesce(first_submitted_at, now())
     where id = ${id} and route = ${route} and status = 'queued'
       and (submission = 'waiting' or ${again} and submission in ('submitting', 'unanswered'))
    returning id`;
  return claimed.length > 0;
}

/** Takes a claim back: the provider certainly has not got it, now or before. @param first it was the first try */
export async function putEmailBack(sql: Sql, id: string, first: boolean, code: string | null): Promise<void> {
  await sql`
    update emails
       set submission = case when ${first} then 'waiting' else 'unanswered' end,
           first_submitted_at = case when ${first} then null else first_submitted_at end, error_code = ${code}
     where id = ${id} and submission = 'submitting'`;
}

/** Nobody knows whether the provider has it. */
export async function leaveEmailUnanswered(sql: Sql, id: string, code: string | null): Promise<void> {
  await sql`
    update emails set submission = 'unanswered', error_code = ${code}, updated_at = now()
     where id = ${id} and submission = 'submitting'`;
}

/** The provider has it: it is sent, unless an event said more already. Its files are not needed any more. */
export async function acceptEmail(sql: Sql, id: string, providerEmailId: string): Promise<EmailStatus> {
  const [row] = await sql<{ status: EmailStatus }[]>`
    with accepted as (
      update emails
         set submission = 'answered', provider_email_id = coalesce(provider_email_id, ${providerEmailId}),
             status = case when status = 'queued' then 'sent' else status end,
             sent_at = coalesce(sent_at, now()), error_code = null, updated_at = now()
       where id = ${id} and status not in ('draft', 'failed', 'suppressed')
      returning id, status
    ), moved as (
      update email_recipients set state = 'sent' where email_id = ${id} and state = 'queued' and exists (select from accepted)
    ), freed as (
      delete from email_attachment_pieces where email_id = ${id} and exists (select from accepted)
    )
    select coalesce((select status from accepted), (select status from emails where id = ${id})) as status`;
  if (!row) throw new Error(`e-mail ${id} vanished`);
  return row.status;
}

/**
 * An e-mail that the provider certainly has not got is given up: it has failed, and what it cost is given back, once. Anything else
 * stays as it is.
 * @param tried whether a hand-over may have begun that was refused now
 * @returns what it is now; null when there is no such accepted e-mail
 */
export async function failEmail(
  sql: Sql,
  id: string,
  reason: string,
  { tried }: { tried: boolean },
): Promise<EmailStatus | null> {
  return await failFrom(sql, id, reason, tried ? ['waiting', 'submitting'] : ['waiting']);
}

/**
 * Staff give an e-mail up that waits, or of which nobody knows whether its provider has it: it has failed and is refunded, once. One
 * that is being handed over stays as it is.
 * @returns what it is now; null when there is no such accepted e-mail
 */
export async function giveUpEmail(sql: Sql, id: string): Promise<EmailStatus | null> {
  return await failFrom(sql, id, 'given_up', ['waiting', 'unanswered']);
}

async function failFrom(
  sql: Sql,
  id: string,
  reason: string,
  submissions: readonly OpenEmail['submission'][],
): Promise<EmailStatus | null> {
  const [row] = await sql<{ status: EmailStatus | null }[]>`
    with failed as (
      update emails set status = 'failed', submission = 'answered', error_code = ${reason}, updated_at = now()
       where id = ${id} and status = 'queued' and submission = any(${submissions as string[]}::text[])
      returning id
    ), noted as (
      insert into email_events (email_id, kind, at, details)
      select id, 'failed', now(), jsonb_build_object('reason', ${reason}::text) from failed
    ), refunded as (${refundOf(sql, sql`failed`)}), freed as (
      delete from email_attachment_pieces where email_id in (select id from failed)
    )
    select case when exists (select from failed) then 'failed'
                else (select status from emails where id = ${id} and status <> 'draft') end as status`;
  return row?.status ?? null;
}

/**
 * The wait is over: an e-mail that was never handed over fails and is refunded; of one without an answer nothing is known, and nothing
 * will be.
 * @returns what it is now; null when there is no such accepted e-mail
 */
export async function endEmail(sql: Sql, id: string): Promise<EmailStatus | null> {
  const failed = await failEmail(sql, id, 'expired', { tried: false });
  if (failed !== 'queued') return failed;
  const [row] = await sql<{ status: EmailStatus }[]>`
    with over as (
      update emails set status = 'unknown', submission = 'unanswered', updated_at = now()
       where id = ${id} and status = 'queued' and submission in ('submitting', 'unanswered')
      returning id
    ), freed as (
      delete from email_attachment_pieces where email_id in (select id from over)
    )
    select case when exists (select from over) then 'unknown' else (select status from emails where id = ${id}) end as status`;
  return row!.status;
}

/** Gives an e-mail that no provider has to another route. @returns false where that is no longer so */
export async function moveEmail(sql: Sql, id: string, from: string, to: string): Promise<boolean> {
  const moved = await sql`
    update emails set route = ${to} where id = ${id} and route = ${from} and status = 'queued' and submission = 'waiting'
    returning id`;
  return moved.length > 0;
}
