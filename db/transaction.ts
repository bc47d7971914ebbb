import { type Database, LONGEST_TRANSACTION_MS, type Sql } from './connection.ts';
import { checkPatience, currentPatience, OutOfPatienceError } from './patience.ts';

// The time that is left for the commit itself: what is committed has been answered for.
const COMMIT_MS = 250;

/**
 * Runs statements in one transaction: all of them or none. One whose time is over ends here at once, and its code can do
 * nothing more with it: it is rolled back, also where its last statement is only just answered. One whose connection is
 * lost ends the same way; that is the driver's work (`patches/`).
 *
 * @throws what `work` throws, after a rollback; the loss of the connection; OutOfPatienceError when its caller waits no longer, or
 *   after a minute
 */
export async function transaction<T>(sql: Database, work: (tx: Sql) => Promise<T>): Promise<T> {
  const limit = timeLimit(timeLeft());
  const begun = sql.begin(async (tx) => {
    const done = await work(guarded(tx, limit));
    limit.check();
    checkPatience();
    // It commits now: whoever said that nothing was done would be wrong.
    limit.restart(LONGEST_TRANSACTION_MS);
    return done;
  });
  try {
    return (await Promise.race([begun, limit.reached])) as T;
  } finally {
    limit.stop();
  }
}

interface TimeLimit {
  /** Rejects when it is reached, and never ends otherwise. */
  reached: Promise<never>;
  /** @throws OutOfPatienceError when it has been reached */
  check(): void;
  restart(ms: number): void;
  stop(): void;
}

function timeLimit(ms: number): TimeLimit {
  let over: OutOfPatienceError | undefined;
  let timer: NodeJS.Timeout | undefined;
  let reach: (error: OutOfPatienceError) => void;
  const reached = new Promise<never>((_, reject) => (reach = reject));
  const restart = (left: number): void => {
    clearTimeout(timer);
    timer = setTimeout(
      () => {
        over = new OutOfPatienceError('a transaction took too long');
        reach(over);
      },
      Math.max(left, 0),
    );
  };
  restart(ms);
  const check = (): void => {
    if (over !== undefined) throw over;
  };
  return { reached, check, restart, stop: () => clearTimeout(timer) };
}

/** The same transaction, until its time is over: every further statement throws then. */
function guarded<Tx extends Sql>(tx: Tx, limit: TimeLimit): Tx {
  return new Proxy(tx, {
    apply(target, self, args: unknown[]): unknown {
      limit.check();
      return Reflect.apply(target, self, args);
    },
  });
}

function timeLeft(): number {
  const patience = currentPatience();
  if (patience === null) return LONGEST_TRANSACTION_MS;
  return Math.min(LONGEST_TRANSACTION_MS, patience.until - COMMIT_MS - Date.now());
}
