import { setTimeout as delay } from 'node:timers/promises';
import type { SubmitFields } from './wire.ts';
import { createWindowPool, type Outcome } from './requests.ts';
import type { ProviderState, NotSubmitted } from '../provider.ts';
import { openSession, type Role, rolesOf, type Session, type SessionEvents } from './session.ts';
import type { SmppCredentials, SmppSettings } from './settings.ts';

const LONGEST_PROBLEM = 300;
// A failing bind repeats its problem at least this often, unless `reconnectMaxMs` is higher.
const PROBLEM_STAYS_MS = 300_000;

interface Unwritable {
  kind: 'unwritable';
  error: unknown;
}

interface Submission {
  reference: string;
  beforeSubmit: () => Promise<boolean>;
  /** Called right before writing, as the validity period depends on the time. */
  fields: () => SubmitFields;
}

export interface Sessions {
  start(): void;
  /**
   * Waits for a slot, calls `beforeSubmit`, and writes immediately; in the order of the calls. Without a session for two seconds, or when the last
   * one broke during `beforeSubmit`, the outcome is `unwritten`.
   * @throws what `beforeSubmit` rejects with
   */
  submit(submission: Submission): Promise<Outcome | NotSubmitted | Unwritable>;
  note(problem: string): void;
  /** Shows staff an oddity that blocks nothing; a recent problem stays shown. */
  remark(oddity: string): void;
  state(): ProviderState;
  /** Closes all sessions in an orderly way; submits still waiting for a slot are `unwritten`. */
  stop(): Promise<void>;
}

/** Keeps the sessions of a route open. @param events of any session; `onLost`: a connection broke */
export function createSessions(
  settings: SmppSettings,
  credentials: SmppCredentials,
  events: Omit<SessionEvents, 'onWindowChange'> & { onLost(session: Session): void },
): Sessions {
  const stopping = new AbortController();
  const roles = rolesOf(settings);
  const open = new Map<Session, Role>();
  const accepting = (): Session[] => [...open.keys()].filter((session) => session.accepts());
  const windows = createWindowPool(accepting);
  const shown: Pick<ProviderState, 'failures' | 'lastError' | 'lastErrorAt'> = {
    failures: 0,
    lastError: null,
    lastErrorAt: null,
  };
  let keepers: Promise<unknown> = Promise.resolve();

  const note = (problem: string): void => {
    shown.lastError = problem.slice(0, LONGEST_PROBLEM);
    shown.lastErrorAt = new Date();
  };
  // During a stop, the end of a session is no failure.
  const noteFailure = (role: Role, problem: string): void => {
    if (stopping.signal.aborted) return;
    shown.failures++;
    note(`${role}: ${problem}`);
  };

  // Keeps one session open until the process stops.
  const keepSessionOpen = async (role: Role): Promise<void> => {
    const { signal } = stopping;
    for (let failures = 0; !signal.aborted;) {
      failures = (await runSession(role)) ? 0 : failures + 1;
      await delay(backoff(failures, settings), undefined, { signal }).catch(() => undefined);
    }
  };

  const runSession = async (role: Role): Promise<boolean> => {
    try {
      const all = { ...events, onWindowChange: () => windows.changed() };
      const session = await openSession(role, settings, credentials, all, stopping.signal);
      if (stopping.signal.aborted) {
        await session.close();
        return true;
      }
      open.set(session, role);
      windows.changed();
      const { why, orderly } = await session.ended;
      open.delete(session);
      noteFailure(role, why);
      if (!orderly) events.onLost(session);
      return session.wasUseful();
    } catch (error) {
      noteFailure(role, error instanceof Error ? error.message : String(error));
      return false;
    }
  };

  return {
    start() {
      const each = roles.flatMap((role) => Array.from({ length: settings.sessions }, () => role));
      keepers = Promise.all(each.map(keepSessionOpen));
    },
    async submit(submission) {
      const session = await windows.acquire();
      if (session === null) return { kind: 'unwritten' };
      let written: ReturnType<typeof write> | undefined;
      try {
        if (!(await submission.beforeSubmit())) return { kind: 'withheld' };
        written = write(session.accepts() ? session : windows.free(), submission);
      } finally {
        windows.release(session);
      }
      return written;
    },
    note,
    remark(oddity) {
      const { lastError, lastErrorAt } = shown;
      const isRecent = lastErrorAt !== null && Date.now() - lastErrorAt.getTime() < PROBLEM_STAYS_MS;
      if (!isRecent || lastError === oddity) note(oddity);
    },
    state() {
      const bound = (role: Role): number =>
        [...open].filter(([session, its]) => its === role && (role === 'receiver' || session.accepts()))
          .length;
      return {
        takesSubmits: accepting().length > 0,
        sessions: Math.min(...roles.map(bound)),
        sessionsWanted: settings.sessions,
        window: settings.window * settings.sessions,
        inFlight: [...open.keys()].reduce((sum, session) => sum + session.inFlight(), 0),
        ...shown,
      };
    },
    async stop() {
      stopping.abort();
      windows.close();
      await Promise.all([...open.keys()].map((session) => session.close()));
      await keepers;
    },
  };
}

async function write(session: Session | null, { fields, reference }: Submission) {
  if (session === null) return { kind: 'unwritten' } as const;
  try {
    return await session.submit(fields(), reference);
  } catch (error) {
    return { kind: 'unwritable', error } as const;
  }
}

/**
 * Milliseconds of exponential back-off with full jitter, so that many workers do not reconnect together
 * (https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/).
 * @param failures in a row; 0 after a useful session
 */
export function backoff(
  failures: number,
  { reconnectMinMs, reconnectMaxMs }: Pick<SmppSettings, 'reconnectMinMs' | 'reconnectMaxMs'>,
): number {
  return Math.random() * Math.min(reconnectMaxMs, reconnectMinMs * 2 ** Math.min(failures, 30));
}
