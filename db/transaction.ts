import { type Database, LONGEST_TRANSACTION_MS, type Sql } from './connection.ts';
import { currentPatience, OutOfPatienceError } from './patience.ts';

// The time that is left for the commit itself: what is committed has been answered for.
const COMMIT_MS = 250;

// What the driver says of a connection that is gone, and the SQLSTATEs after which the server closes it.
const LOST = new Set([
  'CONNECTION_CLOSED',
  'CONNECTION_DESTROYED',
  'CONNECTION_ENDED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  '57P01',
  '57P02',
  '57P05',
]);

/**
 * Runs statements in one transaction: all of them or none.
 *
 * The driver goes on with a transaction whose connection is lost: what its code does next, the rollback included, would
 * run on that connection when it is connected again, perhaps in the middle of another transaction. So a lost
 * transaction ends here at once, and its code can do nothing more with it. So does one whose time is over: it is rolled back, also
 * where its last statement is only just answered.
 *
 * @throws what `work` throws, after a rollback; the loss of the connection; OutOfPatienceError when its caller waits no longer; an error
 *   after a minute
 */
export async function transaction<T>(sql: Database, work: (tx: Sql) => Promise<T>): Promise<T> {
  let lost: Error | undefined;
  let lose: (error: Error) => void;
  const loss = new Promise<never>((_, reject) => {
    lose = (error) => {
      lost ??= error;
      reject(lost);
    };
  });
  const tookTooLong = (): void => lose(new OutOfPatienceError('a transaction took too long'));
  let timer: NodeJS.Timeout | undefined;
  const begun = sql.begin((tx) => {
    const guarded = new Proxy(tx, {
      apply(target, self, args: unknown[]): unknown {
        if (lost) throw lost;
        return Reflect.apply(target, self, args);
      },
    });
    return new Promise<T>((resolve, reject) => {
      const settle = (value: T): void => {
        if (lost !== undefined) {
          reject(lost);
          return;
        }
        // It commits now: whoever said that nothing was done would be wrong.
        clearTimeout(timer);
        timer = setTimeout(tookTooLong, LONGEST_TRANSACTION_MS);
        resolve(value);
      };
      work(guarded).then(settle, (error: unknown) => {
        // Left unsettled when the connection is lost: the driver would answer a rejection with a rollback.
        if (isLoss(error)) lose(error);
        else reject(error instanceof Error ? error : new Error(String(error)));
      });
    });
  });
  begun.catch((error: unknown) => {
    if (isLoss(error)) lose(error);
  });
  timer = setTimeout(tookTooLong, timeLeft());
  try {
    return (await Promise.race([begun, loss])) as T;
  } finally {
    clearTimeout(timer);
  }
}

function timeLeft(): number {
  const patience = currentPatience();
  if (patience === null) return LONGEST_TRANSACTION_MS;
  return Math.min(LONGEST_TRANSACTION_MS, patience.until - COMMIT_MS - Date.now());
}

function isLoss(error: unknown): error is Error {
  return error instanceof Error && 'code' in error && LOST.has(String(error.code));
}
