import { WorkflowUpdateFailedError } from '@temporalio/client';
import { rootCause } from '@temporalio/common';
import type { Sql } from '../../db/connection.ts';
import { newId } from '../../db/ids.ts';
import { readPaymentRow, reversalsOf } from '../../db/money/payments.ts';
import { StaffRefused } from '../../domain/refusals.ts';
import { refundUpdate, type RefundInput } from '../../workflows/contracts.ts';
import { topupStart } from '../../workflows/startOptions.ts';
import { recordedAfter } from '../staff.ts';
import { updateWithStart } from '../updateWithStart.ts';

const ANSWER_MS = 30_000;

interface RefundAsked {
  payment: string;
  /** Gross; by default what is left of it. */
  grosze?: number;
}

/** A payment with what is left of it and what is given back. @throws StaffRefused where that is not possible */
export async function refundable(sql: Sql, { payment: id, grosze }: RefundAsked) {
  const payment = await readPaymentRow(sql, id);
  if (payment === undefined) throw new StaffRefused({ reason: 'payment_missing', payment: id });
  const gone = (await reversalsOf(sql, id)).filter(({ returnedAt }) => returnedAt === null);
  const left = gone.reduce((sum, { grossGrosze }) => sum - grossGrosze, payment.grossGrosze);
  const refundGrosze = grosze ?? left;
  if (payment.state !== 'paid' || refundGrosze > left || refundGrosze <= 0)
    throw new StaffRefused({
      reason: 'payment_not_refundable',
      payment: id,
      fault: `${left} grosze are left of it`,
    });
  return { payment, left, refundGrosze };
}

/**
 * Has the processor give a payment back, whole or in part; its workflow books what went back.
 * @throws StaffRefused
 */
export const refundPayment = recordedAfter(
  'payments refund',
  async ({ sql, temporal }, asked: RefundAsked) => {
    const { payment, refundGrosze } = await refundable(sql, asked);
    const { id, accountId: account } = payment;
    const refund: RefundInput = { id: newId('pay'), grossGrosze: refundGrosze };
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
    return { data: payment, account, subject: id, details: { gross_grosze: refund.grossGrosze } };
  },
);
