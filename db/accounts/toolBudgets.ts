import type { Fragment, Sql } from '../connection.ts';

// No charge accepts a look-up that is half this old.
const DECIDED_AFTER_SECONDS = 60;
const SETTLED_AT_ONCE = 1_000;

/** What a call of a tool charges. */
export interface Spending {
  keyId: string;
  /** Grosze net, above 0. */
  costGrosze: number;
}

/** What a look-up may charge. */
export interface Reserving extends Spending {
  id: string;
}

/** A key may not charge so much more today. */
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

/** What became of a reservation. */
export interface Reserved {
  /** Whether there was room. */
  held: boolean;
  /** The key's budget for a day, grosze net. */
  budgetGrosze: number;
}

/**
 * Charges a send to the key's budget for the Polish calendar day that it is, within the transaction that accepts it. Nothing is counted
 * for a key without a budget.
 * @throws ToolBudgetError
 */
export async function chargeTool(tx: Sql, spending: Spending): Promise<void> {
  const [charged] = await tx<{ isCounted: boolean; budgetGrosze: number }[]>`
    with ${counted(tx, spending, null)}
    select exists (select from counted) as is_counted, most as budget_grosze from budget`;
  if (charged?.isCounted === false) throw new ToolBudgetError(charged.budgetGrosze, spending.costGrosze);
}

/**
 * Reserves what a look-up may charge, of the same budget. One statement: of any number of calls at once, those find room that fit
 * together.
 * @param at decides which day it is; now unless given
 * @returns null for a key without a budget: then nothing is counted
 */
export async function reserve(
  sql: Sql,
  reserving: Reserving,
  at: Date | null = null,
): Promise<Reserved | null> {
  const [reserved] = await sql<Reserved[]>`
    with ${counted(sql, reserving, at)}, held as (
      insert into tool_reservations (id, key_id, day, grosze)
      select ${reserving.id}, key_id, day, ${reserving.costGrosze}::bigint from counted
      returning id
    )
    select exists (select from held) as held, most as budget_grosze from budget`;
  return reserved ?? null;
}

// As SQL, the CTEs `budget`, without a row where there is none, and `counted`, without a row where there is no room.
function counted(sql: Sql, { keyId, costGrosze }: Spending, at: Date | null): Fragment {
  return sql`
    budget as (
      select id as key_id, tool_budget_grosze as most, ${polishDay(sql, at)} as day
        from api_keys where id = ${keyId} and tool_budget_grosze is not null
    ), counted as (
      insert into tool_spending as s (key_id, day, grosze)
      select key_id, day, ${costGrosze}::bigint from budget where ${costGrosze}::bigint <= most
      on conflict (key_id, day) do update set grosze = s.grosze + excluded.grosze
       where s.grosze + excluded.grosze <= (select most from budget)
      returning key_id, day
    )`;
}

/**
 * Settles a reservation whose call is over: what was charged stays counted, what was not and never will be is given back. Where
 * it is not decided yet the reservation stays, and {@link settleLeft} finds it.
 */
export async function settle(sql: Sql, id: string): Promise<void> {
  await settleThese(sql, sql`r.id = ${id}`);
}

/**
 * Settles reservations of a key that nobody else will: their process died, or could not reach the database.
 * @returns how many
 */
export async function settleLeft(sql: Sql, keyId: string): Promise<number> {
  const left: Fragment = sql`r.id = any(array(
    select id from tool_reservations where key_id = ${keyId} and ${isLeft(sql, sql`made_at`)}
     order by id limit ${SETTLED_AT_ONCE}))`;
  return await settleThese(sql, left);
}

// A row is settled by the statement that deletes it, so once. In the order of ids: two who settle the same wait for each other.
async function settleThese(sql: Sql, which: Fragment): Promise<number> {
  const [settled] = await sql<{ count: number }[]>`
    with looked as (
      select r.id, ${isCharged(sql)} as charged, ${isUndecided(sql)} as undecided
        from tool_reservations r where ${which} order by r.id for update of r
    ), gone as (
      delete from tool_reservations r using looked l where r.id = l.id and (l.charged or not l.undecided)
      returning r.key_id, r.day, r.grosze, l.charged
    ), back as (
      update tool_spending s set grosze = s.grosze - b.grosze
        from (select key_id, day, sum(grosze) as grosze from gone where not charged group by key_id, day) b
       where s.key_id = b.key_id and s.day = b.day
    )
    select count(*)::int as count from gone`;
  return settled!.count;
}

// A look-up that found nothing is refunded.
function isCharged(sql: Sql): Fragment {
  return sql`exists (select from number_lookups l where l.id = r.id and l.state = 'done')`;
}

function isUndecided(sql: Sql): Fragment {
  return sql`(
    exists (select from number_lookups l where l.id = r.id and (
      l.state = 'charged' or l.state = 'open' and not ${isLeft(sql, sql`r.made_at`)})))`;
}

function isLeft(sql: Sql, madeAt: Fragment): Fragment {
  return sql`${madeAt} < now() - make_interval(secs => ${DECIDED_AFTER_SECONDS})`;
}

/** As SQL: what counts of a key's budget today, grosze net. @param keyId of a row */
export function spentToday(sql: Sql, keyId: Fragment): Fragment {
  return sql`
    coalesce((select s.grosze from tool_spending s where s.key_id = ${keyId} and s.day = ${polishDay(sql)}), 0)`;
}

/** As SQL: the calendar day in Poland. */
function polishDay(sql: Sql, at: Date | null = null): Fragment {
  return sql`(coalesce(${at}::timestamptz, now()) at time zone 'Europe/Warsaw')::date`;
}
