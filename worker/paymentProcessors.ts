import type { Database } from '../db/connection.ts';
import { simulatedPayments } from '../db/money/simulatedPayments.ts';
import type { ProcessorName } from '../domain/payments.ts';
import type { PaymentProcessor } from '../payments/processor.ts';
import { simulatedProcessor } from '../payments/simulated.ts';

interface ProcessorSettings {
  PAYMENT_PROCESSOR?: ProcessorName | undefined;
  STRIPE_KEY?: string | undefined;
}

/** The processors that this worker asks: each payment names its own. @throws Error if the chosen one cannot be asked */
export async function paymentProcessors(
  sql: Database,
  { PAYMENT_PROCESSOR: chosen, STRIPE_KEY: stripeKey }: ProcessorSettings,
): Promise<PaymentProcessor[]> {
  const simulated = simulatedProcessor(simulatedPayments(sql));
  if (stripeKey === undefined) {
    if (chosen === 'stripe') throw new Error('PAYMENT_PROCESSOR=stripe: workers need STRIPE_KEY');
    return [simulated];
  }
  // Its SDK takes 20 MB.
  const { stripeProcessor } = await import('../payments/stripe/processor.ts');
  return [simulated, stripeProcessor({ key: stripeKey })];
}
