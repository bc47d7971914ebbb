import { ERASED_ADDRESS } from '../../domain/email/address.ts';
import type { Step } from '../maintenance/retention.ts';
import { type Database, type Fragment, type Sql, transaction } from '../connection.ts';

// A submit that began before the deadline has ended by then.
const OVER_AFTER = '1 hour';

/**
 * Erases contents, addresses and names of the next e-mails by id, and keeps status, price, times and counts. Stops before one that may
 * still be submitted, which is final within 72 hours whatever happens to its workflow.
 */
export async function eraseEmailsAfter(
  sql: Database,
  { after, before, limit }: { after: string; before: string; limit: number },
): Promise<Step> {
  return await transaction(sql, async (tx) => {
    const page = await tx<{ id: string; open: boolean; erased: boolean }[]>`
      select id, ${isOpen(tx)} as open, erased_at is not null as erased from emails e
       where id > ${after} and id < ${before} order by id limit ${limit} for update`;
    const first = page.findIndex(({ open }) => open);
    const passed = first === -1 ? page : page.slice(0, first);
    const due = passed.filter(({ erased }) => !erased).map(({ id }) => id);
    return { next: passed.at(-1)?.id ?? null, done: await eraseEmails(tx, due) };
  });
}

/** Skips e-mails that may still be submitted; returns how many were erased. */
async function eraseEmails(tx: Sql, ids: readonly string[]): Promise<number> {
  const erased = await tx<{ id: string }[]>`
    update emails e
       set from_address = ${ERASED_ADDRESS}, domain = ${ERASED_ADDRESS}, from_name = null, reply_to = null, subject = '', headers = '[]', erased_at = now()
     where id = any(${ids as string[]}::text[]) and not ${isOpen(tx)} and erased_at is null
    returning id`;
  const done = erased.map(({ id }) => id);
  if (done.length === 0) return 0;
  await tx`delete from email_contents where email_id = any(${done})`;
  await tx`delete from email_attachments where email_id = any(${done})`;
  await tx`update email_recipients set address = ${ERASED_ADDRESS} where email_id = any(${done})`;
  await tx`update email_events set address = null where email_id = any(${done}) and address is not null`;
  await tx`update provider_email_events set addresses = '{}', payload = '{}' where email_id = any(${done})`;
  await eraseEmailAnswers(tx, done);
  return done.length;
}

/** Erases addresses in stored idempotent responses. The records stay: a request repeated within 24 hours must not send again. */
async function eraseEmailAnswers(tx: Sql, ids: readonly string[]): Promise<void> {
  await tx`
    update idempotency_keys set accepted_body = jsonb_set(accepted_body, '{to}', to_jsonb(${ERASED_ADDRESS}::text), false)
     where request_id in (select request_id from emails where id = any(${ids as string[]}::text[]))`;
}

/** The person whose data is concerned; `accountId` null means in all accounts. */
export interface Addressee {
  /** In lower case. */
  address: string;
  accountId: string | null;
}

export async function countAddressTraces(sql: Sql, addressee: Addressee): Promise<Record<string, number>> {
  const { address } = addressee;
  const of = ofAccount(sql, addressee);
  const [traces] = await sql<Record<string, number>[]>`
    select (select count(*)::int from emails e where ${concerns(sql, addressee)}) as emails,
           (select count(*)::int from unsubscribe_links where address = ${address} and ${of}) as unsubscribe_links,
           (select count(*)::int from provider_email_events p
             where ${namesAddress(sql, addressee)} and p.email_id is null) as reports_of_no_email,
           (select count(*)::int from accounts where lower(contact_email) = ${address}
              and (${addressee.accountId}::text is null or id = ${addressee.accountId})) as contact_addresses,
           (select count(*)::int from people where address = ${address} and ${addressee.accountId}::text is null) as people,
           (select count(*)::int from contacts where lower(email) = ${address} and ${of}) as contacts_kept,
           (select count(*)::int from suppressions where address = ${address} and ${of}) as suppressions_kept`;
  return traces!;
}

/**
 * Erases an address in one transaction: e-mails to or from it as a whole, since a body may name it anywhere, unsubscribe links, accounts'
 * contact address, and in all accounts the person who signs in by it. Keeps suppressions, which need the address to work, contacts (erased by number) and e-mails that may still be
 * submitted; returns how many of these.
 */
export async function eraseAddressee(sql: Database, addressee: Addressee): Promise<number> {
  const { address, accountId } = addressee;
  return await transaction(sql, async (tx) => {
    const of = ofAccount(tx, addressee);
    const emails = await tx<{ id: string; open: boolean }[]>`
      select e.id, ${isOpen(tx)} as open from emails e
       where ${concerns(tx, addressee)} order by e.id for update`;
    const done = emails.filter(({ open }) => !open).map(({ id }) => id);
    await tx`
      update webhook_attempts set answer = null, answer_headers = null where answer is not null and event_id in (
        select id from webhook_events where subject_kind = 'email' and subject_id = any(${done}))`;
    await eraseEmails(tx, done);
    await tx`delete from unsubscribe_links where address = ${address} and ${of}`;
    await tx`
      update accounts set contact_email = null, updated_at = now()
       where lower(contact_email) = ${address} and (${accountId}::text is null or id = ${accountId})`;
    if (accountId === null) {
      // With memberships and sessions.
      await tx`delete from people where address = ${address}`;
      for (const table of ['sign_ins', 'requested_emails', 'invitations', 'address_changes'])
        await tx`delete from ${tx(table)} where address = ${address}`;
    }
    await tx`delete from simulator_emails where reference = any(${done})`;
    await tx`delete from simulator_email_events where reference = any(${done})`;
    if (accountId === null)
      await tx`
        update provider_email_events p set addresses = '{}', payload = '{}'
         where p.email_id is null and ${namesAddress(tx, addressee)}`;
    return emails.filter(({ open }) => open).length;
  });
}

/** Refreshes the statistics of the tables of e-mails after an erasure. */
export async function refreshEmailStatistics(sql: Sql): Promise<void> {
  await sql`
    analyze emails, email_recipients, email_contents, email_attachments, email_events, provider_email_events, unsubscribe_links,
            simulator_emails, simulator_email_events, idempotency_keys, webhook_attempts`;
}

export function concerns(sql: Sql, { address, accountId }: Addressee): Fragment {
  return sql`
    (e.id in (select r.email_id from email_recipients r where lower(r.address) = ${address})
     or lower(e.from_address) = ${address} or lower(e.reply_to) = ${address})
    and (${accountId}::text is null or e.account_id = ${accountId})`;
}

function isOpen(sql: Sql): Fragment {
  return sql`(e.status = 'queued' and e.give_up_at > now() - ${OVER_AFTER}::interval)`;
}

function namesAddress(sql: Sql, { address, accountId }: Addressee): Fragment {
  return sql`${accountId}::text is null and exists (select from unnest(p.addresses) a where lower(a) = ${address})`;
}

function ofAccount(sql: Sql, { accountId }: Addressee): Fragment {
  return sql`(${accountId}::text is null or account_id = ${accountId})`;
}
