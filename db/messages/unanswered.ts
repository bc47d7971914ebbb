import type { Sql } from '../connection.ts';

/** A message of which nobody knows whether the SMSC took it. */
export interface UnansweredMessage {
  id: string;
  accountId: string;
  /** The route of the part that is longest without an answer. */
  route: string;
  since: Date;
  /** MSISDN in E.164 with plus. */
  recipient: string;
  parts: number;
  /** Numbers of the parts without an answer. */
  unanswered: number[];
  /** What the SMSC said to them, where it said something unknown. */
  codes: string[];
}

/** The unanswered messages, the oldest submit first; of one route, or of all when `route` is null. */
export async function listUnanswered(
  sql: Sql,
  route: string | null,
  limit: number,
): Promise<UnansweredMessage[]> {
  return [
    ...(await sql<UnansweredMessage[]>`
      select m.id, m.account_id as "accountId", coalesce(p.route, m.carrier) as route,
             coalesce(p.since, m.updated_at) as since, m.recipient, m.parts,
             coalesce(p.unanswered, '{}') as unanswered, coalesce(p.codes, '{}') as codes
        from messages m
        left join lateral (
          select (array_agg(carrier order by submitted_at))[1] as route, min(submitted_at) as since,
                 array_agg(part order by part) as unanswered,
                 array_agg(distinct answer_code) filter (where answer_code is not null) as codes
            from message_parts
           where message_id = m.id and state in ('unanswered', 'under way')
        ) p on true
       where m.status = 'queued' and m.submission = 'unanswered'
         and (${route}::text is null or coalesce(p.route, m.carrier) = ${route})
       order by since, m.id limit ${limit}`),
  ];
}

/** Where a message's submit stands; undefined when no accepted message has this id. */
export async function readSubmission(
  sql: Sql,
  id: string,
): Promise<{ accountId: string; status: string; submission: string } | undefined> {
  const [message] = await sql<{ accountId: string; status: string; submission: string }[]>`
    select account_id as "accountId", status, submission from messages
     where id = ${id} and status not in ('draft', 'refused')`;
  return message;
}
