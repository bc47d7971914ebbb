import { WithStartWorkflowOperation } from '@temporalio/client';
import { chargeRequest } from '../../db/money/billing.ts';
import type { Draft } from '../../db/messages/drafts.ts';
import { abandonRequest, type Resolution } from '../../db/messages/undecided.ts';
import { evenIfGone } from '../../db/patience.ts';
import type { Acceptance } from '../../domain/acceptance.ts';
import type { AcceptedStatus } from '../../domain/statuses.ts';
import { acceptUpdate } from '../../workflows/contracts.ts';
import { batchStart, messageStart } from '../../workflows/startOptions.ts';
import { countRequested } from '../../telemetry/messageMetrics.ts';
import { outageOf, within } from '../outages.ts';
import type { Services } from '../asked.ts';
import { Refused, type Outage } from '../../domain/refusals.ts';

// A caller gets its answer, whatever it is, within ten seconds: this long for the charge, the rest for giving up.
const ACCEPT_MS = 8000;
const GIVE_UP_MS = 9800;

/** What was decided about a request. */
type Decision = 'charged' | 'insufficient_funds';

/**
 * Decides about the drafts as {@link decideDrafts} does, and counts what came of them.
 * @throws Refused
 */
export async function acceptDrafts(
  services: Services,
  drafts: readonly Draft[],
  receivedAt: number,
): Promise<Decision> {
  try {
    const resolution = await decideDrafts(services, drafts, receivedAt);
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
 * Starts the workflow of the drafts' request and waits for its charge. When that fails or takes too long the request
 * is ended in the database, so that the answer is certain: accepted after all, or never sent.
 *
 * @param receivedAt when the request came, epoch milliseconds
 * @throws Refused: nothing will be sent, or (the database is gone too) nobody knows
 */
async function decideDrafts(
  services: Services,
  drafts: readonly Draft[],
  receivedAt: number,
): Promise<Decision> {
  try {
    // Where everybody is on the blacklist nothing has to happen any more, so there is no workflow to do it.
    if (drafts.every(isRejected)) return decided(await chargeRequest(services.sql, drafts[0]!.requestId));
    const answer = await within(
      receivedAt + GIVE_UP_MS,
      askWorkflow(services, drafts, receivedAt + ACCEPT_MS),
    );
    return decided(answer);
  } catch (error) {
    const outage = outageOf(error) ?? 'unavailable';
    services.log.error({ err: error, requestId: drafts[0]!.requestId }, 'a send was not accepted in time');
    return await giveUp(services, drafts[0]!.requestId, outage, receivedAt + GIVE_UP_MS);
  }
}

function isRejected({ status }: Draft): boolean {
  return status === 'rejected';
}

function decided(answer: Acceptance): Decision {
  if (answer.accepted) return 'charged';
  if (answer.reason === 'insufficient_funds') return answer.reason;
  throw new Refused({ reason: 'send_abandoned', outage: 'timed_out' });
}

// The SDK's own deadline ends each attempt to call the server, not the waiting for an answer.
async function askWorkflow({ temporal, charges }: Services, drafts: readonly Draft[], until: number) {
  const updateId = drafts[0]!.requestId;
  const startWorkflowOperation = startOperation(drafts, charges.works());
  // The workflow answers after its whole first task, in which a message may be submitted already.
  const notice = charges.of(updateId);
  try {
    const asking = temporal.connection.withDeadline(until, () =>
      temporal.workflow.executeUpdateWithStart(acceptUpdate, { startWorkflowOperation, updateId }),
    );
    return await within(until, Promise.race([notice.decision, asking]));
  } finally {
    notice.forget();
  }
}

function startOperation(drafts: readonly Draft[], callerNotified: boolean) {
  const first = drafts[0]!;
  if (first.batched) {
    const { accountId, requestId, priority } = first;
    const recipients = drafts.filter((draft) => !isRejected(draft)).length;
    return new WithStartWorkflowOperation(
      'batch',
      batchStart({ accountId, requestId, recipients, priority }),
    );
  }
  return new WithStartWorkflowOperation('message', messageStart(startable(first), false, callerNotified));
}

function startable(draft: Draft) {
  return {
    id: draft.id,
    channel: draft.channel,
    accountId: draft.accountId,
    requestId: draft.requestId,
    batched: draft.batched,
    route: draft.route,
    sendAt: draft.sendAt === null ? null : draft.sendAt.getTime(),
    giveUpAt: draft.giveUpAt.getTime(),
    priority: draft.priority,
  };
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
