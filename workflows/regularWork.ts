import { proxyActivities, setCurrentDetails } from '@temporalio/workflow';
import type { maintenanceActivities, Removed } from '../activities/maintenance.ts';
import type { reconciliationActivities } from '../activities/reconciliation.ts';
import type { DomainsLookedAt, Tally } from './contracts.ts';
import type { senderDomainActivities } from '../activities/senderDomains.ts';

// Both may be repeated from their beginning, and go on where they stopped: however much there is, the next night brings more.
const { deleteLeftovers, eraseContents } = proxyActivities<ReturnType<typeof maintenanceActivities>>({
  startToCloseTimeout: '12h',
  heartbeatTimeout: '1m',
  retry: { initialInterval: '1s', maximumInterval: '30s', maximumAttempts: 5 },
});

/** Deletes what is of no use any more: old idempotency records, logs. Started by the schedule `clean-up`. */
export async function cleanUp(): Promise<Removed> {
  return shown('Deleted', await deleteLeftovers());
}

/**
 * Takes texts and numbers out of messages, replies, clicks and look-ups after the configured time; what reports count stays.
 * Started by the schedule of the same name.
 */
export async function retention(): Promise<Removed> {
  return shown('Erased', await eraseContents());
}

function shown(what: string, removed: Removed): Removed {
  const sum = Object.values(removed).reduce((all, count) => all + count, 0);
  setCurrentDetails(`${what}: ${sum}.`);
  return removed;
}

// Each step may be repeated from its beginning. What does not come through is left to the next run, minutes later.
const steps = proxyActivities<ReturnType<typeof reconciliationActivities>>({
  startToCloseTimeout: '15m',
  heartbeatTimeout: '1m',
  retry: { initialInterval: '1s', maximumInterval: '30s', maximumAttempts: 5 },
});

/** What a run does, by the names of what it comes to, and what to say of it meanwhile. */
const STEPS: Record<string, { step: keyof typeof steps; details: string }> = {
  openMessages: { step: 'reconcileOpen', details: 'Looks whether open messages have their workflows.' },
  webhookEvents: { step: 'reconcileEvents', details: 'Looks for webhook events that nobody delivers.' },
  leftovers: {
    step: 'reconcileLeftovers',
    details: 'Looks for look-ups and paused messages that were left.',
  },
  ledgers: { step: 'reconcileLedgers', details: 'Compares ledgers with balances.' },
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

// It may be repeated from its beginning, and goes on with those that were not looked at. What is not done the next run does. Some looks at a
// time take their ten seconds each where DNS does not answer.
const { checkSenderDomains } = proxyActivities<ReturnType<typeof senderDomainActivities>>({
  startToCloseTimeout: '50m',
  heartbeatTimeout: '2m',
  retry: { initialInterval: '1s', maximumInterval: '30s', maximumAttempts: 5 },
});

/** Looks whether the DNS records of sender domains are there. Started by the schedule `sender-domains`. */
export async function senderDomains(): Promise<DomainsLookedAt> {
  const found = await checkSenderDomains();
  setCurrentDetails(`Looked at ${found.looked}: ${found.verified} verified anew, ${found.lost} lost.`);
  return found;
}
