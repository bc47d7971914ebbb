import type { Sql } from '../connection.ts';
import { idFloor } from '../ids.ts';
import { isValid } from './keys.ts';

const DAY_MS = 86_400_000;

/** How far an account has come, and what its people may have to look after. */
export interface Standing {
  hasNumber: boolean;
  hasSent: boolean;
  hasUsedKey: boolean;
  hasSender: boolean;
  /** Its keys that work are test keys. */
  hasTestKeyAlone: boolean;
  /** Events that no attempt delivered in the last 24 hours. */
  webhookFails: boolean;
  /** Labels or hints of keys and tokens that nobody has used for 90 days, a few. */
  unusedKeys: string[];
}

/** Reads it by a few index probes, whatever the account has sent. */
export async function readStanding(sql: Sql, accountId: string): Promise<Standing> {
  const [row] = await sql<Standing[]>`
    with keys as (
      select label, hint, created_at, last_used_at, revoked_at from api_keys where account_id = ${accountId}
       union all
      select label, hint, created_at, last_used_at, revoked_at from api_tokens where account_id = ${accountId}
    )
    select exists (select from verified_numbers where account_id = ${accountId}) as has_number,
           exists (select from messages where account_id = ${accountId}) as has_sent,
           exists (select from keys where last_used_at is not null) as has_used_key,
           exists (select from senders where account_id = ${accountId} and active) as has_sender,
           coalesce((select bool_and(k.mode = 'test') from api_keys k
                      where k.account_id = ${accountId} and ${isValid(sql)}), false) as has_test_key_alone,
           exists (select from webhook_events
                    where account_id = ${accountId} and exhausted_at > now() - interval '24 hours'
                      and id > ${idFloor('evt', Date.now() - 2 * DAY_MS)}) as webhook_fails,
           array(select coalesce(label, hint) from keys
                  where revoked_at is null and coalesce(last_used_at, created_at) < now() - interval '90 days'
                  order by coalesce(last_used_at, created_at) limit 3) as unused_keys`;
  return row!;
}
