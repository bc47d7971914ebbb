import { WorkflowUpdateFailedError } from '@temporalio/client';
import { rootCause } from '@temporalio/common';
import { newId } from '../../db/ids.ts';
import { readPaymentRow, reversalsOf } from '../../db/money/payments.ts';
import { StaffRefused } from '../../domain/refusals.ts';
import { refundUpdate, type RefundInput } from '../../workflows/contracts.ts';
import { topupStart } from '../../workflows/startOptions.ts';
import { recordedAfter } from '../staff.ts';
import { updateWithStart } from '../updateWithStart.ts';

const ANSWER_MS = 30_000;

/**
 * Has the processor give a payment back, whole or in part; its workflow books what went back.
 * @param grosze gross; by default what is left of it
 * @throws StaffRefused
 */
export const refundPayment = recordedAfter(
  'payments refund',
  async ({ sql, temporal }, { payment: id, grosze }: { payment: string; grosze?: number }) => {
    const payment = await readPaymentRow(sql, id);
    if (payment === undefined) throw new StaffRefused({ reason: 'payment_missing', payment: id });
    const gone = (await reversalsOf(sql, id)).filter(({ returnedAt }) => returnedAt === null);
    const left = gone.reduce((sum, { grossGrosze }) => sum - grossGrosze, payment.grossGrosze);
    const refund: RefundInput = { id: newId('pay'), grossGrosze: grosze ?? left };
    if (payment.state !== 'paid' || refund.grossGrosze > left || refund.grossGrosze <= 0)
      throw new StaffRefused({
        reason: 'payment_not_refundable',
        payment: id,
        fault: `${left} grosze are left of it`,
      });
    try {
      const asking = {
        workflow: 'topup',
        start: topupStart(payment),
        update: refundUpdate,
        updateId: refund.id,
      };
      await updateWithStart(await temporal(), { ...asking, args: [refund] }, Date.now() + ANSWER_MS);
    } catch (error) {
      if (!(error instanceof WorkflowUpdateFailedError)) throw error;
      const fault = rootCause(error.cause) ?? error.message;
      throw new StaffRefused({ reason: 'payment_not_refundable', payment: id, fault }, undefined, error);
    }
    const { accountId: account } = payment;
    return { data: payment, account, subject: id, details: { gross_grosze: refund.grossGrosze } };
  },
);
