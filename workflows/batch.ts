import {
  allHandlersFinished,
  condition,
  proxyActivities,
  proxyLocalActivities,
  setHandler,
} from '@temporalio/workflow';
import type { billingActivities } from '../activities/billing.ts';
import type { batchActivities } from '../activities/batch.ts';
import { type Acceptance, acceptUpdate, type BatchInput } from './contracts.ts';

const { charge } = proxyLocalActivities<ReturnType<typeof billingActivities>>({
  startToCloseTimeout: '10s',
  retry: { initialInterval: '100ms', maximumInterval: '5s' },
});

// Starting is safe to repeat, and goes on where a lost attempt stopped: retried for as long as it takes.
const { startMessages } = proxyActivities<ReturnType<typeof batchActivities>>({
  startToCloseTimeout: '1h',
  heartbeatTimeout: '20s',
  retry: { initialInterval: '1s', maximumInterval: '30s' },
  summary: 'starts one workflow for each recipient',
});

/** A request with several recipients: charges all of them together, then starts a `message` workflow for each. */
export async function batch(input: BatchInput): Promise<Acceptance> {
  let decision: Promise<Acceptance> | undefined;
  const decide = (): Promise<Acceptance> => (decision ??= charge(input.requestId));
  setHandler(acceptUpdate, decide, { description: 'Charges the request; answered to its caller.' });

  // The update may be lost with the server that took it, so the charge does not wait for it.
  const decided = await decide();
  await condition(allHandlersFinished);
  if (decided.accepted) await startMessages(input.requestId);
  return decided;
}
