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
import type { billingActivities } from '../activities/billing.ts';
import type { batchActivities } from '../activities/batch.ts';
import type { Acceptances } from '../domain/acceptance.ts';
import { acceptTogetherUpdate, type GatheredInput, type GatheredResult } from './contracts.ts';

const { chargeTogether } = proxyLocalActivities<ReturnType<typeof billingActivities>>({
  startToCloseTimeout: '10s',
  retry: { initialInterval: '100ms', maximumInterval: '5s' },
});

// Starting is safe to repeat: retried for as long as it takes. On the queue of this workflow, so that it begins with the end of its task.
const { startGathered } = proxyActivities<ReturnType<typeof batchActivities>>({
  startToCloseTimeout: '1h',
  heartbeatTimeout: '20s',
  retry: { initialInterval: '1s', maximumInterval: '30s' },
  summary: 'starts one workflow for each message',
});

/**
 * Single sends that came while another one was being accepted: charges them in one transaction, each for itself, answers their
 * callers, then starts a `message` workflow for each that is accepted. Its id is its own. A cancel in the Temporal UI interrupts nothing:
 * what was accepted is started.
 */
export async function gathered(input: GatheredInput): Promise<GatheredResult> {
  return await CancellationScope.nonCancellable(() => chargeAndStart(input));
}

async function chargeAndStart({ requestIds, lastCallMs }: GatheredInput): Promise<GatheredResult> {
  const { workflowId } = workflowInfo();
  let decided: Acceptances | undefined;
  let deciding: Promise<Acceptances> | undefined;
  const decide = async (): Promise<Acceptances> => {
    deciding ??= CancellationScope.nonCancellable(() =>
      chargeTogether(workflowId, requestIds, lastCallMs ?? null),
    );
    return (decided = await deciding);
  };
  setHandler(acceptTogetherUpdate, decide, {
    description: 'Charges the requests, each for itself; answered to their callers.',
  });
  setCurrentDetails(`Charges ${requestIds.length} single messages, each for itself.`);

  // The update may have been lost with the server that took it: then nobody asks, and nobody would end this.
  if (!deciding) await decide();
  await condition(() => decided !== undefined && allHandlersFinished());
  const { accepted, refused, left } = decided!;
  const result = { accepted: accepted.length, refused: Object.keys(refused).length, left: left.length };
  setCurrentDetails(
    `Accepted ${result.accepted} of ${requestIds.length}; starts their workflows.` +
      (result.refused > 0 ? ` Refused: ${result.refused}.` : '') +
      (result.left > 0 ? ` Left to workflows of their own: ${result.left}.` : ''),
  );
  if (accepted.length > 0) await startGathered(accepted);
  return result;
}
