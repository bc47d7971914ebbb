import type { Session } from './session.ts';
import { encodePdu, type Fields, type Pdu } from './codec.ts';

// A submit waits this long for a session before the route counts as broken to it.
const WITHOUT_SESSION_MS = 2_000;

interface WindowPool {
  /** Reserves a slot in the emptiest window, waiting if need be; null after two seconds without a session, or once closed. */
  acquire(): Promise<Session | null>;
  /** To be called once the session itself counts the submit. */
  release(session: Session): void;
  /** Reserves nothing. */
  free(): Session | null;
  changed(): void;
  close(): void;
}

/** Slots of the `accepting` sessions, those that take submits, in FIFO order. */
export function createWindowPool(accepting: () => Session[]): WindowPool {
  const reserved = new WeakMap<Session, number>();
  const waiting: ((session: Session | null) => void)[] = [];
  let withoutSince = Date.now();
  let timer: NodeJS.Timeout | undefined;
  let closed = false;

  const heldOf = (session: Session) => reserved.get(session) ?? 0;
  const free = (): Session | null => {
    let best: Session | null = null;
    let most = 0;
    for (const session of accepting()) {
      const places = session.freeWindow() - heldOf(session);
      if (places > most) [best, most] = [session, places];
    }
    return best;
  };

  const rejectWaiters = (): void => {
    for (const resolve of waiting.splice(0)) resolve(null);
  };
  const watch = (): void => {
    if (accepting().length > 0) {
      withoutSince = Number.POSITIVE_INFINITY;
      clearTimeout(timer);
      timer = undefined;
      return;
    }
    withoutSince = Math.min(withoutSince, Date.now());
    if (waiting.length === 0) return;
    timer ??= setTimeout(
      () => {
        timer = undefined;
        rejectWaiters();
      },
      Math.max(withoutSince + WITHOUT_SESSION_MS - Date.now(), 0),
    );
  };

  const changed = (): void => {
    watch();
    while (waiting.length > 0) {
      const session = free();
      if (session === null) return;
      reserved.set(session, heldOf(session) + 1);
      waiting.shift()?.(session);
    }
  };

  return {
    free,
    changed,
    acquire: () =>
      new Promise((resolve) => {
        if (closed || Date.now() - withoutSince >= WITHOUT_SESSION_MS) return resolve(null);
        waiting.push(resolve);
        changed();
      }),
    release(session) {
      reserved.set(session, heldOf(session) - 1);
      changed();
    },
    close() {
      closed = true;
      clearTimeout(timer);
      rejectWaiters();
    },
  };
}

const LAST_SEQUENCE = 0x7fff_ffff;
const MAX_LATE = 100_000;
const STILL_PAUSED_MS = 250;

/** `late`: no answer in time; `lost`: the connection ended before; `unwritten`: certainly never sent. */
export type Outcome =
  { kind: 'answered'; answer: Pdu } | { kind: 'late' } | { kind: 'lost' } | { kind: 'unwritten' };

/** Pending requests of one connection, each settled exactly once. */
export interface Requests {
  /** With `reference`, an answer after the timeout goes to `onLate`. @throws RangeError for fields that cannot be encoded */
  send: (command: string, fields: Fields, timeoutMs: number, reference?: string) => Promise<Outcome>;
  /** False when it belongs to no request. */
  answer(pdu: Pdu): boolean;
  failAll(): void;
}

interface Open {
  command: string;
  reference: string | undefined;
  settle(outcome: Outcome): void;
}

/** `write` returns false when nothing was written. While `isPaused` (we do not read answers at the moment), no request times out. */
export function createRequests(options: {
  write(pdu: Buffer): boolean;
  isPaused(): boolean;
  onLate(reference: string, answer: Pdu): void;
}): Requests {
  const open = new Map<number, Open>();
  const late = new Map<number, { command: string; reference: string }>();
  let last = 0;

  const nextSequence = (): number => {
    do last = last === LAST_SEQUENCE ? 1 : last + 1;
    while (open.has(last) || late.has(last));
    return last;
  };

  const runOut = (sequence: number): void => {
    const request = open.get(sequence);
    if (!request) return;
    if (request.reference !== undefined) {
      late.set(sequence, { command: request.command, reference: request.reference });
      const [oldest] = late.keys();
      if (late.size > MAX_LATE && oldest !== undefined) late.delete(oldest);
    }
    request.settle({ kind: 'late' });
  };

  const send: Requests['send'] = (command, fields, timeoutMs, reference) => {
    const sequence = nextSequence();
    const pdu = encodePdu(command, sequence, fields);
    if (!options.write(pdu)) return Promise.resolve({ kind: 'unwritten' });
    return new Promise((resolve) => {
      const check = () => {
        if (options.isPaused()) timer = setTimeout(check, STILL_PAUSED_MS);
        // First read what already waits in the socket: the answer may be late only because we were.
        else setImmediate(runOut, sequence);
      };
      let timer = setTimeout(check, timeoutMs);
      open.set(sequence, {
        command,
        reference,
        settle(outcome) {
          clearTimeout(timer);
          open.delete(sequence);
          resolve(outcome);
        },
      });
    });
  };

  return {
    send,
    answer(pdu) {
      const request = open.get(pdu.sequence);
      if (request && answers(pdu, request.command)) {
        request.settle({ kind: 'answered', answer: pdu });
        return true;
      }
      const missed = late.get(pdu.sequence);
      if (!missed || !answers(pdu, missed.command)) return false;
      late.delete(pdu.sequence);
      options.onLate(missed.reference, pdu);
      return true;
    },
    failAll() {
      late.clear();
      for (const request of [...open.values()]) request.settle({ kind: 'lost' });
    },
  };
}

function answers(pdu: Pdu, command: string): boolean {
  return pdu.command === `${command}_resp` || pdu.command === 'generic_nack';
}
