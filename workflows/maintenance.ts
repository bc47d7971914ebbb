import { proxyActivities, setCurrentDetails } from '@temporalio/workflow';
import type { maintenanceActivities, Removed } from '../activities/maintenance.ts';

// Both may be repeated from their beginning, and go on where they stopped.
const { deleteLeftovers, eraseContents } = proxyActivities<ReturnType<typeof maintenanceActivities>>({
  startToCloseTimeout: '30m',
  heartbeatTimeout: '1m',
  retry: { initialInterval: '1s', maximumInterval: '30s', maximumAttempts: 5 },
});

/**
 * Deletes what is of no use any more: old drafts, idempotency records, logs. What is not done now the next run does, within the hour.
 * Started by the schedule `clean-up`.
 */
export async function cleanUp(): Promise<Removed> {
  return shown('Deleted', await deleteLeftovers());
}

/**
 * Takes texts and numbers out of messages, replies, clicks and look-ups after the configured time; what reports count stays.
 * Goes on until nothing is left: a night that leaves something falls behind without bound where much is sent. Started by the
 * schedule of the same name.
 */
export async function retention(): Promise<Removed> {
  const erased: Removed = {};
  for (;;) {
    const { left, ...some } = await eraseContents();
    for (const [kind, count] of Object.entries(some)) erased[kind] = (erased[kind] ?? 0) + count;
    shown('Erased', erased);
    if (left === undefined) return erased;
  }
}

function shown(what: string, removed: Removed): Removed {
  const sum = Object.values(removed).reduce((all, count) => all + count, 0);
  setCurrentDetails(`${what}: ${sum}.`);
  return removed;
}
