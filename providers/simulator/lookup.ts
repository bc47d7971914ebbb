import { setTimeout as delay } from 'node:timers/promises';
import type { LookupAnswer, LookupFinding } from '../../domain/lookups.ts';
import { LOOKUP_TIMEOUT_MS } from '../provider.ts';

const SLOW_ANSWER_MS = 2_000;
const POLAND = { prefix: '+48', mcc: '260' };

interface Network {
  network: string;
  mnc: string;
}
const PLUS: Network = { network: 'Plus', mnc: '01' };
const T_MOBILE: Network = { network: 'T-Mobile', mnc: '02' };
const ORANGE: Network = { network: 'Orange', mnc: '03' };
const PLAY: Network = { network: 'Play', mnc: '06' };
// The first two digits of Polish mobile numbers, roughly as they were once assigned.
const NETWORKS: Readonly<Record<string, Network>> = {
  '45': PLUS,
  '50': ORANGE,
  '51': ORANGE,
  '53': PLAY,
  '57': PLAY,
  '60': PLUS,
  '66': T_MOBILE,
  '69': T_MOBILE,
  '72': PLUS,
  '73': PLAY,
  '78': ORANGE,
  '79': PLAY,
  '88': T_MOBILE,
};
const NOTHING = { network: null, mcc: null, mnc: null, ported: null };

/**
 * Answers as a network would; outside Poland it knows no network. The last three digits of the number choose what it says;
 * every other one is active and not ported:
 * - 911: inactive
 * - 912: invalid
 * - 913: unknown
 * - 914: active and ported
 * - 915: error of the provider
 * - 916: no answer in time
 * - 917: active, answered after 2 s
 */
export async function simulatedLookup(msisdn: string): Promise<LookupAnswer> {
  switch (msisdn.slice(-3)) {
    case '911':
      return found(msisdn, 'inactive', false);
    case '912':
      return { kind: 'found', status: 'invalid', ...NOTHING };
    case '913':
      return { kind: 'found', status: 'unknown', ...NOTHING };
    case '914':
      return found(msisdn, 'active', true);
    case '915':
      return { kind: 'failed' };
    case '916':
      await delay(LOOKUP_TIMEOUT_MS);
      return { kind: 'timed_out' };
    case '917':
      await delay(SLOW_ANSWER_MS);
      return found(msisdn, 'active', false);
    default:
      return found(msisdn, 'active', false);
  }
}

function found(msisdn: string, status: LookupFinding['status'], ported: boolean): LookupAnswer {
  const assigned = msisdn.startsWith(POLAND.prefix) ? NETWORKS[msisdn.slice(3, 5)] : undefined;
  if (assigned === undefined) return { kind: 'found', status, ...NOTHING, ported };
  // A ported number is with another network than the one its prefix was given to.
  const { network, mnc } = !ported ? assigned : assigned === PLAY ? ORANGE : PLAY;
  return { kind: 'found', status, network, mcc: POLAND.mcc, mnc, ported };
}
