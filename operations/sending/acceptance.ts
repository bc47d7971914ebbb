import { chargeRequest } from '../../db/money/billing.ts';
import type { Draft } from '../../db/messages/drafts.ts';
import { abandonRequest, type Resolution } from '../../db/messages/undecided.ts';
import { evenIfGone } from '../../db/patience.ts';
import type { Acceptance } from '../../domain/acceptance.ts';
import type { AcceptedStatus } from '../../domain/statuses.ts';
import { countRequested } from '../../telemetry/messageMetrics.ts';
import { outageOf, within } from '../outages.ts';
import type { Services } from '../asked.ts';
import { Refused, type Outage } from '../../domain/refusals.ts';
import { ACCEPT_MS, askBatch } from './asking.ts';

// A caller gets its answer, whatever it is, within ten seconds.
const GIVE_UP_MS = 9800;

/** What was decided about a request. */
type Decision = 'charged' | 'insufficient_funds';

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
 * Waits for the charge of the drafts' request, by a workflow that is started here unless it runs already. When that fails or takes too long the request
 * is ended in the database, so that the answer is certain: accepted after all, or never sent.
 *
 * @param receivedAt when the request came, epoch milliseconds
 * @throws Refused: nothing will be sent, or (the database is gone too) nobody knows
 */
async function decideDrafts(
  services: Services,
  drafts: readonly Draft[],
  receivedAt: number,
  deciding: Promise<Acceptance> | null,
): Promise<Decision> {
  const until = receivedAt + ACCEPT_MS;
  try {
    // Where everybody is on the blacklist nothing has to happen any more, so there is no workflow to do it.
    if (drafts.every(isRejected)) return decided(await chargeRequest(services.sql, drafts[0]!.requestId));
    const recipients = drafts.filter((draft) => !isRejected(draft)).length;
    const asked = deciding ?? askBatch(services.temporal, drafts[0]!, recipients, until);
    return decided(await within(until, asked));
  } catch (error) {
    const outage = outageOf(error) ?? 'unavailable';
    services.log.error({ err: error, requestId: drafts[0]!.requestId }, 'a send was not accepted in time');
    return await giveUp(services, drafts[0]!.requestId, outage, receivedAt + GIVE_UP_MS);
  }
}

/** Whether it is not sent, and costs nothing: its recipient is on the blacklist. */
export function isRejected({ status }: Draft): boolean {
  return status === 'rejected';
}

function decided(answer: Acceptance): Decision {
  if (answer.accepted) return 'charged';
  if (answer.reason === 'insufficient_funds') return answer.reason;
  throw new Refused({ reason: 'send_abandoned', outage: 'timed_out' });
}

async function giveUp(
  { sql, log }: Services,
  requestId: string,
  outage: Outage,
  until: number,
): Promise<Decision> {
  let resolution: Resolution;
  try {
    resolution = await within(
      until,
      evenIfGone(() => abandonRequest(sql, requestId)),
    );
  } catch (error) {
    log.error({ err: error, requestId }, 'a send could not be resolved');
    throw new Refused({ reason: 'send_unresolved', outage }, undefined, error);
  }
  if (resolution === 'charged') return resolution;
  throw new Refused({ reason: 'send_abandoned', outage });
}
