import { type Database, type Fragment, type Sql, transaction } from '../connection.ts';
import { eraseAnswers } from '../messages/idempotency.ts';
import { isOpen } from '../messages/statusEvents.ts';

/** How long after a message's end delivery reports or webhook responses may still arrive. */
export const LATE_DATA_PERIOD = '3 days';

/** Prefix of an erased reply's provider reference, which may have been a hash of number and text. */
export const ERASED_REFERENCE = 'erased:';

/** Masks a number: `+48*****200`. */
export type Mask = (msisdn: string) => string;

export interface Step {
  next: string | null;
  done: number;
}

/** Erases text and number of the next ended messages by id, and queues open ones for `erasePostponed`. Keeps all that reports count. */
export async function eraseMessagesAfter(
  sql: Database,
  { after, before, limit }: { after: string; before: string; limit: number },
  mask: Mask,
): Promise<Step> {
  return await transaction(sql, async (tx) => {
    const page = await tx<{ id: string; open: boolean; erased: boolean }[]>`
      select m.id, ${isOpen(tx)} as open, m.erased_at is not null as erased from messages m
       where m.id > ${after} and m.id < ${before} order by m.id limit ${limit}`;
    const open = page.filter((message) => message.open).map(({ id }) => id);
    if (open.length > 0) {
      await tx`
        insert into erasures_postponed (message_id) select unnest(${open}::text[]) on conflict do nothing`;
    }
    const ended = page.filter((message) => !message.open && !message.erased).map(({ id }) => id);
    return { next: page.at(-1)?.id ?? null, done: await eraseMessages(tx, ended, mask) };
  });
}

export async function eraseMessages(sql: Sql, ids: readonly string[], mask: Mask): Promise<number> {
  if (ids.length === 0) return 0;
  const rows = await sql<{ id: string; recipient: string }[]>`
    select m.id, m.recipient from messages m
     where m.id = any(${ids as string[]}) and not ${isOpen(sql)} and m.erased_at is null
     order by m.id for update`;
  await sql`
    update messages m set recipient = e.recipient, text = '', content = null, erased_at = now()
      from unnest(${rows.map(({ id }) => id)}::text[], ${rows.map(({ recipient }) => mask(recipient))}::text[])
             as e(id, recipient)
     where m.id = e.id`;
  await eraseAnswers(
    sql,
    rows.map(({ id }) => id),
    mask,
  );
  return rows.length;
}

/** Erases queued messages that have ended, with third-party data about them; they stay queued for days, for late data. Returns how many. */
export async function erasePostponed(sql: Database, ids: readonly string[], mask: Mask): Promise<number> {
  return await transaction(sql, async (tx) => {
    const done = await eraseMessages(tx, ids, mask);
    const erased = await tx<{ id: string; over: boolean }[]>`
      select m.id, m.erased_at < now() - ${LATE_DATA_PERIOD}::interval as over from messages m
       where m.id = any(${ids as string[]}) and m.erased_at is not null and not ${isOpen(tx)}`;
    await eraseThirdPartyData(
      tx,
      erased.map(({ id }) => id),
    );
    const over = erased.filter((message) => message.over).map(({ id }) => id);
    await tx`delete from erasures_postponed where message_id = any(${over})`;
    return done;
  });
}

/** Erases data about ended messages from third parties: providers, webhook receivers, the simulated network. */
export async function eraseThirdPartyData(sql: Sql, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await sql`
    update delivery_reports set phone = null, details = null
     where (phone is not null or details is not null) and id = any(${reportsOf(sql, ids)})`;
  await sql`
    update webhook_attempts set answer = null, answer_headers = null
     where answer is not null and event_id in (select id from webhook_events where subject_id = any(${ids as string[]}))`;
  await sql`
    delete from simulator_submits where reference in (
      select p.message_id || '/' || n from message_parts p, lateral (values (p.part), (0)) as numbers(n)
       where p.message_id = any(${ids as string[]}))`;
}

// As SQL, ids of reports that matched parts of these messages: by one of their ids, or by our reference. One indexed subquery each,
// and as an array, so that no plan joins all reports.
function reportsOf(sql: Sql, ids: readonly string[]): Fragment {
  return sql`array(
    select d.id from message_parts p join delivery_reports d
        on d.route = p.route and d.provider_message_id = p.provider_message_id
     where p.message_id = any(${ids as string[]}) and d.applied_at is not null
    union all
    select d.id from message_parts p join delivery_reports d on d.route = p.route and d.other_ids @> array[p.provider_message_id]
     where p.message_id = any(${ids as string[]}) and d.other_ids <> '{}' and d.applied_at is not null
    union all
    select d.id from delivery_reports d where d.message_id = any(${ids as string[]}) and d.applied_at is not null)`;
}

export async function postponedAfter(sql: Sql, after: string, limit: number): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select message_id as id from erasures_postponed where message_id > ${after} order by message_id limit ${limit}`;
  return rows.map(({ id }) => id);
}

/** Erases text and number of the next replies by id; account and opt-out stay. */
export async function eraseRepliesAfter(
  sql: Database,
  { after, before, limit }: { after: string; before: string; limit: number },
  mask: Mask,
): Promise<Step> {
  return await transaction(sql, async (tx) => {
    const page = await tx<{ id: string; sender: string; due: boolean }[]>`
      select id, sender, erased_at is null and state <> 'received' as due from inbound_messages
       where id > ${after} and id < ${before} order by id limit ${limit} for update`;
    const due = page.filter((reply) => reply.due);
    await eraseReplies(tx, due, mask);
    return { next: page.at(-1)?.id ?? null, done: due.length };
  });
}

export async function eraseReplies(
  sql: Sql,
  replies: readonly { id: string; sender: string }[],
  mask: Mask,
): Promise<void> {
  await sql`
    update inbound_messages i
       set sender = e.sender, received_text = '', text = case when i.text is not null then '' end, erased_at = now(),
           provider_reference = ${ERASED_REFERENCE} || i.id
      from unnest(${replies.map(({ id }) => id)}::text[], ${replies.map(({ sender }) => mask(sender))}::text[])
             as e(id, sender)
     where i.id = e.id`;
}

/** Erases user agents and address hashes of clicks before a time, up to `limit`; the clicks still count. Returns how many. */
export async function eraseClicksBefore(sql: Sql, before: Date, limit: number): Promise<number> {
  const erased = await sql`
    update link_clicks set user_agent = null, ip_hash = null where ctid = any(array(
      select ctid from link_clicks
       where clicked_at < ${before} and (user_agent is not null or ip_hash is not null)
       order by clicked_at limit ${limit} for update skip locked))`;
  return erased.count;
}

/** Masks the numbers of the next ended look-ups by id. */
export const eraseLookupsAfter = maskAfter('number_lookups', (sql) => sql`state <> 'charged'`);

/** Masks the numbers of the next verifications by id. */
export const eraseVerificationsAfter = maskAfter('verifications', (sql) => sql`true`);

function maskAfter(table: string, isEnded: (sql: Sql) => Fragment) {
  return async (
    sql: Database,
    { after, before, limit }: { after: string; before: string; limit: number },
    mask: Mask,
  ): Promise<Step> =>
    await transaction(sql, async (tx) => {
      const page = await tx<{ id: string; msisdn: string; due: boolean }[]>`
        select id, msisdn, ${isEnded(tx)} and position('*' in msisdn) = 0 as due from ${tx(table)}
         where id > ${after} and id < ${before} order by id limit ${limit} for update`;
      const due = page.filter((row) => row.due);
      await tx`
        update ${tx(table)} t set msisdn = e.msisdn
          from unnest(${due.map(({ id }) => id)}::text[], ${due.map(({ msisdn }) => mask(msisdn))}::text[])
                 as e(id, msisdn)
         where t.id = e.id`;
      return { next: page.at(-1)?.id ?? null, done: due.length };
    });
}
