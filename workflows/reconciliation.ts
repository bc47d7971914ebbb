import { proxyActivities, setCurrentDetails } from '@temporalio/workflow';
import type { reconciliationActivities } from '../activities/reconciliation/reconciliation.ts';
import type { Tally } from './contracts.ts';

// Each step may be repeated from its beginning. What does not come through is left to the next run, minutes later.
const steps = proxyActivities<ReturnType<typeof reconciliationActivities>>({
  startToCloseTimeout: '15m',
  heartbeatTimeout: '1m',
  retry: { initialInterval: '1s', maximumInterval: '30s', maximumAttempts: 5 },
});

/** What a run does, by the names of what it comes to, and what to say of it meanwhile. */
const STEPS: Record<string, { step: keyof typeof steps; details: string }> = {
  endedWorkflows: {
    step: 'reconcileEnded',
    details: 'Looks at workflows that were terminated or have failed.',
  },
  openMessages: { step: 'reconcileOpen', details: 'Looks whether open messages have their workflows.' },
  leftovers: {
    step: 'reconcileLeftovers',
    details: 'Looks for look-ups, clicks and replies that were left.',
  },
  // Has staff told of what this run, or the last, has left to them.
  money: { step: 'reconcileMoney', details: 'Compares ledgers with balances and refunds.' },
};

/**
 * Holds ledger, messages and workflows against one another: repairs what it safely can, and reports the rest in the table
 * `findings`. A step that fails keeps none of the others from being done, nor staff from being told: then the run fails. Started by
 * the schedule of the same name.
 */
export async function reconciliation(): Promise<Record<string, Tally>> {
  const found: Record<string, Tally> = {};
  const failed: unknown[] = [];
  for (const [name, { step, details }] of Object.entries(STEPS)) {
    setCurrentDetails(details);
    try {
      found[name] = await steps[step]();
    } catch (error) {
      failed.push(error);
    }
  }
  const sum = (of: keyof Tally): number => Object.values(found).reduce((all, tally) => all + tally[of], 0);
  setCurrentDetails(`Looked at ${sum('looked')}, repaired ${sum('repaired')}, reported ${sum('reported')}.`);
  if (failed.length > 0) throw failed[0];
  return found;
}
