import { setTimeout as delay } from 'node:timers/promises';
import { newId } from '../db/ids.ts';
import { checkPatience, evenIfGone, isGone } from '../db/patience.ts';
import {
  claimLookup,
  type ClaimedLookup,
  type LookupResult,
  type LookupRow,
  lookupUnderWay,
  readKnownResult,
  readLookupTerms,
  settleLookup,
} from '../db/lookups/lookups.ts';
import { type Outage, Refused } from '../domain/refusals.ts';
import { orderRoutes } from '../domain/routing.ts';
import { lookUpUpdate } from '../workflows/contracts.ts';
import { lookupStart } from '../workflows/startOptions.ts';
import type { Asked, Caller, Services } from './asked.ts';
import { askWorkflow } from './askWorkflow.ts';
import { outageOf, within } from './outages.ts';
import { holdToolBudget, settleToolBudget } from './toolBudget.ts';

// A caller gets its answer, whatever it is, within ten seconds: this long for the look-up, the rest for giving up.
const ANSWER_MS = 8000;
const GIVE_UP_MS = 9800;
// A look-up that was joined may end uncharged, its own caller having given up; then this request begins another.
const TRIES = 3;
// Between a reservation of the budget and the row of its look-up, in milliseconds: a few, and many in case.
const RESERVED_MS = 50;

/** What was found out about a number. */
export interface LookedUp extends LookupResult {
  /** Found within the last 24 hours, for this account or another request of it: it costs nothing. */
  cached: boolean;
}

/** One request for a number's look-up. */
interface Asking {
  services: Services;
  caller: Caller;
  accountId: string;
  msisdn: string;
  costGrosze: number;
  /** The route it takes. */
  route: string;
  receivedAt: number;
}

/**
 * Looks a number up in its network (v2.3.0, Number lookup): from the last 24 hours, or from the network for a price.
 * @param input the number in E.164
 * @throws Refused
 */
export async function lookUp({
  services,
  caller,
  input,
  receivedAt,
}: Asked<{ msisdn: string }>): Promise<LookedUp> {
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
  // Without a row: who has no money could write as many as he likes.
  if (costGrosze > terms.availableGrosze && costGrosze > 0 && !terms.underWay) throw unpaid();
  return await ask({ services, caller, accountId, msisdn, costGrosze, route, receivedAt });
}

async function ask(asking: Asking): Promise<LookedUp> {
  for (let attempt = 1; ; attempt += 1) {
    const charging = { id: newId('hlr'), costGrosze: asking.costGrosze };
    const refusal = await holdToolBudget(asking, charging, 'msisdn');
    try {
      const found = await tryOnce(asking, charging.id, refusal, attempt >= TRIES);
      if (found !== null) return found;
    } finally {
      if (refusal === null) await settleToolBudget(asking, charging);
    }
  }
}

/**
 * @param refusal why no look-up may be begun; one that is under way is joined all the same, as it costs nothing
 * @returns null: another request's look-up has just ended without a result, or is about to begin, and this one is to try again
 */
async function tryOnce(
  asking: Asking,
  id: string,
  refusal: Refused | null,
  last: boolean,
): Promise<LookedUp | null> {
  const { services, accountId, msisdn } = asking;
  const claim =
    refusal === null
      ? await claimLookup(services.sql, { ...asking, id })
      : await lookupUnderWay(services.sql, accountId, msisdn);
  if (claim !== null) {
    // Another request may wait for it by now: that one begins its own.
    if (isGone()) {
      if (claim.own) await evenIfGone(() => settleLookup(services.sql, claim.id));
      checkPatience();
    }
    const { row, outage } = await outcomeOf(asking, claim);
    if (row.result !== null) return { ...row.result, cached: !claim.own };
    const othersEnd = !claim.own && isUnclaimed(row) && !last;
    if (!othersEnd && !isKnown(row)) throw problemOf(row, outage);
  }
  // Another request's look-up has just ended, perhaps with what is asked for.
  const known = await readKnownResult(services.sql, accountId, msisdn);
  if (known !== null) return { ...known, cached: true };
  if (last) throw refusal ?? new Refused({ reason: 'timed_out' });
  // What takes the budget may be a look-up of this number, that has no row yet.
  if (refusal !== null) await delay(RESERVED_MS);
  return null;
}

/**
 * Starts the workflow of the look-up, or joins it, and waits for its outcome. When that fails or takes too long, what
 * has not been charged by then is ended in the database, so that it never will be.
 * @returns where the look-up stands then; `outage` is for the case that it has no result
 */
async function outcomeOf(asking: Asking, { id }: ClaimedLookup): Promise<{ row: LookupRow; outage: Outage }> {
  const { services, accountId, route, receivedAt } = asking;
  let outage: Outage = 'timed_out';
  try {
    const start = lookupStart({ id, accountId, route });
    // The update's id is the look-up's: whoever joins gets the one answer.
    const question = { workflow: 'lookup', start, update: lookUpUpdate, updateId: id };
    await askWorkflow(services.temporal, question, receivedAt + ANSWER_MS);
  } catch (error) {
    outage = outageOf(error) ?? 'unavailable';
    services.log.error({ err: error, lookupId: id }, 'a look-up was not answered in time');
  }
  try {
    const settling = evenIfGone(() => settleLookup(services.sql, id));
    return { row: await within(receivedAt + GIVE_UP_MS, settling), outage };
  } catch (error) {
    services.log.error({ err: error, lookupId: id }, 'a look-up could not be resolved');
    throw new Refused({ reason: 'lookup_unresolved', outage }, undefined, error);
  }
}

function isUnclaimed({ now }: LookupRow): boolean {
  return now.state === 'refused' && (now.reason === 'abandoned' || now.reason === 'too_late');
}

function isKnown({ now }: LookupRow): boolean {
  return now.state === 'refused' && now.reason === 'known';
}

function problemOf({ now }: LookupRow, outage: Outage): Refused {
  if (now.state === 'charged') return new Refused({ reason: 'lookup_unresolved', outage });
  if (now.state === 'failed') {
    return new Refused({ reason: now.reason === 'failed' ? 'lookup_failed' : 'lookup_timed_out' });
  }
  return now.reason === 'insufficient_funds' ? unpaid() : new Refused({ reason: 'lookup_abandoned', outage });
}

function unpaid(): Refused {
  return new Refused({ reason: 'lookup_unpaid' });
}
