import { setTimeout as delay } from 'node:timers/promises';
import type { Pdu } from './codec.ts';
import type { DeliverPdu, SubmitFields } from './wire.ts';
import { createRoom, type Outcome, type Requests, type Room } from './requests.ts';
import type { ProviderState, Withheld } from '../provider.ts';
import { openSession } from './conversation.ts';
import type { SmppCredentials, SmppSettings } from './settings.ts';

export type Role = 'transceiver' | 'transmitter' | 'receiver';

/** What a session reports; none of these may throw. */
export interface SessionEvents {
  /**
   * @param pdu null for one that cannot be read
   * @param respond to be called once; false where the SMSC did not get it
   */
  onDeliver(session: Session, pdu: DeliverPdu | null, respond: (status: number) => boolean): void;
  /** An answer after the time-out. */
  onLate(reference: string, answer: Pdu): void;
  /** There is more or less room than before. */
  onRoom(): void;
}

/** How a session ended: in good order, or by a lost connection. */
export interface SessionEnd {
  why: string;
  orderly: boolean;
}

/** One bind on one connection. */
export interface Session {
  /** The SMSC's name, as it says; '' before the bind's answer. */
  readonly smscSystemId: string;
  /** Whether it takes submits, room or not. */
  accepts(): boolean;
  /** How many submits more it takes at the moment. */
  room(): number;
  inFlight(): number;
  /** @throws RangeError for fields that cannot be written: nothing was sent then */
  submit(fields: SubmitFields, reference: string): Promise<Outcome>;
  /** Takes no more submits, waits for answers in both directions, unbinds, and closes the connection. */
  close(): Promise<void>;
  readonly ended: Promise<SessionEnd>;
  /** Whether it was of use: an SMSC that throws everybody out at once is not to be asked again and again. */
  worked(): boolean;
}

/** A session before its bind. */
export interface NewSession {
  session: Session;
  request: Requests['send'];
  /** The bind was taken. */
  opened: (smscSystemId: string) => void;
  /** Closes the connection at once. */
  end: (why: string) => void;
}

const LONGEST_PROBLEM = 300;
// Sessions that cannot be bound say so again at least as often, unless `reconnectMaxMs` is set higher.
const PROBLEM_STAYS_MS = 300_000;

/** What cannot be put into a PDU; nothing was sent. */
interface Unwritable {
  kind: 'unwritable';
  error: unknown;
}

/** What is to be submitted. */
interface Submission {
  reference: string;
  /** As `Provider.submit` has it. */
  leave: () => Promise<boolean>;
  /** Called at the moment of writing: a validity period depends on it. */
  fields: () => SubmitFields;
}

/** All sessions of a route in this process. */
export interface Sessions {
  start(): void;
  /**
   * Waits for a place in a window, has the part leave, and writes it at once; in the order of the calls.
   * @returns `unwritten` when there has been no session for two seconds, or the last one broke while the part left
   * @throws what `leave` rejects with
   */
  submit(submission: Submission): Promise<Outcome | Withheld | Unwritable>;
  /** Shows staff what is wrong although the sessions stand. */
  note(problem: string): void;
  /** Shows staff what is odd and holds nothing up; what they were shown as wrong lately stays. */
  remark(oddity: string): void;
  state(): ProviderState;
  /** Closes all sessions in good order; submits that still wait for a place are `unwritten`. */
  stop(): Promise<void>;
}

type PoolEvents = Omit<SessionEvents, 'onRoom'> & { onLost(session: Session): void };

/** The sessions that stand, and what staff are shown of them. */
interface Pool {
  readonly settings: SmppSettings;
  readonly credentials: SmppCredentials;
  readonly events: PoolEvents;
  readonly open: Map<Session, Role>;
  readonly room: Room;
  /** Aborted once no session is to be opened any more. */
  readonly stopping: AbortSignal;
  failures: number;
  lastError: string | null;
  lastErrorAt: Date | null;
}

/** @param events of any of the sessions, but for room; `onLost`: a connection broke */
export function createSessions(
  settings: SmppSettings,
  credentials: SmppCredentials,
  events: PoolEvents,
): Sessions {
  const stopping = new AbortController();
  const open = new Map<Session, Role>();
  const room = createRoom(() => accepting(open));
  const pool: Pool = {
    ...{ settings, credentials, events, open, room, stopping: stopping.signal },
    ...{ failures: 0, lastError: null, lastErrorAt: null },
  };
  let keepers: Promise<unknown> = Promise.resolve();

  return {
    start() {
      const roles = rolesOf(settings).flatMap((role) =>
        Array.from({ length: settings.sessions }, () => role),
      );
      keepers = Promise.all(roles.map((role) => keep(pool, role)));
    },
    submit: (submission) => submit(room, submission),
    note: (problem) => note(pool, problem),
    remark: (oddity) => remark(pool, oddity),
    state: () => stateOf(pool),
    async stop() {
      stopping.abort();
      room.close();
      await Promise.all([...open.keys()].map((session) => session.close()));
      await keepers;
    },
  };
}

function rolesOf({ bind }: SmppSettings): readonly Role[] {
  return bind === 'pair' ? ['transmitter', 'receiver'] : ['transceiver'];
}

function accepting(open: Pool['open']): Session[] {
  return [...open.keys()].filter((session) => session.accepts());
}

function stateOf({ settings, open, failures, lastError, lastErrorAt }: Pool): ProviderState {
  const bound = (role: Role): number =>
    [...open].filter(([session, its]) => its === role && (role === 'receiver' || session.accepts())).length;
  return {
    takesSubmits: accepting(open).length > 0,
    sessions: Math.min(...rolesOf(settings).map(bound)),
    sessionsWanted: settings.sessions,
    window: settings.window * settings.sessions,
    inFlight: [...open.keys()].reduce((sum, session) => sum + session.inFlight(), 0),
    ...{ failures, lastError, lastErrorAt },
  };
}

function note(pool: Pool, problem: string): void {
  pool.lastError = problem.slice(0, LONGEST_PROBLEM);
  pool.lastErrorAt = new Date();
}

function remark(pool: Pool, oddity: string): void {
  const { lastError, lastErrorAt } = pool;
  const lately = lastErrorAt !== null && Date.now() - lastErrorAt.getTime() < PROBLEM_STAYS_MS;
  if (!lately || lastError === oddity) note(pool, oddity);
}

/** Has one session open as long as the process does not stop. */
async function keep(pool: Pool, role: Role): Promise<void> {
  const { settings, stopping } = pool;
  let failures = 0;
  while (!stopping.aborted) {
    failures = (await keepOne(pool, role)) ? 0 : failures + 1;
    await delay(backoff(failures, settings), undefined, { signal: stopping }).catch(() => undefined);
  }
}

/**
 * Opens one session, and waits for its end.
 * @returns whether it was of use
 */
async function keepOne(pool: Pool, role: Role): Promise<boolean> {
  const { settings, credentials, events, open, room, stopping } = pool;
  try {
    const all = { ...events, onRoom: () => room.changed() };
    const session = await openSession(role, settings, credentials, all, stopping);
    if (stopping.aborted) {
      await session.close();
      return true;
    }
    open.set(session, role);
    room.changed();
    const { why, orderly } = await session.ended;
    open.delete(session);
    noteFailure(pool, `${role}: ${why}`);
    if (!orderly) events.onLost(session);
    return session.worked();
  } catch (error) {
    noteFailure(pool, `${role}: ${error instanceof Error ? error.message : String(error)}`);
    return false;
  }
}

/** While all stop, an end is no failure. */
function noteFailure(pool: Pool, problem: string): void {
  if (pool.stopping.aborted) return;
  pool.failures++;
  note(pool, problem);
}

async function submit(room: Room, submission: Submission): Promise<Outcome | Withheld | Unwritable> {
  const session = await room.hold();
  if (session === null) return { kind: 'unwritten' };
  let written: ReturnType<typeof write> | undefined;
  try {
    if (!(await submission.leave())) return { kind: 'withheld' };
    written = write(session.accepts() ? session : room.free(), submission);
  } finally {
    room.release(session);
  }
  return written;
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
 * Exponential back-off with full jitter, so that many workers do not come back all at once
 * (https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/).
 * @param failures in a row; 0 after a session that was of use
 */
export function backoff(
  failures: number,
  { reconnectMinMs, reconnectMaxMs }: Pick<SmppSettings, 'reconnectMinMs' | 'reconnectMaxMs'>,
): number {
  return Math.random() * Math.min(reconnectMaxMs, reconnectMinMs * 2 ** Math.min(failures, 30));
}
