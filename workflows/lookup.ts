import {
  allHandlersFinished,
  CancellationScope,
  condition,
  log,
  proxyActivities,
  proxyLocalActivities,
  setCurrentDetails,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import type { lookupActivities, lookupBillingActivities } from '../activities/lookup.ts';
import type { LookupState } from '../domain/lookups.ts';
import { lookupQueue, type LookupInput, lookUpUpdate } from './contracts.ts';

// One database transaction each, keyed by the look-up: repeated until the database answers.
const local = proxyLocalActivities<ReturnType<typeof lookupBillingActivities>>({
  startToCloseTimeout: '10s',
  retry: { initialInterval: '100ms', maximumInterval: '5s' },
});

/**
 * One number look-up: charge, ask the provider, store the result or refund. Its id is the look-up's. The number and
 * the result stand in the database alone.
 */
export async function lookup(input: LookupInput): Promise<LookupState> {
  const id = workflowInfo().workflowId;
  let running: Promise<LookupState> | undefined;
  const run = (): Promise<LookupState> =>
    // It lasts seconds and moves money: a cancel in the Temporal UI does not interrupt it.
    (running ??= CancellationScope.nonCancellable(async () => {
      const charged = await local.chargeLookup(id);
      return charged.state === 'charged' ? await ask(id, input.route) : charged;
    }));
  setHandler(lookUpUpdate, run, { description: 'Charges and makes the look-up; answered to its caller.' });

  // The update may have been lost with the server that took it: then nobody asks, and nobody would end this.
  const outcome = await run();
  await CancellationScope.nonCancellable(() => condition(allHandlersFinished));
  setCurrentDetails(
    `Ended: ${outcome.state}${outcome.reason === null ? '' : `, ${outcome.reason}`}${outcome.state === 'failed' ? '; refunded' : ''}.`,
  );
  return outcome;
}

async function ask(id: string, route: string): Promise<LookupState> {
  setCurrentDetails(`Charged: waits for the route ${route} to answer.`);
  // Asked once: providers bill every question. The caller waits 8 s in all. What has waited so long for its turn that the answer would
  // come later is not asked.
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
