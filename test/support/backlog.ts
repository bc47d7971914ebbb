import { Connection } from '@temporalio/client';
import type { ServiceUnderTest } from './service.ts';

// TaskQueueType of Temporal's API: activities.
const ACTIVITY = 2;

/** How many activities wait in a task queue that no worker has taken yet; about right, as Temporal counts. */
export async function backlogOf(
  { temporalAddress: address, temporalNamespace: namespace }: ServiceUnderTest,
  taskQueue: string,
): Promise<number> {
  const connection = await Connection.connect({ address });
  try {
    const { stats } = await connection.workflowService.describeTaskQueue({
      namespace,
      taskQueue: { name: taskQueue },
      taskQueueType: ACTIVITY,
      reportStats: true,
    });
    return Number(stats?.approximateBacklogCount ?? 0);
  } finally {
    await connection.close();
  }
}
