import { createFairSemaphore, type Semaphore } from '../concurrency/semaphore.ts';
import type { Database, PoolState } from './connection.ts';
import { currentPatience, limitOf, type Patience, withPatience } from './patience.ts';

const NONE_FREE = 'no connection in time';

/** What a statement of the driver has that this needs: it is handed on when somebody waits for it first. */
interface Statement extends PromiseLike<unknown> {
  handler: (statement: Statement) => void;
}

/**
 * A pool whose connections are shared out fairly among the owners of {@link currentPatience}: the driver hands statements out as they come, and
 * puts what finds no free connection behind whatever runs on a busy one. Here a statement or transaction with an owner waits for a
 * place first, for as long as its caller does, who leaves the queue when gone. One owner has at most five of eight places, so that
 * others find one at once. Statements without an owner, and those of a transaction, go ahead.
 *
 * @param places how many connections the pool has
 */
export function fairDatabase(sql: Database, places: number): Database {
  const queue = createFairSemaphore(places, Math.max(Math.ceil((places * 5) / 8), 1));
  const unsafe = (...args: Parameters<Database['unsafe']>) => waitsForPlace(queue, sql.unsafe(...args));
  const begin = async (work: (tx: never) => Promise<unknown>): Promise<unknown> => {
    const patience = currentPatience();
    if (!isOwned(patience)) return await sql.begin(work as never);
    // What is asked beside it must not wait for a place that this one keeps.
    const inside = () => withPatience({ ...patience, owner: null }, () => sql.begin(work as never));
    return await queue.run(patience.owner, inside, limitOf(patience, NONE_FREE));
  };
  const state = (): PoolState => {
    const { waiting, ...pool } = sql.poolState();
    return { ...pool, waiting: waiting + queue.waiting() };
  };
  return new Proxy(sql, {
    apply: (target, self, args: unknown[]): unknown =>
      waitsForPlace(queue, Reflect.apply(target, self, args) as unknown),
    get: (target, name): unknown => {
      if (name === 'unsafe') return unsafe;
      if (name === 'begin') return begin;
      if (name === 'poolState') return state;
      return Reflect.get(target, name) as unknown;
    },
  });
}

function waitsForPlace<T>(queue: Semaphore<string>, made: T): T {
  const patience = currentPatience();
  if (!isOwned(patience) || !isStatement(made)) return made;
  const { handler } = made;
  made.handler = (statement) => {
    queue.enter(patience.owner, limitOf(patience, NONE_FREE)).then(
      (giveBack) => {
        statement.then(giveBack, giveBack);
        handler(statement);
      },
      (error: unknown) => (statement as Statement & { reject(error: unknown): void }).reject(error),
    );
  };
  return made;
}

function isOwned(patience: Patience | null): patience is Patience & { owner: string } {
  return patience !== null && patience.owner !== null;
}

/** Not the names and lists that the same tag makes for use within statements. */
function isStatement(made: unknown): made is Statement {
  return typeof made === 'object' && made !== null && 'handler' in made && 'then' in made;
}
