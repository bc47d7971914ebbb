import { type QuotaName, type Quotas, quotasOf } from '../../domain/money.ts';
import { idFloor } from '../ids.ts';
import type { Fragment, Sql } from '../connection.ts';

const DAY_MS = 86_400_000;

/** The account would exceed a quota. The transaction must be rolled back. */
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

/** Kinds counted in `account_usage`, by triggers in the statement that adds or removes rows. */
type Counted =
  'contacts' | 'contact_bytes' | 'groups' | 'memberships' | 'blacklist' | 'suppressions' | 'links';

interface Usage {
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

export async function readUsage(sql: Sql, accountId: string): Promise<Usage> {
  const [row] = await sql<{ quotas: Partial<Quotas>; used: Partial<Record<Counted, number>> | null }[]>`
    select a.quotas, (select jsonb_object_agg(kind, used) from account_usage where account_id = a.id) as used
      from accounts a where a.id = ${accountId}`;
  return { limits: quotasOf(row?.quotas ?? {}), used: { ...NOTHING, ...row?.used } };
}

/**
 * Enforces quotas on what this transaction added since `before`. Triggers have locked the counters by then, so the limit holds under
 * concurrency. An older excess (staff lowered the quota) does not block changes. @throws QuotaReachedError
 */
export async function enforceQuotas(tx: Sql, accountId: string, before: Usage): Promise<void> {
  const { limits, used } = await readUsage(tx, accountId);
  refuseAbove(limits, used, before.used);
}

/** @throws QuotaReachedError for a use that is above its limit and grew */
export function refuseAbove<Name extends QuotaName>(
  limits: Quotas,
  used: Record<Name, number>,
  before: Record<Name, number>,
): void {
  for (const name of Object.keys(used) as Name[]) {
    if (used[name] > limits[name] && used[name] > before[name])
      throw new QuotaReachedError(name, limits[name]);
  }
}

/** Runs `add` within the account's quotas. @throws QuotaReachedError */
export async function withinQuotas<T>(tx: Sql, accountId: string, add: () => Promise<T>): Promise<T> {
  const before = await readUsage(tx, accountId);
  const added = await add();
  await enforceQuotas(tx, accountId, before);
  return added;
}

/** Usage that is counted on demand; unpaid messages are those of the last 24 hours. */
type MessageUsage = Pick<Quotas, 'scheduled_messages' | 'unpaid_messages' | 'unpaid_bytes'>;

/** Counts messages along an index, each kind up to `upTo`, so the cost is bounded. Texts are not read. @param now epoch milliseconds */
export async function readMessageUsage(
  sql: Sql,
  accountId: string,
  upTo: Pick<MessageUsage, 'scheduled_messages' | 'unpaid_messages'>,
  now: number,
): Promise<MessageUsage> {
  // `id >` is always true for scheduled messages, but makes PostgreSQL use the index.
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

export async function setQuotas(sql: Sql, accountId: string, quotas: Partial<Quotas>): Promise<void> {
  await sql`
    update accounts set quotas = ${sql.json(quotas)}, updated_at = now() where id = ${accountId}`;
}

/** The account's quotas that differ from the defaults. */
export async function readQuotas(sql: Sql, accountId: string): Promise<Partial<Quotas>> {
  const [row] = await sql<{ quotas: Partial<Quotas> }[]>`select quotas from accounts where id = ${accountId}`;
  return row?.quotas ?? {};
}

export interface ToolCharge {
  keyId: string;
  costGrosze: number;
}

/** The key's budget for today is too small for this call. */
export class ToolBudgetError extends Error {
  override readonly name = 'ToolBudgetError';
  readonly budgetGrosze: number;
  readonly costGrosze: number;

  constructor(budgetGrosze: number, costGrosze: number) {
    super();
    this.budgetGrosze = budgetGrosze;
    this.costGrosze = costGrosze;
  }
}

/**
 * Charges a tool call to its key's budget of today (in Poland). One statement, so concurrent calls cannot exceed the budget.
 * @returns the day, `YYYY-MM-DD`; null for a key without a budget @throws ToolBudgetError
 */
export async function chargeTool(tx: Sql, { keyId, costGrosze }: ToolCharge): Promise<string | null> {
  const [charged] = await tx<{ day: string | null; budgetGrosze: number }[]>`
    with budget as (
      select id as key_id, tool_budget_grosze as most
        from api_keys where id = ${keyId} and tool_budget_grosze is not null
    ), counted as (
      insert into tool_spending as s (key_id, day, grosze)
      select key_id, ${polishDay(tx)}, ${costGrosze}::bigint from budget where ${costGrosze}::bigint <= most
      on conflict (key_id, day) do update set grosze = s.grosze + excluded.grosze
       where s.grosze + excluded.grosze <= (select most from budget)
      returning day
    )
    select (select day::text from counted) as day, most as budget_grosze from budget`;
  if (charged?.day === null) throw new ToolBudgetError(charged.budgetGrosze, costGrosze);
  return charged?.day ?? null;
}

/** As SQL: refunds {@link chargeTool}. @param refunded `tool_key_id`, `tool_day`, `cost_grosze`; at most one row per key and day */
export function refundToolBudget(sql: Sql, refunded: Fragment): Fragment {
  return sql`
    update tool_spending s set grosze = s.grosze - r.cost_grosze
      from ${refunded} r where s.key_id = r.tool_key_id and s.day = r.tool_day`;
}

/** As SQL: what is charged to a key's budget today, grosze net. */
export function spentToday(sql: Sql, keyId: Fragment): Fragment {
  return sql`
    coalesce((select s.grosze from tool_spending s where s.key_id = ${keyId} and s.day = ${polishDay(sql)}), 0)`;
}

/** As SQL: today in Poland. */
export function polishDay(sql: Sql): Fragment {
  return sql`(now() at time zone 'Europe/Warsaw')::date`;
}

/** What is sent by tools, or may be: recipients, and grosze net. */
export interface SendSize {
  recipients: number;
  costGrosze: number;
}

/**
 * Counts a send without the user's confirmation among its key's of today. One statement, so concurrent calls cannot exceed the limits.
 * @returns false if it would exceed them; nothing is counted then
 */
export async function countUnconfirmed(
  sql: Sql,
  keyId: string,
  { recipients, costGrosze }: SendSize,
  most: SendSize,
): Promise<boolean> {
  const fits = (n: Fragment, g: Fragment) => sql`${n} <= ${most.recipients} and ${g} <= ${most.costGrosze}`;
  const counted = await sql`
    insert into tool_spending as s (key_id, day, grosze, unconfirmed_recipients, unconfirmed_grosze)
    select ${keyId}, ${polishDay(sql)}, 0, ${recipients}::int, ${costGrosze}::bigint
     where ${fits(sql`${recipients}::int`, sql`${costGrosze}::bigint`)}
    on conflict (key_id, day) do update
       set unconfirmed_recipients = s.unconfirmed_recipients + excluded.unconfirmed_recipients,
           unconfirmed_grosze = s.unconfirmed_grosze + excluded.unconfirmed_grosze
     where ${fits(
       sql`s.unconfirmed_recipients + excluded.unconfirmed_recipients`,
       sql`s.unconfirmed_grosze + excluded.unconfirmed_grosze`,
     )}
    returning day`;
  return counted.length > 0;
}

/** Takes back {@link countUnconfirmed} for a send that did not happen. */
export async function uncountUnconfirmed(
  sql: Sql,
  keyId: string,
  { recipients, costGrosze }: SendSize,
): Promise<void> {
  await sql`
    update tool_spending
       set unconfirmed_recipients = greatest(unconfirmed_recipients - ${recipients}::int, 0),
           unconfirmed_grosze = greatest(unconfirmed_grosze - ${costGrosze}::bigint, 0)
     where key_id = ${keyId} and day = ${polishDay(sql)}`;
}

export interface ToolDay {
  /** null: the key has none. */
  budgetGrosze: number | null;
  spentGrosze: number;
  unconfirmedRecipients: number;
  unconfirmedGrosze: number;
}

/** What a key's tool calls came to today, in Poland. */
export async function readToolDay(sql: Sql, keyId: string): Promise<ToolDay> {
  const [row] = await sql<ToolDay[]>`
    select k.tool_budget_grosze as budget_grosze, coalesce(s.grosze, 0) as spent_grosze,
           coalesce(s.unconfirmed_recipients, 0) as unconfirmed_recipients,
           coalesce(s.unconfirmed_grosze, 0) as unconfirmed_grosze
      from api_keys k left join tool_spending s on s.key_id = k.id and s.day = ${polishDay(sql)}
     where k.id = ${keyId}`;
  return row ?? { budgetGrosze: null, spentGrosze: 0, unconfirmedRecipients: 0, unconfirmedGrosze: 0 };
}
