import { transaction } from '../../db/connection.ts';
import { newId } from '../../db/ids.ts';
import { reversalsOf } from '../../db/money/payments.ts';
import { moveCheckout, reverse } from '../../db/money/simulatedPayments.ts';
import { askToLook } from '../../operations/money/payments.ts';
import { refundUpdate } from '../../workflows/contracts.ts';
import { until } from '../support/eventually.ts';
import { payCheckout, paymentIs, sessionOf, storeTopUp } from '../support/payments.ts';
import type { Pipeline } from '../workflows/pipeline.ts';

/** Makes a top-up that comes to this, found by signals, and returns its id once its workflow has ended or waits again. */
export async function recordTopUp(
  at: Pipeline,
  what: 'expired' | 'refunded' | 'refunded by staff',
): Promise<string> {
  const { sql, client } = at;
  const accountId = await at.account({ balance: 0 });
  const id = await storeTopUp(sql, accountId, 10_000);
  const session = await sessionOf(sql, id);
  const look = () => askToLook(client, { id, accountId });
  if (what === 'expired') {
    await moveCheckout(sql, session, ['open'], { state: 'expired' });
    await look();
    return id;
  }
  await payCheckout(sql, session);
  await look();
  await paymentIs(id, 'paid', sql);
  const refund = { id: newId('pay'), grossGrosze: 2_460 };
  const workflow = client.workflow.getHandle(id);
  if (what === 'refunded by staff') await workflow.executeUpdate(refundUpdate, { args: [refund] });
  else {
    await transaction(sql, (tx) => reverse(tx, session, { ...refund, kind: 'refund' }));
    await look();
  }
  await until(`${id} is refunded and waits`, async () => {
    const { events } = await workflow.fetchHistory();
    const isBooked = (await reversalsOf(sql, id)).length > 0;
    return isBooked && Boolean(events!.at(-1)?.timerStartedEventAttributes);
  });
  return id;
}
