import type { ProviderEmailEvent } from '../domain/email/statuses.ts';
import type { NetworkReply, ReplyPart } from '../domain/incoming.ts';
import type {
  DeliveryReport,
  LateAnswer,
  LookupAnswer,
  SubmitAnswer,
  SubmitPart,
} from '../domain/submission.ts';
import type { EmailGate } from './email.ts';

/** Nothing was submitted, because `leave` resolved to false. */
export interface NotSubmitted {
  kind: 'withheld';
}

/** Providers answer a look-up within this time. */
export const LOOKUP_TIMEOUT_MS = 3_000;

/**
 * What a provider receives. Each promise resolves once it is stored, and only then does the SMSC get an acknowledgement. It rejects when
 * storing failed, and the SMSC has to redeliver.
 */
export interface ProviderHandlers {
  onReports(reports: DeliveryReport[]): Promise<void>;
  /** A redelivered reply has the same `providerReference`. */
  onReplies(replies: NetworkReply[]): Promise<void>;
  onReplyPart(part: ReplyPart): Promise<void>;
  /** A redelivered event has the same `eventId`. */
  onEmailEvents(events: readonly ProviderEmailEvent[]): Promise<void>;
  /**
   * The answer to a submit that was `unanswered` before.
   * @param arrivedAt by `performance.now()`, and kept when storing is retried, so that it is not mistaken for the answer to a later submit
   */
  onLateAnswer(reference: string, answer: LateAnswer, arrivedAt: number): Promise<void>;
}

export interface ProviderState {
  takesSubmits: boolean;
  /** Complete sessions that are open, and how many there should be. A provider without sessions counts as one. */
  sessions: number;
  sessionsWanted: number;
  window: number;
  inFlight: number;
  /** Failed or lost connections and binds since the start. */
  failures: number;
  lastError: string | null;
  lastErrorAt: Date | null;
}

/** A connection to a provider; one per route and process. */
export interface Provider {
  readonly name: string;
  /** Accepts whole messages and splits them itself; otherwise it gets single parts. */
  readonly takesWhole: boolean;
  /**
   * Submits one part, or one whole message. Answers at the latest with `unanswered`, and never throws for what an SMSC does. Waits for an
   * open session with a free slot in its window, calls `leave`, then writes immediately.
   * @param leave waits for the rate limit and records that the part is on its way; false: it must not be sent. Its rejection is rethrown;
   *   nothing was written then.
   */
  submit(part: SubmitPart, leave: () => Promise<boolean>): Promise<SubmitAnswer | NotSubmitted>;
  /**
   * Looks up a number (E.164 with plus), once. Answers within `LOOKUP_TIMEOUT_MS`, at the latest with `timed_out`, and never throws for
   * what a provider does. A provider without look-ups answers `failed`.
   */
  lookup(msisdn: string): Promise<LookupAnswer>;
  readonly email?: EmailGate;
  /** Starts to open sessions, and keeps them open; does not wait for them. */
  start(handlers: ProviderHandlers): Promise<void>;
  state(): ProviderState;
  /** Closes the sessions after pending answers have arrived. */
  stop(): Promise<void>;
}

/**
 * Provider of a route that sends nothing, as it is disabled or cannot be opened. Messages still queued on it move to another route, or
 * wait.
 * @param problem why it cannot be opened; null: staff disabled it
 */
export function closedProvider(name: string, problem: string | null): Provider {
  const since = new Date();
  return {
    name,
    takesWhole: false,
    submit: () => Promise.resolve({ kind: 'broken', code: problem === null ? 'disabled' : 'not_configured' }),
    lookup: () => Promise.resolve({ kind: 'failed' }),
    start: () => Promise.resolve(),
    state: () => ({
      ...{ takesSubmits: false, sessions: 0, sessionsWanted: 0, window: 0, inFlight: 0, failures: 0 },
      lastError: problem,
      lastErrorAt: problem === null ? null : since,
    }),
    stop: () => Promise.resolve(),
  };
}
