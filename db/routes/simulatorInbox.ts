import type { Channel } from '../../domain/channelDeclaration.ts';
import { addressKey } from '../../domain/email/address.ts';
import type { ProviderEmailEvent, RecipientState } from '../../domain/email/statuses.ts';
import type { Fragment, Sql } from '../connection.ts';

// These tables hold only what the simulated provider was given: nothing of other routes can be read here.

/** A page of a list, newest first. */
export interface ReceivedPage {
  limit: number;
  /** `position` of the last entry of the page before. */
  before?: number | null;
  /** Characters of a body; more are cut off. */
  bodyMax: number;
}

interface Received {
  receivedAt: Date;
  /** Microseconds since 1970, the order of lists. */
  position: number;
}

export interface ReceivedMessage extends Received {
  /** The message's id. */
  id: string;
  from: string | null;
  /** MSISDN in E.164 with plus. */
  to: string;
  channel: Channel;
  /** Of an MMS. */
  subject: string | null;
  text: string;
  /** What the phone answered. */
  replies: string[];
}

const REPLIES_MAX = 20;

/** Messages whose parts all reached their phone. @param msisdn null: of all phones */
export async function readReceivedMessages(
  sql: Sql,
  msisdn: string | null,
  page: ReceivedPage,
): Promise<ReceivedMessage[]> {
  return await sql<ReceivedMessage[]>`
    select m.id, h.source as "from", h.destination as "to", h.channel, h.options->>'subject' as subject, t.text,
           ${position(sql, sql`h`)}, array(select left(i.received_text, ${page.bodyMax}) from inbound_messages i
                                            where i.reply_to = m.id and i.route = h.route
                                            order by i.id limit ${REPLIES_MAX}) as replies
      from (select * from simulator_submits s
             where part = 1 and received and ${msisdn === null ? sql`true` : sql`destination = ${msisdn}`}
               and ${olderThan(sql, page)} order by received_at desc limit ${page.limit}) h
     cross join lateral (select split_part(h.reference, '/', 1) as id) m
     cross join lateral (
       select left(string_agg(content, '' order by part), ${page.bodyMax}) as text from (
         select distinct on (part) part, content from simulator_submits
          where received and reference = any(array(select m.id || '/' || n from generate_series(1, h.parts) n))
          order by part) p
       having count(*) = h.parts) t
     order by h.received_at desc`;
}

export interface ReceivedEmail extends Received {
  /** The e-mail's id. */
  id: string;
  from: { address: string; name: string | null };
  to: string[];
  subject: string;
  text: string | null;
  html: string | null;
  files: string[];
  recipients: { address: string; state: RecipientState }[];
}

/** @param which null: e-mails of all mailboxes */
export async function readReceivedEmails(
  sql: Sql,
  which: { address: string } | { id: string } | null,
  page: ReceivedPage,
): Promise<ReceivedEmail[]> {
  return await sql<ReceivedEmail[]>`
    select s.reference as id, s.mail->'from' as "from", s.mail->>'subject' as subject,
           array(select jsonb_array_elements_text(s.mail->'to')) as "to",
           left(s.mail->>'text', ${page.bodyMax}) as text, left(s.mail->>'html', ${page.bodyMax}) as html,
           array(select f->>'filename' from jsonb_array_elements(s.mail->'attachments') f) as files,
           (select coalesce(jsonb_agg(jsonb_build_object('address', r.address, 'state', r.state) order by r.position), '[]')
              from email_recipients r where r.email_id = s.reference and r.state <> 'suppressed') as recipients,
           ${position(sql, sql`s`)}
      from simulator_emails s
     where ${concerned(sql, which)} and ${olderThan(sql, page)}
     order by s.received_at desc limit ${page.limit}`;
}

function concerned(sql: Sql, which: { address: string } | { id: string } | null): Fragment {
  if (which === null) return sql`true`;
  if ('id' in which) return sql`s.reference = ${which.id}`;
  return sql`
    s.reference in (select email_id from email_recipients
                     where lower(address) = ${addressKey(which.address)} and state not in ('suppressed', 'bounced'))`;
}

function position(sql: Sql, of: Fragment): Fragment {
  return sql`${of}.received_at, floor(extract(epoch from ${of}.received_at) * 1000000)::bigint as position`;
}

function olderThan(sql: Sql, { before = null }: ReceivedPage): Fragment {
  return before === null ? sql`true` : sql`s.received_at < to_timestamp(${before}::bigint / 1000000.0)`;
}

/** Reports what a recipient does with an e-mail, or what their server says. @returns false for an e-mail or address that is unknown */
export async function addSimulatedEmailEvent(
  sql: Sql,
  event: { id: string; address: string; kind: ProviderEmailEvent['kind']; permanent: boolean | null },
): Promise<boolean> {
  const added = await sql`
    insert into simulator_email_events (route, provider_email_id, reference, kind, permanent, address, due_at)
    select s.route, s.provider_email_id, s.reference, ${event.kind}, ${event.permanent}, r.address, clock_timestamp()
      from simulator_emails s join email_recipients r on r.email_id = s.reference
     where s.reference = ${event.id} and r.address = ${event.address} and r.state <> 'suppressed'
    returning id`;
  return added.length > 0;
}

export async function switchPhoneOff(sql: Sql, msisdn: string): Promise<void> {
  await sql`insert into simulator_phones_off (msisdn) values (${msisdn}) on conflict do nothing`;
}

export async function switchPhoneOn(sql: Sql, msisdn: string): Promise<void> {
  await sql`delete from simulator_phones_off where msisdn = ${msisdn}`;
}

export async function isPhoneOff(sql: Sql, msisdn: string): Promise<boolean> {
  const [row] = await sql`select from simulator_phones_off where msisdn = ${msisdn}`;
  return row !== undefined;
}
