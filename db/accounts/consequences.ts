import type { Sql } from '../connection.ts';
import { idFloor } from '../ids.ts';
import { isUntouched } from '../messages/statusEvents.ts';
import { isValid } from './keys.ts';

/** What a change of an account's status meets. */
export interface Affected {
  /** Neither submitted nor ended; those of a closed account are cancelled and refunded, of a suspended one they wait. */
  waitingMessages: number;
  waitingEmails: number;
  /** What these were charged, net. */
  waitingGrosze: number;
  waitingTestCredits: number;
  /** There are more than were counted. */
  more: boolean;
  /** Valid keys and tokens. */
  validKeys: number;
  pendingEvents: number;
}

// Of each kind; the usual quota of scheduled messages.
const COUNTED = 200_000;
// Of events; those pending are the latest, or abandoned.
const LOOKED_AT = 10_000;
const LATE_MS = 10 * 60_000;

/** Counts along indexes, up to a bound. */
export async function readAffected(sql: Sql, accountId: string): Promise<Affected> {
  const cost = sql`case when test_credits > 0 then 0 else cost_grosze end as grosze, test_credits as credits`;
  // `id >` is always true, but makes PostgreSQL use the index.
  const messages = (status: string) => sql`
    (select 'message' as kind, ${cost} from messages m
      where account_id = ${accountId} and status = ${status} and id > '' and ${isUntouched(sql)} limit ${COUNTED})`;
  const [affected] = await sql<Affected[]>`
    with waiting as (
      ${messages('scheduled')} union all ${messages('queued')} union all
      (select 'email', ${cost} from emails
        where account_id = ${accountId} and status = 'queued' and id > '' and submission = 'waiting' limit ${COUNTED})
    )
    select count(*) filter (where kind = 'message')::int as waiting_messages,
           count(*) filter (where kind = 'email')::int as waiting_emails,
           coalesce(sum(grosze), 0)::bigint as waiting_grosze, coalesce(sum(credits), 0)::int as waiting_test_credits,
           count(*) >= ${COUNTED} as more,
           (select count(*)::int from api_keys k where account_id = ${accountId} and ${isValid(sql)})
             + (select count(*)::int from api_tokens k where account_id = ${accountId} and ${isValid(sql)}) as valid_keys,
           (select count(*)::int from (
              select state from webhook_events
               where account_id = ${accountId} and id > ${idFloor('evt', Date.now() - LATE_MS)}
               order by id desc limit ${LOOKED_AT}) e where state = 'pending')
             + (select count(*)::int from webhook_resends where account_id = ${accountId} and state = 'pending') as pending_events
      from waiting`;
  return affected!;
}
