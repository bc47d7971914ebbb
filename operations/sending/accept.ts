import { QueueTimeoutError } from '../../concurrency/tasks.ts';
import { QuotaReachedError, ToolBudgetError } from '../../db/accounts/quotas.ts';
import { isFromServer } from '../../db/connection.ts';
import { type Accepting, LinksChangedError } from '../../db/messages/accept.ts';
import { KeyTakenError } from '../../db/messages/idempotency.ts';
import { InsufficientFundsError } from '../../db/money/reservations.ts';
import { Refused } from '../../domain/refusals.ts';
import type { AcceptedStatus } from '../../domain/statuses.ts';
import { countRequested } from '../../telemetry/messageMetrics.ts';
import type { OperationContext, Caller, Services } from '../context.ts';
import { codeOf, DeadlineError, outageOf, within } from '../outages.ts';
import { quotaReached, toolBudgetReached } from '../quotas.ts';

// Leaves time to respond within ten seconds: by then the database has accepted or refused, unless it is down.
export const ACCEPT_MS = 9_500;
// Accepted but not started. Messages an API process accepts between two reads of the backlog come on top.
const BACKLOG_MAX = { account: 100_000, installation: 1_000_000 };
const BACKLOG_RETRY_SECONDS = 60;
// The server was not reached, so the transaction was never sent.
const UNREACHED = new Set(['ECONNREFUSED', 'CONNECT_TIMEOUT', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH']);

/**
 * Accepts messages, all or none (v2.3.0, Send), and counts the outcome.
 * @throws Refused; KeyTakenError and LinksChangedError for a conflict with another request, which may be retried
 */
export async function accept(
  context: Pick<OperationContext<unknown>, 'services' | 'caller' | 'receivedAt'>,
  accepting: Accepting,
): Promise<void> {
  const { services, receivedAt } = context;
  const { messages } = accepting;
  await refuseBeyondBacklog(context);
  try {
    await acceptWithin(receivedAt + ACCEPT_MS, 'send', () => services.acceptMessages(accepting));
  } catch (error) {
    if (error instanceof InsufficientFundsError) {
      countRequested('insufficient_funds', messages.length);
      throw new Refused({ reason: 'insufficient_funds' });
    }
    if (error instanceof QuotaReachedError) throw quotaReached(error.quota, error.limit, 'to');
    if (error instanceof ToolBudgetError) throw toolBudgetReached(error, 'to');
    if (error instanceof Refused) {
      services.log.error({ err: error }, 'a send could not be accepted');
      countRequested(
        error.refusal.reason === 'send_unresolved' ? 'unresolved' : 'abandoned',
        messages.length,
      );
    }
    throw error;
  }
  countAccepted(messages);
}

/** Refuses a request while the backlog is full, which means that workers or Temporal have been down for long. @throws Refused */
export async function refuseBeyondBacklog({
  services,
  caller,
}: {
  services: Pick<Services, 'backlog'>;
  caller: Pick<Caller, 'accountId'>;
}): Promise<void> {
  const { total, ofAccounts } = await services.backlog();
  const ofAccount = ofAccounts.get(caller.accountId) ?? 0;
  if (ofAccount >= BACKLOG_MAX.account || total >= BACKLOG_MAX.installation)
    throw new Refused({ reason: 'backlog_full', seconds: BACKLOG_RETRY_SECONDS });
}

/**
 * Runs the transaction that accepts something, until a deadline in epoch milliseconds.
 * @throws its own errors; Refused on a database outage: `…_abandoned` if nothing was accepted, `…_unresolved` if that is unknown
 */
export async function acceptWithin<Accepted>(
  until: number,
  what: 'send' | 'lookup',
  work: () => Promise<Accepted>,
): Promise<Accepted> {
  try {
    return await within(until, work());
  } catch (error) {
    throw failureOf(error, what);
  }
}

function failureOf(error: unknown, what: 'send' | 'lookup'): unknown {
  if (error instanceof KeyTakenError || error instanceof LinksChangedError) return error;
  const outage = outageOf(error);
  if (outage === null) return error;
  const isCertain = isFromServer(error) || error instanceof QueueTimeoutError || UNREACHED.has(codeOf(error));
  if (isCertain && !(error instanceof DeadlineError))
    return new Refused({ reason: `${what}_abandoned`, outage }, undefined, error);
  return new Refused({ reason: `${what}_unresolved`, outage }, undefined, error);
}

function countAccepted(messages: Accepting['messages']): void {
  const counts = new Map<AcceptedStatus, number>();
  for (const { status } of messages) counts.set(status, (counts.get(status) ?? 0) + 1);
  for (const [status, count] of counts) countRequested(status, count);
}
