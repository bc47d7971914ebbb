import { log } from '@temporalio/activity';
import type { Provider } from '../providers/provider.ts';
import type { Database } from '../db/connection.ts';
import { failLookup, finishLookup, openLookup } from '../db/lookups/lookups.ts';
import type { LookupAnswer, LookupState } from '../domain/submission.ts';

/** Run as a local activity; safe to repeat. */
export function lookupRefundActivities(sql: Database) {
  return {
    /** Refunds a look-up whose request was lost; returns its result if that came first. */
    failLookup: (lookupId: string): Promise<LookupState> => failLookup(sql, lookupId, 'timed_out'),
  };
}

/** Run on the provider's look-up queue. */
export function lookupActivities(sql: Database, provider: Provider) {
  return {
    /** Asks the provider once, unless too late, and stores the result or refunds the failure. */
    async lookUp(lookupId: string): Promise<LookupState> {
      const msisdn = await openLookup(sql, lookupId);
      const answer: LookupAnswer = msisdn === null ? { kind: 'timed_out' } : await ask(provider, msisdn);
      return answer.kind === 'found'
        ? await finishLookup(sql, lookupId, answer)
        : await failLookup(sql, lookupId, answer.kind);
    },
  };
}

async function ask(provider: Provider, msisdn: string): Promise<LookupAnswer> {
  try {
    return await provider.lookup(msisdn);
  } catch (error) {
    log.error('the provider broke in the middle of a look-up', { error });
    return { kind: 'failed' };
  }
}
