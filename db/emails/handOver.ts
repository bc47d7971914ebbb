import type { EmailStatus, ProviderEmailEvent, RecipientState } from '../../domain/email/statuses.ts';
import { type Database, type Fragment, type Sql, transaction } from '../connection.ts';
import { decrypt } from '../installation.ts';
import { refundOf } from '../money/billing.ts';
import { emailSecretOwner } from './accept.ts';
import { domainSecretOwner, verifiedRouteNames } from './domains.ts';
import { insertEmailEvents } from './events.ts';
import { mayBeGivenUp, recipientsOf } from './reads.ts';

export interface SubmittableEmail {
  id: string;
  accountId: string;
  accountStatus: 'active' | 'suspended' | 'closed';
  requestId: string;
  status: EmailStatus;
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
  /** The provider account of the first submit (scope of its idempotency key); null if unknown, or if there is only one. */
  keyScope: string | null;
  giveUpAt: Date;
  createdAt: Date;
  html: string | null;
  text: string | null;
  /** Encrypted, in place of `text`. */
  sealed: Buffer | null;
  recipients: { kind: 'to' | 'cc' | 'bcc'; address: string; state: RecipientState }[];
  /** Never submitted, and recipients were suppressed since its acceptance. */
  leavesOut: boolean;
  attachments: {
    number: number;
    filename: string;
    contentType: string;
    contentId: string | null;
    bytes: number;
  }[];
  verifiedRoutes: string[];
  dkimSelector: string | null;
  dkimPrivateKey: Buffer | null;
  domainId: string | null;
  /** The database's clock, epoch milliseconds. */
  now: number;
}

export async function readSubmittableEmail(sql: Sql, id: string): Promise<SubmittableEmail | null> {
  const [email] = await sql<SubmittableEmail[]>`
    select e.id, e.account_id, a.status as account_status, e.request_id, e.status, e.submission, e.route, e.domain,
           e.from_address, e.from_name, e.reply_to, e.subject, e.headers, e.unsubscribe_token, e.first_submitted_at,
           e.key_scope, e.give_up_at,
           e.created_at, c.html, c.text, c.sealed,
           ${recipientsOf(sql)} as recipients,
           (select coalesce(jsonb_agg(jsonb_build_object('number', f.number, 'filename', f.filename, 'contentType', f.content_type,
                                                         'contentId', f.content_id, 'bytes', f.bytes) order by f.number), '[]')
              from email_attachments f where f.email_id = e.id) as attachments,
           e.status = 'queued' and e.submission = 'waiting' and exists (${newlySuppressed(sql)}) as leaves_out,
           array(${verifiedRouteNames(sql)}) as verified_routes,
           d.dkim_selector, d.dkim_private_key, d.id as domain_id,
           floor(extract(epoch from clock_timestamp()) * 1000)::bigint as now
      from emails e join accounts a on a.id = e.account_id
      left join sender_domains d on d.account_id = e.account_id and d.name = e.domain
      -- Not for one that waits until its account is active again, or a route takes its domain: it is looked at again and again.
      left join email_contents c on c.email_id = e.id and not (e.submission = 'waiting'
        and (a.status = 'suspended' or e.route <> all (array(${verifiedRouteNames(sql)}))))
     where e.id = ${id}`;
  return email ?? null;
}

/** Decrypts a domain's private key, PEM. @throws DecryptionError */
export function signingKey(secretsKey: Buffer, domainId: string, encrypted: Buffer): string {
  return decrypt(secretsKey, domainSecretOwner(domainId), encrypted);
}

/** The text of an e-mail. @throws DecryptionError */
export function textOf(
  secretsKey: Buffer,
  { id, text, sealed }: Pick<SubmittableEmail, 'id' | 'text' | 'sealed'>,
): string | null {
  return sealed === null ? text : decrypt(secretsKey, emailSecretOwner(id), sealed);
}

/** One piece of a file; undefined after the last. */
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
 * Leaves out recipients suppressed since acceptance, if never submitted. They are refunded when a provider has the e-mail; if no recipient
 * is left, the e-mail is final and refunded as a whole.
 */
export async function leaveOutSuppressed(sql: Sql, id: string): Promise<void> {
  await sql`
    with open as (
      select id from emails where id = ${id} and status = 'queued' and submission = 'waiting' for update
    ), gone as (
      select g.position, g.address from open e cross join lateral (${newlySuppressed(sql)}) g
    ), left_out as (
      update email_recipients r set state = 'suppressed' from gone g where r.email_id = ${id} and r.position = g.position
    ), noted as (
      insert into email_events (email_id, kind, address, at)
      select ${id}, 'suppressed', address, now() from gone order by position
    ), counted as (
      update emails e
         set left_out = e.left_out + (select count(*) from gone), status = n.status, updated_at = now(),
             submission = case when n.status = 'suppressed' then 'answered' else e.submission end
        from (select case when exists (select from email_recipients r where r.email_id = ${id} and r.state <> 'suppressed'
                                          and r.position not in (select position from gone))
                          then 'queued' else 'suppressed' end as status) n
       where e.id = ${id} and exists (select from gone)
      returning e.id, e.status
    ), over as (
      select id from counted where status = 'suppressed'
    ), refunded as (${refundOf(sql, sql`over`)}), freed as (
      delete from email_attachments where email_id in (select id from over)
    )
    update email_contents set html = null, text = null, sealed = null where email_id in (select id from over)`;
}

function newlySuppressed(sql: Sql): Fragment {
  return sql`
    select r.position, r.address from email_recipients r
      join suppressions s on s.account_id = r.account_id and s.address = lower(r.address)
     where r.email_id = e.id and r.state = 'queued'`;
}

/**
 * Claims an e-mail for a submit.
 * @param again also claim one without a response: the provider deduplicates by our id
 * @param keyScope the provider's account; null: it has only one
 * @returns the number of the attempt; null: already submitted, final, on another route, or with recipients to leave out
 */
export async function claimEmail(
  sql: Sql,
  id: string,
  { route, again, keyScope }: { route: string; again: boolean; keyScope: string | null },
): Promise<number | null> {
  const [claimed] = await sql<{ claims: number }[]>`
    update emails e
       set submission = 'submitting', first_submitted_at = coalesce(first_submitted_at, now()), claims = claims + 1,
           key_scope = case when first_submitted_at is null then ${keyScope} else key_scope end
     where id = ${id} and route = ${route} and status = 'queued'
       and (submission = 'waiting' and not exists (${newlySuppressed(sql)})
            or ${again} and submission in ('submitting', 'unanswered'))
    returning claims`;
  return claimed?.claims ?? null;
}

/**
 * Releases a claim: the provider certainly does not have the e-mail, not even from an earlier attempt.
 * @returns false when the claim is outdated: the e-mail was settled meanwhile, or another attempt is under way
 */
export async function releaseEmailClaim(
  sql: Sql,
  id: string,
  { claim, first, code }: { claim: number; first: boolean; code: string | null },
): Promise<boolean> {
  const back = await sql`
    update emails
       set submission = case when ${first} then 'waiting' else 'unanswered' end,
           first_submitted_at = case when ${first} then null else first_submitted_at end, error_code = ${code}
     where id = ${id} and submission = 'submitting' and claims = ${claim}
    returning id`;
  return back.length > 0;
}

/** Marks a submit as unanswered: the provider may or may not have the e-mail. */
export async function markEmailUnanswered(sql: Sql, id: string, code: string | null): Promise<void> {
  await sql`
    update emails set submission = 'unanswered', error_code = ${code}, updated_at = now()
     where id = ${id} and submission = 'submitting'`;
}

export interface AnswerEvents {
  route: string;
  events: readonly ProviderEmailEvent[];
}

/** Records acceptance by the provider: `sent`, unless an event moved it further. Stores the response's events in the same transaction. */
export async function recordAcceptedEmail(
  sql: Database,
  id: string,
  providerEmailId: string,
  { route, events }: AnswerEvents,
): Promise<void> {
  if (events.length === 0) return await accept(sql, id, providerEmailId);
  await transaction(sql, async (tx) => {
    await accept(tx, id, providerEmailId);
    await insertEmailEvents(tx, route, events);
  });
}

async function accept(sql: Sql, id: string, providerEmailId: string): Promise<void> {
  await sql`
    with accepted as (
      update emails
         set submission = 'answered', provider_email_id = coalesce(provider_email_id, ${providerEmailId}),
             status = case when status = 'queued' then 'sent' else status end,
             sent_at = coalesce(sent_at, now()), error_code = null, updated_at = now()
       where id = ${id} and status not in ('failed', 'suppressed')
      returning id
    ), moved as (
      update email_recipients set state = 'sent' where email_id = ${id} and state = 'queued' and exists (select from accepted)
    )
    delete from email_attachment_pieces where email_id = ${id} and exists (select from accepted)`;
}

/** As {@link failEmail} after a refusal for good; stores the response's events in the same transaction. @param claim null: not tried */
export async function refuseEmail(
  sql: Database,
  id: string,
  { reason, claim }: { reason: string; claim: number | null },
  { route, events }: AnswerEvents,
): Promise<EmailStatus | null> {
  return await transaction(sql, async (tx) => {
    const status = await failEmail(tx, id, reason, claim);
    if (status === 'failed') await insertEmailEvents(tx, route, events);
    return status;
  });
}

/**
 * Fails and refunds, once, an e-mail that the provider certainly does not have, and deletes its content; leaves others unchanged.
 * @param claim the refused attempt; it may fail even an `unknown` e-mail, unless left-out recipients were refunded then, as there is only
 *   one refund. Null: fail it only while it waits
 * @returns its status afterwards; null when there is no such accepted e-mail
 */
export async function failEmail(
  sql: Sql,
  id: string,
  reason: string,
  claim: number | null,
): Promise<EmailStatus | null> {
  const from: Fragment =
    claim === null
      ? sql`status = 'queued' and submission = 'waiting'`
      : sql`(status = 'queued' or status = 'unknown' and left_out = 0)
              and submission in ('submitting', 'unanswered') and claims = ${claim}`;
  return await failFrom(sql, id, reason, from);
}

/** Fails and refunds, once, an e-mail that staff give up. @returns its status afterwards; null when there is no such accepted e-mail */
export async function giveUpEmail(sql: Sql, id: string): Promise<EmailStatus | null> {
  return await failFrom(sql, id, 'given_up', mayBeGivenUp(sql));
}

async function failFrom(sql: Sql, id: string, reason: string, from: Fragment): Promise<EmailStatus | null> {
  const [row] = await sql<{ status: EmailStatus | null }[]>`
    with failed as (
      update emails e set status = 'failed', submission = 'answered', error_code = ${reason}, updated_at = now()
       where id = ${id} and ${from}
      returning id
    ), noted as (
      insert into email_events (email_id, kind, at, details)
      select id, 'failed', now(), jsonb_build_object('reason', ${reason}::text) from failed
    ), refunded as (${refundOf(sql, sql`failed`)}), freed as (
      delete from email_attachment_pieces where email_id in (select id from failed)
    ), emptied as (
      update email_contents set html = null, text = null, sealed = null where email_id in (select id from failed)
    )
    select case when exists (select from failed) then 'failed'
                else (select status from emails where id = ${id}) end as status`;
  return row?.status ?? null;
}

/** Ends an e-mail at its deadline: never submitted, it fails and is refunded; unanswered, it becomes `unknown`. @returns its status */
export async function endEmail(sql: Database, id: string): Promise<EmailStatus | null> {
  return await transaction(sql, async (tx) => {
    // A claim may be released concurrently: the e-mail then waits again, and fails.
    await tx`select from emails where id = ${id} for update`;
    return await endLocked(tx, id);
  });
}

async function endLocked(sql: Sql, id: string): Promise<EmailStatus | null> {
  const failed = await failEmail(sql, id, 'expired', null);
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

/** Moves an e-mail that no provider has to another route. @returns false when that no longer holds */
export async function moveEmail(sql: Sql, id: string, from: string, to: string): Promise<boolean> {
  const moved = await sql`
    update emails set route = ${to} where id = ${id} and route = ${from} and status = 'queued' and submission = 'waiting'
    returning id`;
  return moved.length > 0;
}
