import {
  CancellationScope,
  proxyActivities,
  proxyLocalActivities,
  setCurrentDetails,
  workflowInfo,
} from '@temporalio/workflow';
import type { maintenanceActivities, Removed } from '../activities/maintenance.ts';
import type { reconciliationActivities } from '../activities/reconciliation/reconciliation.ts';
import type { DomainResult, DomainsLookedAt, Tally } from './contracts.ts';
import type { senderDomainActivities } from '../activities/senderDomains.ts';
import { deliverEvents } from './webhooks.ts';

// Both may be repeated from their beginning, and go on where they stopped.
const { deleteLeftovers, eraseContents } = proxyActivities<ReturnType<typeof maintenanceActivities>>({
  startToCloseTimeout: '30m',
  heartbeatTimeout: '1m',
  retry: { initialInterval: '1s', maximumInterval: '30s', maximumAttempts: 5 },
});

/**
 * Deletes what is of no use any more: old idempotency records, logs. Goes on until nothing is left, as `retention` does.
 * Started by the schedule `clean-up`.
 */
export async function cleanUp(): Promise<Removed> {
  return await untilNothingIsLeft('Deleted', deleteLeftovers);
}

/**
 * Takes texts and numbers out of messages, replies, clicks and look-ups after the configured time; what reports count stays.
 * Goes on until nothing is left: a night that leaves something falls behind without bound where much is sent. Started by the
 * schedule of the same name.
 */
export async function retention(): Promise<Removed> {
  return await untilNothingIsLeft('Erased', eraseContents);
}

async function untilNothingIsLeft(what: string, step: () => Promise<Removed>): Promise<Removed> {
  const removed: Removed = {};
  for (;;) {
    const { left, ...some } = await step();
    for (const [kind, count] of Object.entries(some)) removed[kind] = (removed[kind] ?? 0) + count;
    show(what, removed);
    if (left === undefined) return removed;
  }
}

function show(what: string, removed: Removed): void {
  const sum = Object.values(removed).reduce((all, count) => all + count, 0);
  setCurrentDetails(`${what}: ${sum}.`);
}

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

type Activities = ReturnType<typeof senderDomainActivities>;

// It may be repeated from its beginning, and goes on with those that were not looked at. What is not done the next run does. Some looks at a
// time take their ten seconds each where DNS does not answer.
const { checkSenderDomains } = proxyActivities<Activities>({
  startToCloseTimeout: '50m',
  heartbeatTimeout: '2m',
  retry: { initialInterval: '1s', maximumInterval: '30s', maximumAttempts: 5 },
});

// One database statement, repeated until the database answers.
const { pendingDomainEvents } = proxyLocalActivities<Activities>({
  startToCloseTimeout: '10s',
  retry: { initialInterval: '100ms', maximumInterval: '5s' },
});

/** Looks whether the DNS records of sender domains are there. Started by the schedule `sender-domains`. */
export async function senderDomains(): Promise<DomainsLookedAt> {
  const found = await checkSenderDomains();
  setCurrentDetails(`Looked at ${found.looked}: ${found.verified} verified anew, ${found.lost} lost.`);
  return found;
}

/**
 * A sender domain that was verified or lost: notifies its account's webhook. Its id is the domain's, which may be gone meanwhile. A
 * cancel changes nothing: what has happened is delivered.
 */
export async function domain(): Promise<DomainResult> {
  return await CancellationScope.nonCancellable(async () => {
    let delivered = 0;
    for (;;) {
      const events = await pendingDomainEvents(workflowInfo().workflowId);
      if (events.length === 0) return { events: delivered };
      await deliverEvents(events);
      delivered += events.length;
    }
  });
}
