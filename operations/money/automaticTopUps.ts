import {
  type AutomaticTopUpSettings,
  dueAutomaticTopUps,
  removeCard,
  saveAutomaticTopUp,
} from '../../db/money/automaticTopUps.ts';
import { lockAccount } from '../../db/accounts/staff.ts';
import { type Database, transaction } from '../../db/connection.ts';
import { newId } from '../../db/ids.ts';
import { insertPayment } from '../../db/money/payments.ts';
import type { PersonActor } from '../../domain/actor.ts';
import { withVat } from '../../domain/vat.ts';
import { findAccountForUpdate } from '../accounts/accounts.ts';
import { recorded } from '../staff.ts';

const AT_ONCE = 50;

/** Turns automatic top-ups on or off. The card is the one that the next top-up is paid by. */
export const changeAutomaticTopUp = recorded<AutomaticTopUpSettings, void, PersonActor>(
  'automatic top-up',
  async (tx, settings, { actor: { accountId: account } }) => {
    await findAccountForUpdate(tx, account);
    await saveAutomaticTopUp(tx, account, settings);
    const { enabled, thresholdGrosze, netGrosze, monthlyCapGrosze } = settings;
    const details = {
      enabled,
      threshold_grosze: thresholdGrosze,
      net_grosze: netGrosze,
      monthly_cap_grosze: monthlyCapGrosze,
    };
    return { data: undefined, account, details };
  },
);

/** Forgets the card, which turns automatic top-ups off. */
export const forgetCard = recorded<null, void, PersonActor>(
  'automatic top-up card',
  async (tx, _, { actor: { accountId: account } }) => {
    await findAccountForUpdate(tx, account);
    await removeCard(tx, account);
    return { data: undefined, account, protective: true };
  },
);

/** Starts the automatic top-ups that are due, one at a time of an account: workers charge the cards. @param processor null: none is set up */
export async function startDueTopUps(sql: Database, processor: string | null): Promise<void> {
  if (processor === null) return;
  for (const { accountId: account } of await dueAutomaticTopUps(sql, processor, AT_ONCE)) {
    await transaction(sql, async (tx) => {
      await lockAccount(tx, account);
      // Another worker, or the customer, may have topped up meanwhile.
      const [due] = await dueAutomaticTopUps(tx, processor, 1, account);
      if (due === undefined) return;
      const how = { automatic: true, processor, language: 'pl', returnUrl: null, statement: null } as const;
      await insertPayment(tx, { id: newId('pay'), account, ...withVat(due.netGrosze), ...how });
    });
  }
}
