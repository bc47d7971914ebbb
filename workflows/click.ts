import {
  CancellationScope,
  proxyLocalActivities,
  setCurrentDetails,
  workflowInfo,
} from '@temporalio/workflow';
import type { linkActivities } from '../activities/links.ts';
import { type ClickResult } from './contracts.ts';
import { deliverEvents } from './webhooks.ts';

// One database statement, keyed by the click: repeated until the database answers.
const { countClick } = proxyLocalActivities<ReturnType<typeof linkActivities>>({
  startToCloseTimeout: '10s',
  retry: { initialInterval: '100ms', maximumInterval: '5s' },
});

/**
 * One click on a tracked link: counts it, and for the first one of its link notifies the customer's webhook. Its id is the
 * click's. A cancel changes nothing: there is nothing to be spared by leaving a click half counted.
 */
export async function click(): Promise<ClickResult> {
  return await CancellationScope.nonCancellable(async () => {
    const event = await countClick(workflowInfo().workflowId);
    if (event === null) return { event: false };
    setCurrentDetails('Counted: the first click of its link; notifies the webhook.');
    await deliverEvents([event]);
    return { event: true };
  });
}
