import {
  allHandlersFinished,
  CancellationScope,
  condition,
  proxyActivities,
  proxyLocalActivities,
  setHandler,
} from '@temporalio/workflow';
import type { billingActivities } from '../activities/billing.ts';
import type { batchActivities } from '../activities/batch.ts';
import type { Acceptance } from '../domain/acceptance.ts';
import { acceptUpdate, type BatchInput, MESSAGES_QUEUE } from './contracts.ts';

const { charge } = proxyLocalActivities<ReturnType<typeof billingActivities>>({
  startToCloseTimeout: '10s',
  retry: { initialInterval: '100ms', maximumInterval: '5s' },
});

// Starting is safe to repeat, and goes on where a lost attempt stopped: retried for as long as it takes.
const { startMessages } = proxyActivities<ReturnType<typeof batchActivities>>({
  // Where their first tasks can come along.
  taskQueue: MESSAGES_QUEUE,
  startToCloseTimeout: '1h',
  heartbeatTimeout: '20s',
  retry: { initialInterval: '1s', maximumInterval: '30s' },
  summary: 'starts one workflow for each recipient',
});

/**
 * A request with several recipients: charges all of them together, then starts a `message` workflow for each. A cancel in the Temporal UI
 * interrupts nothing: what was accepted is started.
 */
export async function batch(input: BatchInput): Promise<Acceptance> {
  return await CancellationScope.nonCancellable(() => chargeAndStart(input));
}

async function chargeAndStart(input: BatchInput): Promise<Acceptance> {
  let decided: Acceptance | undefined;
  let deciding: Promise<Acceptance> | undefined;
  const decide = async (): Promise<Acceptance> => {
    deciding ??= CancellationScope.nonCancellable(() => charge(input.requestId));
    return (decided = await deciding);
  };
  setHandler(acceptUpdate, decide, { description: 'Charges the request; answered to its caller.' });

  // The update may have been lost with the server that took it: then nobody asks, and nobody would end this.
  if (!deciding) await decide();
  await condition(() => decided !== undefined && allHandlersFinished());
  if (decided?.accepted) await startMessages(input.requestId);
  return decided!;
}
