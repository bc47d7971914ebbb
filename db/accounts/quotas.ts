import { type QuotaName, type Quotas, quotasOf } from '../../domain/quotas.ts';
import { idFloor } from '../ids.ts';
import type { Fragment, Sql } from '../connection.ts';

const DAY_MS = 86_400_000;

/** An account would keep more than it may. Nothing of what was to be added is kept. */
export class QuotaReachedError extends Error {
  override readonly name = 'QuotaReachedError';
  readonly quota: QuotaName;
  readonly limit: number;

  constructor(quota: QuotaName, limit: number) {
    super(`the account may have ${limit} ${quota}`);
    this.quota = quota;
    this.limit = limit;
  }
}

/** What is counted in `account_usage`, by triggers, in the very statement that adds or removes it. */
export type Counted =
  'contacts' | 'contact_bytes' | 'groups' | 'memberships' | 'blacklist' | 'suppressions' | 'links';

/** How much an account keeps of what is counted, and how much it may. */
export interface Usage {
  limits: Quotas;
  used: Record<Counted, number>;
}

const NOTHING: Record<Counted, number> = {
  contacts: 0,
  contact_bytes: 0,
  groups: 0,
  memberships: 0,
  blacklist: 0,
  suppressions: 0,
  links: 0,
};

/** Reads a handful of counters, however much the account keeps. */
export async function readUsage(sql: Sql, accountId: string): Promise<Usage> {
  const [row] = await sql<{ quotas: Partial<Quotas>; used: Partial<Record<Counted, number>> | null }[]>`
    select a.quotas, (select jsonb_object_agg(kind, used) from account_usage where account_id = a.id) as used
      from accounts a where a.id = ${accountId}`;
  return { limits: quotasOf(row?.quotas ?? {}), used: { ...NOTHING, ...row?.used } };
}

/**
 * Refuses what has been added since `before` where it is more than the account may keep; to be called in the transaction
 * that has added it. The counters are locked by then, so that of many at once none gets past. What was too much before,
 * because staff have lowered a quota, may be changed and removed.
 * @throws QuotaReachedError
 */
export async function refuseBeyond(tx: Sql, accountId: string, before: Usage): Promise<void> {
  const { limits, used } = await readUsage(tx, accountId);
  for (const kind of Object.keys(NOTHING) as Counted[]) {
    if (used[kind] > limits[kind] && used[kind] > before.used[kind])
      throw new QuotaReachedError(kind, limits[kind]);
  }
}

/** Runs what adds something, within the account's quotas. @throws QuotaReachedError */
export async function withinQuotas<T>(tx: Sql, accountId: string, add: () => Promise<T>): Promise<T> {
  const before = await readUsage(tx, accountId);
  const added = await add();
  await refuseBeyond(tx, accountId, before);
  return added;
}

/** Messages of an account that are counted when they are needed; the unpaid ones are those of the last 24 hours. */
export type MessageUsage = Pick<Quotas, 'scheduled_messages' | 'unpaid_messages' | 'unpaid_bytes'>;

/**
 * Counts messages along an index, each kind no further than asked: what has room for a send costs no more than that. How long
 * their texts are is read off their rows, not the texts themselves.
 * @param now epoch milliseconds
 */
export async function readMessageUsage(
  sql: Sql,
  accountId: string,
  upTo: Pick<MessageUsage, 'scheduled_messages' | 'unpaid_messages'>,
  now: number,
): Promise<MessageUsage> {
  // The last condition says nothing new, but is the index's own.
  const ofStatus = (status: string, shown: Fragment, since: string, limit: number) => sql`
    (select ${shown} from messages
      where account_id = ${accountId} and status = ${status} and id > ${since}
      limit ${limit})`;
  const dayAgo = idFloor('msg', now - DAY_MS);
  const length: Fragment = sql`octet_length(text) as octets`;
  const [counted] = await sql<{ scheduled: number; unpaid: number; bytes: number }[]>`
    select (select count(*)::int from ${ofStatus('scheduled', sql``, '', upTo.scheduled_messages)} waiting) as scheduled,
           count(*)::int as unpaid, coalesce(sum(octets), 0)::bigint as bytes
      from (${ofStatus('rejected', length, dayAgo, upTo.unpaid_messages)}
            union all ${ofStatus('cancelled', length, dayAgo, upTo.unpaid_messages)}) unpaid`;
  const { scheduled, unpaid, bytes } = counted!;
  return { scheduled_messages: scheduled, unpaid_messages: unpaid, unpaid_bytes: bytes };
}

/** Sets what an account may keep where it is not the usual. */
export async function setQuotas(sql: Sql, accountId: string, quotas: Partial<Quotas>): Promise<void> {
  await sql`
    update accounts set quotas = ${sql.json(quotas)}, updated_at = now() where id = ${accountId}`;
}

/** What was said of an account's quotas; those not named are the usual ones. */
export async function readQuotas(sql: Sql, accountId: string): Promise<Partial<Quotas>> {
  const [row] = await sql<{ quotas: Partial<Quotas> }[]>`select quotas from accounts where id = ${accountId}`;
  return row?.quotas ?? {};
}
