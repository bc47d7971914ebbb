import { proxyActivities, setCurrentDetails } from '@temporalio/workflow';
import type { maintenanceActivities, Removed } from '../activities/maintenance.ts';

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
