import {
  CancellationScope,
  proxyActivities,
  proxyLocalActivities,
  setCurrentDetails,
  workflowInfo,
} from '@temporalio/workflow';
import type { bulkActivities, bulkStartActivities } from '../activities/bulks.ts';
import { LOCAL_ACTIVITY } from './contracts.ts';

const local = proxyLocalActivities<ReturnType<typeof bulkStartActivities>>(LOCAL_ACTIVITY);
// Acts on a few at a time. Each outcome is stored at once: a repeated attempt continues with what has none.
const { actOnNext } = proxyActivities<ReturnType<typeof bulkActivities>>({
  startToCloseTimeout: '5m',
  heartbeatTimeout: '15s',
  retry: { initialInterval: '1s', maximumInterval: '1m' },
});

/** An action of staff on many things, with the bulk's id as workflow id: acts on its items until none is left or staff stop it. */
export async function bulk(): Promise<string> {
  const id = workflowInfo().workflowId;
  // It is stopped in the database: a cancel in the Temporal UI must not leave it open there.
  return await CancellationScope.nonCancellable(async () => {
    await local.takeBulk(id);
    // As the items are bounded, so is the history.
    for (;;) {
      const { details, ended } = await actOnNext(id);
      setCurrentDetails(details);
      if (ended) return details;
    }
  });
}
