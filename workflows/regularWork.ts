import { proxyActivities, setCurrentDetails } from '@temporalio/workflow';
import type { maintenanceActivities, Removed } from '../activities/maintenance.ts';
import type { reconciliationActivities } from '../activities/reconciliation.ts';
import type { DomainsLookedAt, Tally } from './contracts.ts';
import type { senderDomainActivities } from '../activities/senderDomains.ts';
import type { statementActivities } from '../activities/statements.ts';

// Both continue where an interrupted attempt or run stopped.
const { deleteLeftovers, eraseContents } = proxyActivities<ReturnType<typeof maintenanceActivities>>({
  startToCloseTimeout: '12h',
  heartbeatTimeout: '1m',
  retry: { initialInterval: '1s', maximumInterval: '30s', maximumAttempts: 5 },
});

/** Deletes old idempotency records, logs and other leftovers. Started by the schedule `clean-up`. */
export async function cleanUp(): Promise<Removed> {
  return shown('Deleted', await deleteLeftovers());
}

/** Erases texts and numbers past the retention period; the figures of reports stay. Started by the schedule of the same name. */
export async function retention(): Promise<Removed> {
  return shown('Erased', await eraseContents());
}

function shown(what: string, removed: Removed): Removed {
  const sum = Object.values(removed).reduce((all, count) => all + count, 0);
  setCurrentDetails(`${what}: ${sum}.`);
  return removed;
}

// Steps may be repeated from the beginning; what fails is left to the next run, minutes later.
const steps = proxyActivities<ReturnType<typeof reconciliationActivities>>({
  startToCloseTimeout: '15m',
  heartbeatTimeout: '1m',
  retry: { initialInterval: '1s', maximumInterval: '30s', maximumAttempts: 5 },
});

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
 * Reconciles ledger, messages and workflows: repairs what it safely can and reports the rest in the table `findings`. A failed step does
 * not stop the others, but fails the run. Started by the schedule of the same name.
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

// A repeated attempt continues with the domains not checked yet. Each takes 10 s, several in parallel, if no DNS server answers.
const { checkSenderDomains } = proxyActivities<ReturnType<typeof senderDomainActivities>>({
  startToCloseTimeout: '50m',
  heartbeatTimeout: '2m',
  retry: { initialInterval: '1s', maximumInterval: '30s', maximumAttempts: 5 },
});

/** Checks the DNS records of sender domains. Started by the schedule `sender-domains`. */
export async function senderDomains(): Promise<DomainsLookedAt> {
  const found = await checkSenderDomains();
  setCurrentDetails(`Looked at ${found.looked}: ${found.verified} verified anew, ${found.lost} lost.`);
  return found;
}

// Each continues with the statements not issued, or not documented, yet.
const { issueStatements, documentStatements } = proxyActivities<ReturnType<typeof statementActivities>>({
  startToCloseTimeout: '6h',
  heartbeatTimeout: '2m',
  retry: { initialInterval: '1s', maximumInterval: '30s', maximumAttempts: 5 },
});

/** Issues last month's statements and makes the documents of those that have none. Started by the schedule of the same name. */
export async function statements(): Promise<{ issued: number; documented: number }> {
  let [issued, documented] = [0, 0];
  try {
    issued = await issueStatements();
  } finally {
    documented = await documentStatements();
    setCurrentDetails(`Issued ${issued}, made documents of ${documented}.`);
  }
  return { issued, documented };
}
