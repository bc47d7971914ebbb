import type { Database } from '../db/connection.ts';
import { simulatedPayments } from '../db/money/simulatedPayments.ts';
import type { PaymentProcessor } from '../payments/processor.ts';
import { simulatedProcessor } from '../payments/simulated.ts';

/** The processors that this worker asks: each payment names its own. @param stripeKey undefined: Stripe is not set up */
export async function paymentProcessors(
  sql: Database,
  stripeKey: string | undefined,
): Promise<PaymentProcessor[]> {
  const simulated = simulatedProcessor(simulatedPayments(sql));
  if (stripeKey === undefined) return [simulated];
  // Its SDK takes 20 MB.
  const { stripeProcessor } = await import('../payments/stripe/processor.ts');
  return [simulated, stripeProcessor({ key: stripeKey })];
}
