import { EARLIER_EVENT_TYPES, type WebhookEventType, withoutPath } from '../../domain/webhooks.ts';
import type { MessageRow } from '../../domain/records.ts';
import { type Database, type Fragment, type Sql, withNamedLock } from '../connection.ts';
import { type Requester, writeApiChange } from '../accounts/audit.ts';
import { newId } from '../ids.ts';
import { reserved } from '../money/reservations.ts';

/** Snapshot of a message at its event, as the fields change later; written by `statusSnapshot`. */
export interface StatusSnapshot {
  status: MessageRow['status'];
  error_code: string | null;
  delivered_at: string | null;
  updated_at: string;
}

export interface EmailEventSnapshot {
  route: string;
  event_id: string;
  /** Positions of the recipients concerned; the provider's payload, which names them, is deleted in time. Absent: its `to`. */
  positions?: readonly number[];
}

export interface WebhookEvent {
  id: string;
  accountId: string;
  /** Its subject: a link by its token, others by id. A reply has one kind per interface. */
  subjectKind:
    'message' | 'link' | 'inbound' | 'inbound_v1' | 'email' | 'domain' | 'verification' | 'test' | 'balance';
  subjectId: string;
  type: string;
  /** A `StatusSnapshot`, `ClickSnapshot`, `EmailEventSnapshot` or `DomainSnapshot`, by the subject; of a balance the data. */
  snapshot: object;
  /** 0: the first delivery; else the number of the resend. */
  round: number;
  state: 'pending' | 'delivered' | 'exhausted';
  createdAt: Date;
  attempts: number;
  attemptsBefore: number;
  /** The message's pending event that has to be delivered before this one. */
  after: string | null;
  url: string | null;
  /** Encrypted. */
  secret: Buffer | null;
  /** The former secret, encrypted, for 24 hours after the change. */
  secretBefore: Buffer | null;
}

/** Reads an event, its current URL and secret, and its attempts. @param delivery its id; for a resend with the round: `evt_…-1` */
export async function loadEvent(sql: Sql, delivery: string): Promise<WebhookEvent | null> {
  const { eventId, round } = deliveryOf(delivery);
  const [event] = await sql<WebhookEvent[]>`
    select e.id, e.account_id, e.subject_kind, e.subject_id, e.type, e.snapshot, e.created_at,
           ${receiverUrl(sql)} as url, ${receiverSecret(sql)} as secret,
           case when not ${isEarlier(sql)} and a.webhook_secret_changed_at > now() - ${SECRET_GRACE}::interval then a.webhook_secret_before end
             as secret_before,
           d.round, d.state, d.attempts_before,
           greatest(${lastAttempt(sql, sql`e.id`)} - d.attempts_before, 0) as attempts,
           (select o.id from webhook_events o
             where o.subject_id = e.subject_id and o.id <> e.id and o.state = 'pending'
               and (o.type = 'message.sent' or o.type = 'delivery_report' and o.snapshot->>'status' = 'sent')
             limit 1) as after
      from webhook_events e join accounts a on a.id = e.account_id
      join lateral ${
        round === 0
          ? sql`(select 0 as round, e.state, 0 as attempts_before)`
          : sql`(select round, state, attempts_before from webhook_resends where event_id = e.id and round = ${round})`
      } d on true
     where e.id = ${eventId}`;
  return event ?? null;
}

/** The pending events with the same subject, oldest first; deletes the event's reservation. */
export async function takePendingEvents(sql: Sql, eventId: string): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    with settled as (
      delete from reservations where subject_id = ${eventId} and kind = 'event'
    )
    select id from webhook_events
     where subject_id = (select subject_id from webhook_events where id = ${eventId}) and state = 'pending' order by created_at, id`;
  return rows.map(({ id }) => id);
}

const FURTHER = /^(.+)-([1-9][0-9]?)$/;

function deliveryOf(delivery: string): { eventId: string; round: number } {
  const [, eventId = delivery, round = '0'] = FURTHER.exec(delivery) ?? [];
  return { eventId, round: Number(round) };
}

export const deliveryId = (eventId: string, round: number): string => `${eventId}-${round}`;

/** As SQL: the last attempt's number, 0 without one. Not a count: clean-up deletes older attempts, and numbers must continue. */
export function lastAttempt(sql: Sql, eventId: Fragment): Fragment {
  return sql`(select coalesce(max(t.attempt), 0)::int from webhook_attempts t where t.event_id = ${eventId})`;
}

function receiverUrl(sql: Sql): Fragment {
  return sql`case when ${isEarlier(sql)} then a.legacy_webhook_url else a.webhook_url end`;
}

function receiverSecret(sql: Sql): Fragment {
  return sql`case when ${isEarlier(sql)} then a.legacy_webhook_secret else a.webhook_secret end`;
}

export function isNotified(sql: Sql): Fragment {
  return sql`(${receiverUrl(sql)} is not null and ${receiverSecret(sql)} is not null)`;
}

function isEarlier(sql: Sql): Fragment {
  return sql`e.type = any(${[...EARLIER_EVENT_TYPES]})`;
}

interface WebhookAttempt {
  url: string;
  durationMs: number;
  statusCode: number | null;
  error: string | null;
  answer: string | null;
  answerHeaders: string | null;
  sentHeaders: string;
}

type Delivered = Pick<WebhookEvent, 'id' | 'round' | 'attempts' | 'attemptsBefore'>;

/** Logs the next attempt of a delivery and updates the event's state; a successful attempt counts whatever the state is meanwhile. */
export async function logAttempt(
  sql: Sql,
  { id, round, attempts, attemptsBefore }: Delivered,
  { url, durationMs, statusCode, error, answer, answerHeaders, sentHeaders }: WebhookAttempt,
  state: WebhookEvent['state'],
): Promise<void> {
  await sql`
    with logged as (
      insert into webhook_attempts (event_id, attempt, url, duration_ms, status_code, error, answer, answer_headers, sent_headers)
      values (${id}, ${attemptsBefore + attempts + 1}, ${url}, ${durationMs}, ${statusCode}, ${error}, ${answer}, ${answerHeaders},
              ${sentHeaders})
      on conflict (event_id, attempt) do nothing
    ) ${moved(sql, { id, round }, state)}`;
}

/** Writes an event about the account itself, which is its own subject; a worker delivers it. @returns its id; null without a webhook */
export async function insertAccountEvent(
  sql: Sql,
  accountId: string,
  kind: 'test' | 'balance',
  { type, snapshot }: { type: WebhookEventType; snapshot: Readonly<Record<string, number | null>> },
): Promise<string | null> {
  const id = newId('evt');
  const written = await sql`
    with written as (
      insert into webhook_events (id, account_id, subject_kind, subject_id, type, snapshot)
      select ${id}, id, ${kind}, ${id}, ${type}, ${sql.json(snapshot)} from accounts
       where id = ${accountId} and webhook_url is not null
      returning id, account_id
    )
    ${reserved(sql, 'event', sql`select id, account_id from written`)}`;
  return written.count > 0 ? id : null;
}

export async function endDelivery(
  sql: Sql,
  delivery: Pick<WebhookEvent, 'id' | 'round'>,
  state: 'delivered' | 'exhausted',
): Promise<void> {
  await sql`with ended as (select) ${moved(sql, delivery, state)}`;
}

// As SQL, after a first `with`: a resend changes the event's state only from `exhausted` to `delivered`.
function moved(
  sql: Sql,
  { id, round }: Pick<WebhookEvent, 'id' | 'round'>,
  state: WebhookEvent['state'],
): Fragment {
  if (round === 0)
    return sql`
      update webhook_events set state = ${state}, exhausted_at = case when ${state} = 'exhausted' then now() end
       where id = ${id} and (state = 'pending' or (state = 'exhausted' and ${state} = 'delivered'))`;
  return sql`
    , finished as (
      update webhook_resends set state = ${state}, finished_at = now()
       where event_id = ${id} and round = ${round} and state = 'pending' and ${state} <> 'pending'
      returning event_id
    )
    update webhook_events set state = 'delivered', exhausted_at = null
     where id in (select event_id from finished) and ${state} = 'delivered' and state = 'exhausted'`;
}

/** How long after a change webhooks are also signed with the former secret. */
const SECRET_GRACE = '24 hours';

/**
 * Sets the webhook's URL; null turns it off and keeps the secret. `choose` gets the stored secret (encrypted) and returns the one to store.
 * Serialized per account, so that all callers see one secret. The former one is kept for {@link SECRET_GRACE} or until the next change.
 * @returns the secret now stored
 */
export async function setWebhook(
  sql: Database,
  by: Requester,
  asked: string | null | undefined,
  choose: (stored: Buffer | null) => Buffer,
): Promise<Buffer> {
  const { accountId } = by;
  return await withNamedLock(sql, `settings of ${accountId}`, async (tx) => {
    const [account] = await tx<{ webhookUrl: string | null; webhookSecret: Buffer | null }[]>`
      select webhook_url, webhook_secret from accounts where id = ${accountId} for no key update`;
    const stored = account?.webhookSecret ?? null;
    const former = account?.webhookUrl ?? null;
    const [secret, url] = [choose(stored), asked === undefined ? former : asked];
    const isNew = stored === null || !secret.equals(stored);
    await tx`
      update accounts set webhook_url = ${url}, webhook_secret = ${secret}, updated_at = now() where id = ${accountId}`;
    if (isNew && stored !== null) {
      await tx`
        update accounts
           set webhook_secret_before = ${stored}, webhook_secret_changed_at = now()
         where id = ${accountId}`;
    }
    await writeApiChange(tx, by, {
      action: 'webhook',
      subject: null,
      changes: { url: addressChange(former, url), ...secretChange(stored, secret) },
    });
    return secret;
  });
}

/** Where an account is notified, by both interfaces. */
export interface WebhookSettings {
  url: string | null;
  /** Encrypted, as the others; null: none was made yet. */
  secret: Buffer | null;
  /** Until when the former secret signs, too; null: there is none. */
  formerUntil: Date | null;
  legacyUrl: string | null;
  legacySecret: Buffer | null;
}

export async function readWebhookSettings(sql: Sql, accountId: string): Promise<WebhookSettings> {
  const [settings] = await sql<WebhookSettings[]>`
    select webhook_url as url, webhook_secret as secret, legacy_webhook_url as legacy_url, legacy_webhook_secret as legacy_secret,
           case when webhook_secret_before is not null and webhook_secret_changed_at > now() - ${SECRET_GRACE}::interval
             then webhook_secret_changed_at + ${SECRET_GRACE}::interval end as former_until
      from accounts where id = ${accountId}`;
  return settings!;
}

/** Sets the webhook's URL for v1.2.0, as {@link setWebhook} does, without keeping the former secret. The caller must lock the account. @param asked undefined: the present one */
export async function setLegacyWebhook(
  tx: Sql,
  accountId: string,
  asked: string | null | undefined,
  choose: (stored: Buffer | null) => Buffer,
) {
  const [before] = await tx<{ legacyWebhookUrl: string | null; legacyWebhookSecret: Buffer | null }[]>`
    select legacy_webhook_url, legacy_webhook_secret from accounts where id = ${accountId} for no key update`;
  const stored = before?.legacyWebhookSecret ?? null;
  const former = before?.legacyWebhookUrl ?? null;
  const [secret, url] = [choose(stored), asked === undefined ? former : asked];
  await tx`
    update accounts set legacy_webhook_url = ${url}, legacy_webhook_secret = ${secret}, updated_at = now()
     where id = ${accountId}`;
  const changes = { url: addressChange(former, url), ...secretChange(stored, secret) };
  return { url, secret, changes };
}

/** Revokes the former secret. @returns false when none was in force */
export async function revokeFormerSecret(sql: Sql, accountId: string): Promise<boolean> {
  const [account] = await sql<{ inForce: boolean }[]>`
    update accounts set webhook_secret_before = null
      from (select id, webhook_secret_before is not null
                       and webhook_secret_changed_at > now() - ${SECRET_GRACE}::interval as in_force
              from accounts where id = ${accountId} for no key update) before
     where accounts.id = before.id returning before.in_force`;
  return account?.inForce ?? false;
}

// The log does not identify secrets.
function secretChange(stored: Buffer | null, secret: Buffer) {
  const isNew = stored === null || !secret.equals(stored);
  return isNew ? { secret: { from: stored === null ? null : 'former', to: 'new' } } : {};
}

/** Hides the path, which may contain a secret, but shows that it changed. */
function addressChange(from: string | null, to: string | null): { from: string | null; to: string | null } {
  const shown = { from: withoutPath(from), to: withoutPath(to) };
  return from !== to && shown.from === shown.to ? { ...shown, to: `${shown.to} (other path)` } : shown;
}

/** Deletes former secrets after {@link SECRET_GRACE}. */
export async function forgetOldSecrets(sql: Sql): Promise<void> {
  await sql`
    update accounts set webhook_secret_before = null
     where webhook_secret_before is not null and webhook_secret_changed_at <= now() - ${SECRET_GRACE}::interval`;
}
