import type { Session } from './session.ts';

/** So long a submit waits for a session to come back before the route counts as broken to it. */
const WITHOUT_SESSION_MS = 2_000;

/** Places in the windows of all sessions of a route, given out in the order they are asked for. */
export interface Room {
  /**
   * Waits for a place in a window, the emptiest first, and holds it.
   * @returns null when there has been no session for two seconds, or none will come
   */
  hold(): Promise<Session | null>;
  /** Gives a place back; whoever used it has submitted by now. */
  release(session: Session): void;
  /** A place that is free at this moment, not held. */
  free(): Session | null;
  /** To be called when there are other sessions than before, or more places. */
  changed(): void;
  /** Nobody gets a place any more. */
  close(): void;
}

/** @param accepting the sessions that take submits */
export function createRoom(accepting: () => Session[]): Room {
  const held = new WeakMap<Session, number>();
  const waiting: ((session: Session | null) => void)[] = [];
  let withoutSince = Date.now();
  let patience: NodeJS.Timeout | undefined;
  let closed = false;

  const heldOf = (session: Session) => held.get(session) ?? 0;
  const free = (): Session | null => {
    let best: Session | null = null;
    let most = 0;
    for (const session of accepting()) {
      const places = session.room() - heldOf(session);
      if (places > most) [best, most] = [session, places];
    }
    return best;
  };

  const sendAway = (): void => {
    for (const resolve of waiting.splice(0)) resolve(null);
  };
  const watch = (): void => {
    if (accepting().length > 0) {
      withoutSince = Number.POSITIVE_INFINITY;
      clearTimeout(patience);
      patience = undefined;
      return;
    }
    withoutSince = Math.min(withoutSince, Date.now());
    if (waiting.length === 0) return;
    patience ??= setTimeout(
      () => {
        patience = undefined;
        sendAway();
      },
      Math.max(withoutSince + WITHOUT_SESSION_MS - Date.now(), 0),
    );
  };

  const changed = (): void => {
    watch();
    while (waiting.length > 0) {
      const session = free();
      if (session === null) return;
      held.set(session, heldOf(session) + 1);
      waiting.shift()?.(session);
    }
  };

  return {
    free,
    changed,
    hold: () =>
      new Promise((resolve) => {
        if (closed || Date.now() - withoutSince >= WITHOUT_SESSION_MS) return resolve(null);
        waiting.push(resolve);
        changed();
      }),
    release(session) {
      held.set(session, heldOf(session) - 1);
      changed();
    },
    close() {
      closed = true;
      clearTimeout(patience);
      sendAway();
    },
  };
}
