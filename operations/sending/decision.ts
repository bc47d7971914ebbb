import { abandonRequest, type Resolution } from '../../db/messages/undecided.ts';
import { evenIfGone } from '../../db/patience.ts';
import type { Acceptance } from '../../domain/acceptance.ts';
import { type Outage, Refused } from '../../domain/refusals.ts';
import type { Services } from '../asked.ts';
import { outageOf, within } from '../outages.ts';
import { ACCEPT_MS } from './asking.ts';

// A caller gets its answer, whatever it is, within ten seconds.
const GIVE_UP_MS = 9800;

/** What was decided about a request. */
export type Decision = 'charged' | 'insufficient_funds';

/**
 * Has a request charged, and waits for what comes of it. When that fails or takes too long the request is ended in the database, so that
 * the answer is certain: accepted after all, or never sent.
 *
 * @param receivedAt when the request came, epoch milliseconds
 * @param ask for the charge; its answer is waited for until the moment it is given, epoch milliseconds
 * @throws Refused: nothing will be sent, or (the database is gone too) nobody knows
 */
export async function decideRequest(
  services: Pick<Services, 'sql' | 'log'>,
  requestId: string,
  receivedAt: number,
  ask: (until: number) => Promise<Acceptance>,
): Promise<Decision> {
  const until = receivedAt + ACCEPT_MS;
  try {
    return decided(await within(until, ask(until)));
  } catch (error) {
    const outage = outageOf(error) ?? 'unavailable';
    services.log.error({ err: error, requestId }, 'a send was not accepted in time');
    return await giveUp(services, requestId, outage, receivedAt + GIVE_UP_MS);
  }
}

function decided(answer: Acceptance): Decision {
  if (answer.accepted) return 'charged';
  // Nobody has abandoned it as long as its caller waits: a workflow task that was done again finds nothing of what its charge refused.
  if (answer.reason === 'insufficient_funds' || answer.reason === 'abandoned') return 'insufficient_funds';
  throw new Refused({ reason: 'send_abandoned', outage: 'timed_out' });
}

async function giveUp(
  { sql, log }: Pick<Services, 'sql' | 'log'>,
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
