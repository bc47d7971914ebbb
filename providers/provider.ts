import type { ProviderEmailEvent } from '../domain/email/statuses.ts';
import type { NetworkReply, ReplyPart } from '../domain/incoming.ts';
import type {
  DeliveryReport,
  LateAnswer,
  LookupAnswer,
  SubmitAnswer,
  SubmitPart,
} from '../domain/submission.ts';
import type { EmailProvider } from './email.ts';

export interface NotSubmitted {
  kind: 'withheld';
}

/** Providers answer a look-up within this time. */
export const LOOKUP_TIMEOUT_MS = 3_000;

/** Promises resolve once stored; only then does the SMSC get an acknowledgement. If storing fails they reject, and it has to redeliver. */
export interface ProviderHandlers {
  onReports(reports: DeliveryReport[]): Promise<void>;
  /** A redelivered reply has the same `providerReference`. */
  onReplies(replies: NetworkReply[]): Promise<void>;
  onReplyPart(part: ReplyPart): Promise<void>;
  /** A redelivered event has the same `eventId`. */
  onEmailEvents(events: readonly ProviderEmailEvent[]): Promise<void>;
  /** An answer after `unanswered`. Retried storing keeps `arrivedAt` (`performance.now()`): it is never the answer to a later submit. */
  onLateAnswer(reference: string, answer: LateAnswer, arrivedAt: number): Promise<void>;
}

export interface ProviderState {
  takesSubmits: boolean;
  /** Complete sessions. A provider without sessions counts as one. */
  sessions: number;
  sessionsWanted: number;
  window: number;
  inFlight: number;
  failures: number;
  lastError: string | null;
  lastErrorAt: Date | null;
}

export interface Provider {
  readonly name: string;
  /** Accepts whole messages and splits them itself; otherwise it gets single parts. */
  readonly takesWhole: boolean;
  /**
   * Submits one part, or one whole message. Answers at the latest with `unanswered`, and never throws for what an SMSC does. Waits for an
   * open session with a free slot in its window, calls `beforeSubmit`, then writes immediately.
   * @param beforeSubmit waits for the rate limit and records that the part is on its way; false: it must not be sent. Its rejection is rethrown;
   *   nothing was written then.
   */
  submit(part: SubmitPart, beforeSubmit: () => Promise<boolean>): Promise<SubmitAnswer | NotSubmitted>;
  /** Looks up a number (E.164 with plus), once; `timed_out` after `LOOKUP_TIMEOUT_MS`, `failed` if not supported. Never throws. */
  lookup(msisdn: string): Promise<LookupAnswer>;
  readonly email?: EmailProvider;
  /** Does not wait for sessions to open. */
  start(handlers: ProviderHandlers): Promise<void>;
  state(): ProviderState;
  /** Closes the sessions after pending answers have arrived. */
  stop(): Promise<void>;
}

/** Provider of a route that is disabled (`problem` null) or cannot be opened: its queued messages move to another route, or wait. */
export function closedProvider(name: string, problem: string | null): Provider {
  const since = new Date();
  return {
    name,
    takesWhole: false,
    submit: () => Promise.resolve({ kind: 'broken', code: problem === null ? 'disabled' : 'not_configured' }),
    lookup: () => Promise.resolve({ kind: 'failed' }),
    start: () => Promise.resolve(),
    state: () => ({
      takesSubmits: false,
      sessions: 0,
      sessionsWanted: 0,
      window: 0,
      inFlight: 0,
      failures: 0,
      lastError: problem,
      lastErrorAt: problem === null ? null : since,
    }),
    stop: () => Promise.resolve(),
  };
}
