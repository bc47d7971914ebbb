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

/** A hand-over that was not made: `leave` said that the part, or the e-mail, must not leave. */
export interface NotSubmitted {
  kind: 'withheld';
}

/** Within this time a provider answers a look-up. */
export const LOOKUP_TIMEOUT_MS = 3_000;

/**
 * What a provider hands over. Each promise resolves once it is stored; only then the SMSC gets the answer that we have it. It
 * rejects when it could not be stored: the SMSC is to hand it over again.
 */
export interface ProviderHandlers {
  onReports(reports: DeliveryReport[]): Promise<void>;
  /** A reply handed over again has the same `providerReference`. */
  onReplies(replies: NetworkReply[]): Promise<void>;
  /** One part of a reply that came in several. */
  onReplyPart(part: ReplyPart): Promise<void>;
  /** What became of e-mails; an event handed over again has the same `eventId`. */
  onEmailEvents(events: readonly ProviderEmailEvent[]): Promise<void>;
  /**
   * The answer to a submit that was `unanswered` by then.
   * @param arrivedAt when it came, by `performance.now()`: handed over once more it is still no answer to a later submit
   */
  onLateAnswer(reference: string, answer: LateAnswer, arrivedAt: number): Promise<void>;
}

/** What is to be seen of a provider in this process. */
export interface ProviderState {
  /** Whether there is an open session that takes submits. */
  takesSubmits: boolean;
  /** Whole sessions that are open, and how many there should be. A provider without sessions counts as one. */
  sessions: number;
  sessionsWanted: number;
  /** Submits that may be open at once, over all sessions. */
  window: number;
  inFlight: number;
  /** Connections and binds that failed or were lost since the start. */
  failures: number;
  lastError: string | null;
  lastErrorAt: Date | null;
}

/** A way to the provider; one for each route and process. */
export interface Provider {
  /** The route's. */
  readonly name: string;
  /** Takes messages whole and cuts them itself; else it is given each part. */
  readonly takesWhole: boolean;
  /**
   * Hands over one part, or one whole message. Answers in its own time, with `unanswered` at the latest; never throws for
   * what an SMSC does. Waits for an open session with room in its window, calls `leave` and then writes at once.
   *
   * @param leave keeps the route's rate and notes that the part is on its way; resolves to false when it must not leave.
   * What it rejects with is thrown on; nothing was written then.
   */
  submit(part: SubmitPart, leave: () => Promise<boolean>): Promise<SubmitAnswer | NotSubmitted>;
  /**
   * Asks the network about a number (E.164 with plus), once. Answers within `LOOKUP_TIMEOUT_MS`, with `timed_out` at the
   * latest; never throws for what a provider does. One that cannot look up answers `failed`.
   */
  lookup(msisdn: string): Promise<LookupAnswer>;
  /** Hands e-mails over; absent where its kind carries none. */
  readonly email?: EmailGate;
  /** Begins to open sessions, and keeps them open; does not wait for them. */
  start(handlers: ProviderHandlers): Promise<void>;
  state(): ProviderState;
  /** Ends sessions after the answers under way have come. */
  stop(): Promise<void>;
}

/**
 * Stands for a route that sends nothing: it is disabled, or cannot be opened. Whatever is still queued on it is answered so,
 * and moves on or waits.
 * @param problem why it cannot be opened; null: staff closed it
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
