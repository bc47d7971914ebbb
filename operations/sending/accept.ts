import { QueueTimeoutError } from '../../concurrency/serially.ts';
import { QuotaReachedError } from '../../db/accounts/quotas.ts';
import { ToolBudgetError } from '../../db/accounts/toolBudgets.ts';
import { isFromServer } from '../../db/connection.ts';
import { type Accepting, LinksChangedError } from '../../db/messages/accept.ts';
import { KeyTakenError } from '../../db/messages/idempotency.ts';
import { InsufficientFundsError } from '../../db/money/reservations.ts';
import { Refused } from '../../domain/refusals.ts';
import type { AcceptedStatus } from '../../domain/statuses.ts';
import { countRequested } from '../../telemetry/messageMetrics.ts';
import type { Asked, Caller, Services } from '../asked.ts';
import { DeadlineError, outageOf, within } from '../outages.ts';
import { quotaReached } from '../quotas.ts';
import { toolBudgetReached } from '../toolBudget.ts';

// A caller is answered within ten seconds. By then the database has accepted it or refused it, unless it is away.
export const ACCEPT_MS = 9_500;
// Accepted and not started yet. What an API process accepts between two readings of the backlog comes on top.
const BACKLOG_MAX = { account: 100_000, installation: 1_000_000 };
const BACKLOG_RETRY_SECONDS = 60;
// Never sent: the server was not reached.
const UNREACHED = new Set(['ECONNREFUSED', 'CONNECT_TIMEOUT', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH']);

/**
 * Accepts messages (v2.3.0, Send: all are accepted and charged together, or nothing is sent), and counts what came of them.
 * @throws Refused; KeyTakenError and LinksChangedError, where nothing is wrong with the request
 */
export async function accept(
  asked: Pick<Asked<unknown>, 'services' | 'caller' | 'receivedAt'>,
  accepting: Accepting,
): Promise<void> {
  const { services, receivedAt } = asked;
  const { messages } = accepting;
  await refuseBeyondBacklog(asked);
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

/**
 * Refuses what would only lengthen a backlog: the workers or Temporal have been away for long.
 * @throws Refused
 */
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
 * Runs the transaction that accepts something.
 * @param until epoch milliseconds
 * @throws what it throws of itself; Refused where the database fails: nothing was accepted, or (its connection is lost) nobody knows
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

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}

function countAccepted(messages: Accepting['messages']): void {
  const counts = new Map<AcceptedStatus, number>();
  for (const { status } of messages) counts.set(status, (counts.get(status) ?? 0) + 1);
  for (const [status, count] of counts) countRequested(status, count);
}
