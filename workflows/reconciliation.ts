import { proxyActivities, setCurrentDetails } from '@temporalio/workflow';
import type { reconciliationActivities } from '../activities/reconciliation/reconciliation.ts';
import type { Tally } from './contracts.ts';

// Each step may be repeated from its beginning. What does not come through is left to the next run, minutes later.
const steps = proxyActivities<ReturnType<typeof reconciliationActivities>>({
  startToCloseTimeout: '15m',
  heartbeatTimeout: '1m',
  retry: { initialInterval: '1s', maximumInterval: '30s', maximumAttempts: 5 },
});

/**
 * Holds ledger, messages and workflows against one another: repairs what it safely can, and reports the rest in the table
 * `findings`. Started by the schedule of the same name.
 */
export async function reconciliation(): Promise<Record<string, Tally>> {
  const found: Record<string, Tally> = {};
  setCurrentDetails('Looks at workflows that were terminated or have failed.');
  found['endedWorkflows'] = await steps.reconcileEnded();
  setCurrentDetails('Looks whether open messages have their workflows.');
  found['openMessages'] = await steps.reconcileOpen();
  setCurrentDetails('Looks for look-ups, drafts, clicks and replies that were left.');
  found['leftovers'] = await steps.reconcileLeftovers();
  setCurrentDetails('Compares ledgers with balances and refunds.');
  found['money'] = await steps.reconcileMoney();
  const sum = (of: keyof Tally): number => Object.values(found).reduce((all, tally) => all + tally[of], 0);
  setCurrentDetails(`Looked at ${sum('looked')}, repaired ${sum('repaired')}, reported ${sum('reported')}.`);
  return found;
}
