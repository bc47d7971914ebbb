import { chargeRequest } from '../../db/money/billing.ts';
import type { Draft } from '../../db/messages/drafts.ts';
import type { Acceptance } from '../../domain/acceptance.ts';
import type { AcceptedStatus } from '../../domain/statuses.ts';
import { countRequested } from '../../telemetry/messageMetrics.ts';
import type { Services } from '../asked.ts';
import { Refused } from '../../domain/refusals.ts';
import { askBatch } from './asking.ts';
import { type Decision, decideRequest } from './decision.ts';

/**
 * Decides about the drafts as {@link decideDrafts} does, and counts what came of them.
 * @param deciding their charge where it is under way already; null: it is asked for here
 * @throws Refused
 */
export async function acceptDrafts(
  services: Services,
  drafts: readonly Draft[],
  receivedAt: number,
  deciding: Promise<Acceptance> | null = null,
): Promise<Decision> {
  try {
    const resolution = await decideDrafts(services, drafts, receivedAt, deciding);
    if (resolution === 'charged') countAccepted(drafts);
    else countRequested(resolution, drafts.length);
    return resolution;
  } catch (error) {
    const unresolved = error instanceof Refused && error.refusal.reason === 'send_unresolved';
    countRequested(unresolved ? 'unresolved' : 'abandoned', drafts.length);
    throw error;
  }
}

function countAccepted(drafts: readonly Draft[]): void {
  const counts = new Map<AcceptedStatus, number>();
  for (const { acceptedAs } of drafts) counts.set(acceptedAs, (counts.get(acceptedAs) ?? 0) + 1);
  for (const [status, count] of counts) countRequested(status, count);
}

/**
 * Waits for the charge of the drafts' request, by a workflow that is started here unless it runs already.
 * @param receivedAt when the request came, epoch milliseconds
 * @throws Refused: nothing will be sent, or (the database is gone too) nobody knows
 */
async function decideDrafts(
  { sql, temporal, log }: Services,
  drafts: readonly Draft[],
  receivedAt: number,
  deciding: Promise<Acceptance> | null,
): Promise<Decision> {
  const first = drafts[0]!;
  return await decideRequest({ sql, log }, first.requestId, receivedAt, (until) => {
    // Where everybody is on the blacklist nothing has to happen any more, so there is no workflow to do it.
    if (drafts.every(isRejected)) return chargeRequest(sql, first.requestId);
    const recipients = drafts.filter((draft) => !isRejected(draft)).length;
    return deciding ?? askBatch(temporal, first, recipients, until);
  });
}

/** Whether it is not sent, and costs nothing: its recipient is on the blacklist. */
export function isRejected({ status }: Draft): boolean {
  return status === 'rejected';
}
