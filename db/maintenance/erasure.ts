import { byColumnName, type Database, type Fragment, type Sql, transaction } from '../connection.ts';
import {
  ERASED_REFERENCE,
  eraseThirdPartyData,
  eraseMessages,
  LATE_DATA_PERIOD,
  type Mask,
} from './retention.ts';
import { lockAddressBooks } from '../contacts/contacts.ts';
import { eraseAnswers } from '../messages/idempotency.ts';
import { isOpen } from '../messages/statusEvents.ts';

// A newer delivery report may still have to be matched by phone.
const MATCH_WITHIN = '1 day';

/** The person whose data is concerned; `accountId` null means in all accounts. */
export interface Person {
  /** E.164 with plus. */
  msisdn: string;
  accountId: string | null;
}

export type Traces = Record<string, number>;

/** What an erasure could not erase yet: messages until they end, replies and look-ups until erasure is requested again. */
interface Left {
  messages: number;
  replies: number;
  lookups: number;
}

export async function scheduledTo(sql: Sql, person: Person): Promise<{ id: string; accountId: string }[]> {
  return await sql<{ id: string; accountId: string }[]>`
    select m.id, m.account_id from messages m where ${isTo(sql, person)} and m.status = 'scheduled' order by m.id`;
}

export async function countTraces(sql: Sql, person: Person): Promise<Traces> {
  const { msisdn } = person;
  const of = ofAccount(sql, person);
  const [traces] = await sql<Traces[]>`
    select (select count(*)::int from messages m where ${isTo(sql, person)}) as messages,
           (select count(*)::int from inbound_messages where sender = ${msisdn} and ${of}) as replies,
           (select count(*)::int from number_lookups where msisdn = ${msisdn} and ${of}) as lookups,
           (select count(*)::int from contacts where msisdn = ${msisdn} and ${of}) as contacts,
           (select count(*)::int from contact_import_rows where ${isImported(sql, person)}) as import_rows,
           (select count(*)::int from tracked_links where recipient = ${msisdn} and ${of}) as tracked_links,
           (select count(*)::int from opt_out_links where msisdn = ${msisdn} and ${of}) as opt_out_links,
           (select count(*)::int from verified_numbers where msisdn = ${msisdn} and ${of}) as verified_numbers,
           (select count(*)::int from verifications where msisdn = ${msisdn} and ${of}) as verifications,
           (select count(*)::int from blacklist where msisdn = ${msisdn} and ${of}) as blacklist_entries_kept`;
  return byColumnName(traces!);
}

/**
 * Erases a person in one transaction: masks numbers, empties texts, deletes contacts and opt-out links; keeps counts, and blacklist
 * entries, which need the number to work. Open messages are queued for `retention`, which erases them once they end.
 */
export async function erasePerson(sql: Database, person: Person, mask: Mask): Promise<Left> {
  const { msisdn, accountId } = person;
  const masked = mask(msisdn);
  return await transaction(sql, async (tx) => {
    const of = ofAccount(tx, person);
    // Adding and removing contacts lock the account's counters in different orders.
    const books = await tx<{ id: string }[]>`
      select distinct account_id as id from contacts where msisdn = ${msisdn} and ${of}`;
    await lockAddressBooks(
      tx,
      books.map(({ id }) => id),
    );
    const messages = await tx<{ id: string; open: boolean; heardOf: boolean }[]>`
      select m.id, ${isOpen(tx)} as open, m.updated_at > now() - ${LATE_DATA_PERIOD}::interval as heard_of from messages m
       where ${isTo(tx, person)} order by m.id for update`;
    const ids = messages.map(({ id }) => id);
    const open = messages.filter((message) => message.open).map(({ id }) => id);
    // Just-ended messages are queued too: a late report or webhook response may contain the number.
    const noted = messages.filter((message) => message.open || message.heardOf).map(({ id }) => id);
    await tx`insert into erasures_postponed (message_id) select unnest(${noted}::text[]) on conflict do nothing`;

    const ended = ids.filter((id) => !open.includes(id));
    await eraseThirdPartyData(tx, ended);
    if (accountId === null) {
      await tx`
        update delivery_reports set phone = null, details = null
         where phone = ${msisdn} and (applied_at is not null or received_at < now() - ${MATCH_WITHIN}::interval)`;
    }
    // Separate subqueries, each with an index; with `or`, all events would be scanned.
    await tx`
      update webhook_attempts set answer = null, answer_headers = null where answer is not null and event_id = any(array(
        select id from webhook_events where subject_id = any(${ids})
        union all
        select id from webhook_events
         where subject_kind in ('inbound', 'inbound_v1') and subject_id in (select id from inbound_messages where sender = ${msisdn} and ${of})
        union all
        select id from webhook_events
         where subject_kind = 'link' and subject_id in (select token from tracked_links where recipient = ${msisdn} and ${of})))`;
    await tx`
      update inbound_messages
         set sender = ${masked}, received_text = '', text = case when text is not null then '' end, erased_at = now(),
             provider_reference = ${ERASED_REFERENCE} || id
       where sender = ${msisdn} and ${of} and state <> 'received'`;
    await tx`
      update number_lookups set msisdn = ${masked}
       where msisdn = ${msisdn} and ${of} and state <> 'charged'`;
    await tx`update verifications set msisdn = ${masked} where msisdn = ${msisdn} and ${of}`;
    await tx`
      update link_clicks set user_agent = null, ip_hash = null
       where token in (select token from tracked_links where recipient = ${msisdn} and ${of})`;
    await tx`update tracked_links set recipient = null where recipient = ${msisdn} and ${of}`;
    await tx`delete from opt_out_links where msisdn = ${msisdn} and ${of}`;
    await tx`delete from contacts where msisdn = ${msisdn} and ${of}`;
    // A row that is not imported yet keeps its place.
    await tx`
      update contact_import_rows set cells = (select jsonb_agg(''::text) from jsonb_array_elements(cells)) where ${isImported(tx, person)}`;
    await tx`delete from verified_numbers where msisdn = ${msisdn} and ${of}`;
    if (accountId === null) {
      await tx`delete from simulator_submits where destination = ${msisdn}`;
      await tx`delete from simulator_replies where source = ${msisdn}`;
      await tx`delete from simulator_phones_off where msisdn = ${msisdn}`;
      await tx`delete from reply_parts where sender = ${msisdn}`;
      await tx`delete from concat_references where recipient = ${msisdn}`;
    }
    await eraseMessages(tx, ids, mask);
    // The stored idempotent responses of open messages; no later report depends on them.
    await eraseAnswers(tx, open, mask);
    return { messages: open.length, ...(await undecided(tx, person)) };
  });
}

/** Replies and look-ups of a person that are still undecided, and therefore not erased. */
export async function undecided(sql: Sql, person: Person): Promise<Omit<Left, 'messages'>> {
  const of = ofAccount(sql, person);
  const [left] = await sql<Omit<Left, 'messages'>[]>`
    select (select count(*)::int from inbound_messages
             where sender = ${person.msisdn} and ${of} and state = 'received') as replies,
           (select count(*)::int from number_lookups
             where msisdn = ${person.msisdn} and ${of} and state = 'charged') as lookups`;
  return left!;
}

/** Refreshes statistics, which hold frequent values; left to autovacuum if the role does not own the tables. */
export async function refreshStatistics(sql: Sql): Promise<void> {
  await sql`
    analyze messages, inbound_messages, number_lookups, contacts, tracked_links, opt_out_links, verified_numbers,
            verifications, link_clicks, delivery_reports, webhook_attempts, idempotency_keys, reply_parts, concat_references,
            simulator_submits, simulator_replies, contact_import_rows`;
}

function isTo(sql: Sql, { msisdn, accountId }: Person): Fragment {
  return sql`m.recipient = ${msisdn} and (${accountId}::text is null or m.account_id = ${accountId})`;
}

/** As SQL: whether one of the `cells` of an import is the number, however people write it. */
function isImported(sql: Sql, person: Person): Fragment {
  const gap = '[^0-9"]*';
  const [, country = '', rest = ''] = /^\+(48)?(\d+)$/.exec(person.msisdn) ?? [];
  const spaced = (digits: string): string => [...digits].map((digit) => digit + gap).join('');
  return sql`
    import_id = any(array(select id from contact_imports where ${ofAccount(sql, person)}))
    and cells::text ~ ${`"${gap}(0${gap})*(${spaced(country)})?${spaced(rest)}"`}`;
}

// The indexes begin with the account: for all accounts, probing each is faster than a table scan on every PostgreSQL release. Only replies
// can have no account.
function ofAccount(sql: Sql, { accountId }: Person): Fragment {
  if (accountId !== null) return sql`account_id = ${accountId}`;
  return sql`(account_id = any(array(select id from accounts)) or account_id is null)`;
}
