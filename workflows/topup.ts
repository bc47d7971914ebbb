import {
  allHandlersFinished,
  CancellationScope,
  condition,
  proxyActivities,
  proxyLocalActivities,
  setCurrentDetails,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import type { paymentActivities, paymentStartActivities } from '../activities/payments.ts';
import { LOCAL_ACTIVITY, lookSignal, refundUpdate } from './contracts.ts';

const local = proxyLocalActivities<ReturnType<typeof paymentStartActivities>>(LOCAL_ACTIVITY);
// Asks the processor, again and again until it answers.
const retried = {
  startToCloseTimeout: '30s',
  retry: { initialInterval: '1s', maximumInterval: '5m' },
} as const;
const processor = proxyActivities<ReturnType<typeof paymentActivities>>(retried);
// Processors remember for a day what they were asked.
const refunds = proxyActivities<ReturnType<typeof paymentActivities>>({
  ...retried,
  scheduleToCloseTimeout: '20h',
});

/**
 * A payment by a processor, with its id as workflow id: a top-up, or a statement. Opens it, and looks at the processor whenever something
 * happens there, and regularly: until it is paid or has expired, then for refunds and disputes until they are no longer possible.
 */
export async function topup(): Promise<string> {
  const id = workflowInfo().workflowId;
  let asked = false;
  let reference: string | null = null;
  setHandler(lookSignal, (given) => {
    asked = true;
    reference = given ?? reference;
  });
  setHandler(refundUpdate, async (refund) => {
    await refunds.refundPayment(id, refund);
    asked = true;
  });
  // It moves money: a cancel in the Temporal UI must not interrupt it.
  return await CancellationScope.nonCancellable(async () => {
    await local.takePayment(id);
    let { details, lookAt } = await processor.openPayment(id);
    while (lookAt !== null || asked || !allHandlersFinished()) {
      setCurrentDetails(details);
      if (lookAt === null) await condition(() => asked || allHandlersFinished());
      else await condition(() => asked, Math.max(1, lookAt - Date.now()));
      asked = false;
      ({ details, lookAt } = await processor.lookAtPayment(id, reference));
    }
    setCurrentDetails(details);
    return details;
  });
}
