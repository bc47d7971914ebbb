import { reserve, settle, settleLeft, type Reserving, type Spending } from '../db/accounts/toolBudgets.ts';
import { evenIfGone } from '../db/patience.ts';
import { Refused } from '../domain/refusals.ts';
import type { Asked } from './asked.ts';

/** What may be charged: a look-up by its id, and grosze net. */
export type Charging = Pick<Reserving, 'id' | 'costGrosze'>;

type Asking = Pick<Asked<unknown>, 'services' | 'caller'>;

/**
 * Reserves what a look-up by a tool may charge, where its key may charge so much a day and no more: before anything is written. A
 * process that dies before it is settled leaves the reservation: it counts until the budget has no room left, and is then settled by
 * what became of the look-up.
 * @param field of what was asked, to blame where there is no room
 * @returns why not; null: it is reserved, or needs not be, and is to be settled whatever comes of it
 */
export async function holdToolBudget(
  { services: { sql }, caller }: Asking,
  { id, costGrosze }: Charging,
  field: string,
): Promise<Refused | null> {
  if (!isBound(caller, costGrosze)) return null;
  const spending = { id, keyId: caller.keyId, costGrosze };
  let reserved = await reserve(sql, spending);
  if (reserved?.held === false && (await settleLeft(sql, caller.keyId)) > 0)
    reserved = await reserve(sql, spending);
  if (reserved === null || reserved.held) return null;
  const limitGrosze = reserved.budgetGrosze;
  return new Refused({ reason: 'tool_budget_reached', limitGrosze, costGrosze }, field);
}

/** Settles what was reserved, also when its caller has gone. Where the database does not answer it is settled later. */
export async function settleToolBudget(
  { services: { sql, log }, caller }: Asking,
  { id, costGrosze }: Charging,
): Promise<void> {
  if (!isBound(caller, costGrosze)) return;
  try {
    await evenIfGone(() => settle(sql, id));
  } catch (err) {
    log.warn({ err, reserved: id }, 'a reservation of a budget is settled later');
  }
}

const isBound = ({ toolBudget }: Asking['caller'], costGrosze: number): boolean =>
  toolBudget && costGrosze > 0;

/** What a send charges to the budget of the key for tools that it came by; null where it has none. */
export function spendingOf(caller: Asking['caller'], costGrosze: number): Spending | null {
  return isBound(caller, costGrosze) ? { keyId: caller.keyId, costGrosze } : null;
}
