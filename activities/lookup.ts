import { log } from '@temporalio/activity';
import type { Provider } from '../providers/provider.ts';
import type { Database } from '../db/connection.ts';
import { failLookup, finishLookup, openLookup } from '../db/lookups/lookups.ts';
import type { LookupAnswer, LookupState } from '../domain/submission.ts';

/** The step of a look-up apart from its charge that is one transaction; run as a local activity, safe to repeat. */
export function lookupRefundActivities(sql: Database) {
  return {
    /** Ends and refunds a look-up whose asking got lost; returns how it has ended if it was faster. */
    failLookup: (lookupId: string): Promise<LookupState> => failLookup(sql, lookupId, 'timed_out'),
  };
}

/** Asking one provider about a number; run on that provider's task queue of look-ups. */
export function lookupActivities(sql: Database, provider: Provider) {
  return {
    /** Asks once and stores what came of it: a result, or a failure that is refunded. Asks nobody where the answer would come too late. */
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
