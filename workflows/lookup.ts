import {
  CancellationScope,
  log,
  proxyActivities,
  proxyLocalActivities,
  setCurrentDetails,
  workflowInfo,
} from '@temporalio/workflow';
import type { billingActivities } from '../activities/messages.ts';
import type { lookupActivities, lookupRefundActivities } from '../activities/lookup.ts';
import type { LookupState } from '../domain/submission.ts';
import { LOCAL_ACTIVITY, lookupQueue, type LookupInput } from './contracts.ts';

const local = proxyLocalActivities<
  ReturnType<typeof billingActivities> & ReturnType<typeof lookupRefundActivities>
>(LOCAL_ACTIVITY);

/** One look-up, with its id as workflow id: charge, query, result or refund. Number and result are stored in the database only. */
export async function lookup(input: LookupInput): Promise<LookupState> {
  const id = workflowInfo().workflowId;
  // It takes seconds and moves money: a cancel in the Temporal UI must not interrupt it.
  const outcome = await CancellationScope.nonCancellable(async () => {
    await local.charge(id);
    return await ask(id, input.route);
  });
  setCurrentDetails(
    `Ended: ${outcome.state}${outcome.state === 'failed' ? `, ${outcome.reason}; refunded` : ''}.`,
  );
  return outcome;
}

async function ask(id: string, route: string): Promise<LookupState> {
  setCurrentDetails(`Charged: waits for the route ${route} to answer.`);
  // One attempt: providers bill every query. The caller waits 8 s in all; a query that would be answered later than that is not made.
  const { lookUp } = proxyActivities<ReturnType<typeof lookupActivities>>({
    taskQueue: lookupQueue(route),
    scheduleToStartTimeout: '5s',
    startToCloseTimeout: '5s',
    scheduleToCloseTimeout: '8s',
    retry: { maximumAttempts: 1 },
    summary: `asks ${route}`,
  });
  try {
    return await lookUp(id);
  } catch (error) {
    log.warn('a look-up ended without an answer', { error });
    return await local.failLookup(id);
  }
}
