import { ToolBudgetError } from '../db/accounts/quotas.ts';
import { newId } from '../db/ids.ts';
import {
  abandonLookup,
  type AcceptedLookup,
  acceptLookup,
  type LookupResult,
  type LookupRow,
  readKnownResult,
  readLookup,
  readLookupTerms,
} from '../db/lookups/lookups.ts';
import { InsufficientFundsError } from '../db/money/reservations.ts';
import { type Outage, Refused } from '../domain/refusals.ts';
import { orderRoutes } from '../domain/routing.ts';
import { lookupStart } from '../workflows/startOptions.ts';
import type { OperationContext, Caller, Services } from './context.ts';
import { outageOf, within } from './outages.ts';
import { runWorkflow } from './updateWithStart.ts';
import { acceptWithin } from './sending/accept.ts';
import { spendingOf, toolBudgetReached } from './quotas.ts';

// Callers get a response within ten seconds: 8 s for the lookup, the rest for abandoning it.
const ANSWER_MS = 8000;
const GIVE_UP_MS = 9800;
// A joined lookup may be abandoned by the request that started it; this request then starts another.
const TRIES = 3;

interface LookedUp extends LookupResult {
  /** Found within the last 24 hours, or by another request of the account: free of charge. */
  cached: boolean;
}

interface LookupRequest {
  services: Services;
  caller: Caller;
  msisdn: string;
  costGrosze: number;
  route: string;
  receivedAt: number;
}

/** Looks up a number (E.164) in its network, at a charge unless looked up within 24 hours (v2.3.0, Number lookup). @throws Refused */
export async function lookUp({
  services,
  caller,
  input,
  receivedAt,
}: OperationContext<{ msisdn: string }>): Promise<LookedUp> {
  const { accountId } = caller;
  const { msisdn } = input;
  const terms = await readLookupTerms(services.sql, accountId, msisdn);
  if (terms === null) throw new Refused({ reason: 'account_closed' });
  const test = terms.mode === 'test';
  if (test && !terms.verified) throw new Refused({ reason: 'lookup_unverified' }, 'msisdn');

  const known = await readKnownResult(services.sql, accountId, msisdn);
  if (known !== null) return { ...known, cached: true };
  if (terms.overdue) throw new Refused({ reason: 'statement_overdue' });
  const costGrosze = test ? 0 : terms.pricePerHlrGrosze;
  const traffic = { key: msisdn, msisdn, accountId, type: 'hlr', priority: true } as const;
  const [route] = orderRoutes(await services.routing(), traffic);
  if (route === undefined) throw new Refused({ reason: 'lookup_no_route' });
  // Checked before anything is written and before the key's budget is charged.
  if (costGrosze > terms.availableGrosze && costGrosze > 0 && !terms.underWay) throw unpaid();
  return await ask({ services, caller, msisdn, costGrosze, route, receivedAt });
}

async function ask(asking: LookupRequest): Promise<LookedUp> {
  const { services, caller, msisdn } = asking;
  for (let triesLeft = TRIES - 1; ; triesLeft -= 1) {
    const accepted = await accept(asking);
    if (accepted !== null) {
      const { row, outage } = await outcomeOf(asking, accepted.id);
      if (row.result !== null) return { ...row.result, cached: !accepted.own };
      const isOthersEnd = !accepted.own && outage === null && row.now.reason === 'abandoned';
      if (!isOthersEnd || triesLeft === 0) throw problemOf(row, outage ?? 'timed_out');
    }
    // The concurrent lookup has just ended, perhaps with a result.
    const known = await readKnownResult(services.sql, caller.accountId, msisdn);
    if (known !== null) return { ...known, cached: true };
    if (triesLeft === 0) throw new Refused({ reason: 'timed_out' });
  }
}

async function accept({
  services,
  caller,
  msisdn,
  route,
  costGrosze,
  receivedAt,
}: LookupRequest): Promise<AcceptedLookup | null> {
  const spending = spendingOf(caller, costGrosze);
  const lookup = { id: newId('hlr'), accountId: caller.accountId, msisdn, route, costGrosze, spending };
  try {
    return await acceptWithin(receivedAt + ANSWER_MS, 'lookup', () => acceptLookup(services.sql, lookup));
  } catch (error) {
    if (error instanceof InsufficientFundsError) throw unpaid();
    if (error instanceof ToolBudgetError) throw toolBudgetReached(error, 'msisdn');
    throw error;
  }
}

/**
 * Starts or joins the lookup's workflow and waits for its end. On an outage, abandons and refunds a lookup that no workflow has picked up.
 * @returns the stored lookup; `outage` is null if the workflow's end was observed
 */
async function outcomeOf(
  asking: LookupRequest,
  id: string,
): Promise<{ row: LookupRow; outage: Outage | null }> {
  const { services, caller, route, receivedAt } = asking;
  const { sql, temporal, log } = services;
  let outage: Outage | null = null;
  try {
    const start = lookupStart({ id, accountId: caller.accountId, route });
    await runWorkflow(temporal, 'lookup', start, receivedAt + ANSWER_MS);
  } catch (error) {
    outage = outageOf(error) ?? 'unavailable';
    log.error({ err: error, lookupId: id }, 'a look-up was not answered in time');
  }
  const settle = async (): Promise<LookupRow> => {
    if (outage !== null) await abandonLookup(sql, id);
    return await readLookup(sql, id);
  };
  try {
    return { row: await within(receivedAt + GIVE_UP_MS, settle()), outage };
  } catch (error) {
    log.error({ err: error, lookupId: id }, 'a look-up could not be resolved');
    throw new Refused({ reason: 'lookup_unresolved', outage: outage ?? 'timed_out' }, undefined, error);
  }
}

function problemOf({ now }: LookupRow, outage: Outage): Refused {
  if (now.state !== 'failed') return new Refused({ reason: 'lookup_unresolved', outage });
  if (now.reason === 'abandoned') return new Refused({ reason: 'lookup_abandoned', outage });
  return new Refused({ reason: now.reason === 'failed' ? 'lookup_failed' : 'lookup_timed_out' });
}

function unpaid(): Refused {
  return new Refused({ reason: 'lookup_unpaid' });
}
