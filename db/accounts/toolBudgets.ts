import type { Fragment, Sql } from '../connection.ts';

/** What a call of a tool charges. */
export interface Spending {
  keyId: string;
  /** Grosze net, above 0. */
  costGrosze: number;
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

/**
 * Charges a send or a look-up to the key's budget for the Polish calendar day that it is, within the transaction that accepts it.
 * One statement: of any number of calls at once, those find room that fit together.
 * @returns that day, `YYYY-MM-DD`; null for a key without a budget, for which nothing is counted
 * @throws ToolBudgetError
 */
export async function chargeTool(tx: Sql, { keyId, costGrosze }: Spending): Promise<string | null> {
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

/**
 * As SQL: gives back what {@link chargeTool} counted.
 * @param refunded rows with `tool_key_id`, `tool_day` and `cost_grosze`, one of each key and day at most
 */
export function givenBack(sql: Sql, refunded: Fragment): Fragment {
  return sql`
    update tool_spending s set grosze = s.grosze - r.cost_grosze
      from ${refunded} r where s.key_id = r.tool_key_id and s.day = r.tool_day`;
}

/** As SQL: what counts of a key's budget today, grosze net. @param keyId of a row */
export function spentToday(sql: Sql, keyId: Fragment): Fragment {
  return sql`
    coalesce((select s.grosze from tool_spending s where s.key_id = ${keyId} and s.day = ${polishDay(sql)}), 0)`;
}

/** As SQL: the calendar day in Poland. */
function polishDay(sql: Sql): Fragment {
  return sql`(now() at time zone 'Europe/Warsaw')::date`;
}
