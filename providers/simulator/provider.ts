import { setTimeout as delay } from 'node:timers/promises';
import { randomBytes } from 'node:crypto';
import {
  type DeliveryReport,
  type LookupAnswer,
  type LookupFinding,
  NOTHING_FOUND,
  type SubmitAnswer,
  type SubmitPart,
} from '../../domain/submission.ts';
import { LOOKUP_TIMEOUT_MS, type Provider } from '../provider.ts';
import { voiceContentOf } from '../../domain/channels/vms.ts';
import type { NetworkReply } from '../../domain/incoming.ts';
import { simulatedEmail, type SimulatorMail } from './email.ts';

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
// The first two digits of Polish mobile numbers, roughly as originally assigned.
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

/**
 * Answers a look-up as a network would. The last three digits select the outcome, by default active and not ported: 911 inactive, 912
 * invalid, 913 unknown, 914 active and ported, 915 error of the provider, 916 no answer in time, 917 active, answered after 2 s. Numbers
 * outside Poland have no network.
 */
async function simulatedLookup(msisdn: string): Promise<LookupAnswer> {
  switch (msisdn.slice(-3)) {
    case '911':
      return found(msisdn, 'inactive', false);
    case '912':
      return { kind: 'found', status: 'invalid', ...NOTHING_FOUND };
    case '913':
      return { kind: 'found', status: 'unknown', ...NOTHING_FOUND };
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
  if (assigned === undefined) return { kind: 'found', status, ...NOTHING_FOUND, ported };
  const { network, mnc } = !ported ? assigned : assigned === PLAY ? ORANGE : PLAY;
  return { kind: 'found', status, network, mcc: POLAND.mcc, mnc, ported };
}

interface PlannedReport {
  state: DeliveryReport['state'];
  afterMs: number;
}

export interface SimulatorStore {
  take(providerMessageId: string, part: SubmitPart, reports: PlannedReport[]): Promise<void>;
  countThrottle(reference: string, upTo: number): Promise<boolean>;
  /** Delivers due reports and deletes them afterwards; returns how many. */
  handOverDue(limit: number, deliver: (reports: DeliveryReport[]) => Promise<void>): Promise<number>;
  /** Delivers replies from phones and deletes them afterwards; returns how many. */
  handOverReplies(limit: number, deliver: (replies: NetworkReply[]) => Promise<void>): Promise<number>;
  hasReports(providerMessageId: string): Promise<boolean>;
}

const DELIVERY_MS = 1_000;
const SLOW_DELIVERY_MS = 30_000;
const ANSWER_TIMEOUT_MS = 3_000;
const THROTTLED_TRIES = 3;
const THROTTLE_DELAY_MS = 1_000;
const WINDOW = 100;
const BATCH_SIZE = 200;
const POLL_MS = 100;

const ON_TIME: PlannedReport[] = [{ state: 'delivered', afterMs: DELIVERY_MS }];
const REPORTS_BY_ENDING: Record<string, PlannedReport[]> = {
  '901': [{ state: 'undelivered', afterMs: DELIVERY_MS }],
  '903': [],
  '905': [],
  '906': [{ state: 'delivered', afterMs: SLOW_DELIVERY_MS }],
  '907': [{ state: 'delivered', afterMs: 0 }],
  '908': [
    { state: 'delivered', afterMs: DELIVERY_MS },
    { state: 'enroute', afterMs: DELIVERY_MS + 200 },
    { state: 'delivered', afterMs: DELIVERY_MS + 400 },
    { state: 'undelivered', afterMs: DELIVERY_MS + 600 },
  ],
};

/**
 * The simulated SMSC, for demos, tests and customers' integrations. Like a real one it accepts duplicates, and delivers in about a second.
 * The last three digits of the destination select another outcome:
 * - 901 undelivered, 902 refused at submission, 903 no report ever, 904 throttled on three attempts, 905 submit unanswered
 * - 906 report after 30 s, 907 report before the answer to the submit, 908 reports repeated and out of order
 * - calls, one second each: 921 no answer and 922 busy: undelivered; 923 answered at the third call, undelivered if there are fewer
 * - MMS: 931 refused for its size, 932 undelivered, as the phone takes no MMS
 */
export function createSimulator(
  name: string,
  store: SimulatorStore & SimulatorMail,
  onError: (error: unknown) => void,
): Provider {
  const stopping = new AbortController();
  let loops: Promise<unknown> = Promise.resolve();
  let inFlight = 0;

  return {
    name,
    takesWhole: false,
    async submit(part, beforeSubmit) {
      inFlight += 1;
      try {
        return (await beforeSubmit()) ? await submitTo(store, part) : { kind: 'withheld' };
      } finally {
        inFlight -= 1;
      }
    },
    email: simulatedEmail(store),
    lookup: simulatedLookup,
    state: () => ({
      takesSubmits: true,
      sessions: 1,
      sessionsWanted: 1,
      window: WINDOW,
      inFlight,
      failures: 0,
      lastError: null,
      lastErrorAt: null,
    }),
    start(handlers) {
      loops = Promise.all([
        repeatUntil(
          stopping.signal,
          () => store.handOverDue(BATCH_SIZE, (reports) => handlers.onReports(reports)),
          onError,
        ),
        repeatUntil(
          stopping.signal,
          () => store.handOverReplies(BATCH_SIZE, (replies) => handlers.onReplies(replies)),
          onError,
        ),
        repeatUntil(
          stopping.signal,
          () => store.handOverEvents(BATCH_SIZE, (events) => handlers.onEmailEvents(events)),
          onError,
        ),
      ]);
      return Promise.resolve();
    },
    async stop() {
      stopping.abort();
      await loops;
    },
  };
}

async function submitTo(store: SimulatorStore, part: SubmitPart): Promise<SubmitAnswer> {
  const ending = part.destination.slice(-3);
  if (ending === '902') return { kind: 'refused', reason: 'network_refused' };
  if (ending === '931' && part.channel === 'mms') return { kind: 'refused', reason: 'invalid_content' };
  if (ending === '904' && (await store.countThrottle(part.reference, THROTTLED_TRIES))) {
    return { kind: 'throttled', retryAfterMs: THROTTLE_DELAY_MS };
  }
  const providerMessageId = randomBytes(8).toString('hex');
  await store.take(providerMessageId, part, reportsOf(part, ending));
  if (ending === '905') {
    await delay(ANSWER_TIMEOUT_MS);
    return { kind: 'unanswered' };
  }
  if (ending === '907') await untilReported(store, providerMessageId);
  return { kind: 'accepted', providerMessageId };
}

function reportsOf(part: SubmitPart, ending: string): PlannedReport[] {
  const ofChannel = part.channel === 'vms' ? callReports(part, ending) : undefined;
  if (part.channel === 'mms' && ending === '932') return REPORTS_BY_ENDING['901']!;
  return ofChannel ?? REPORTS_BY_ENDING[ending] ?? ON_TIME;
}

function callReports({ content }: SubmitPart, ending: string): PlannedReport[] | undefined {
  const { tries } = voiceContentOf(content);
  const after = (calls: number) => DELIVERY_MS * calls;
  switch (ending) {
    case '921':
    case '922':
      return [{ state: 'undelivered', afterMs: after(tries) }];
    case '923':
      return [{ state: tries < 3 ? 'undelivered' : 'delivered', afterMs: after(Math.min(tries, 3)) }];
    default:
      return undefined;
  }
}

async function untilReported(store: SimulatorStore, providerMessageId: string): Promise<void> {
  const deadline = Date.now() + ANSWER_TIMEOUT_MS;
  while (Date.now() < deadline && (await store.hasReports(providerMessageId))) await delay(POLL_MS);
}

async function repeatUntil(
  signal: AbortSignal,
  handOver: () => Promise<number>,
  onError: (error: unknown) => void,
): Promise<void> {
  while (!signal.aborted) {
    const handed = await handOver().catch((error: unknown) => {
      onError(error);
      return 0;
    });
    if (handed < BATCH_SIZE) await delay(POLL_MS, undefined, { signal }).catch(() => undefined);
  }
}
