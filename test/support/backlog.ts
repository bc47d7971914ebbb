import { Connection } from '@temporalio/client';

// TaskQueueType of Temporal's API: activities.
const ACTIVITY = 2;

/** How many activities wait in a task queue that no worker has taken yet; about right, as Temporal counts. */
export async function backlogOf(temporalAddress: string, taskQueue: string): Promise<number> {
  const connection = await Connection.connect({ address: temporalAddress });
  try {
    const { stats } = await connection.workflowService.describeTaskQueue({
      namespace: 'default',
      taskQueue: { name: taskQueue },
      taskQueueType: ACTIVITY,
      reportStats: true,
    });
    return Number(stats?.approximateBacklogCount ?? 0);
  } finally {
    await connection.close();
  }
}
