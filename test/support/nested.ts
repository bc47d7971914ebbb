import type { Database, Sql } from '../../db/connection.ts';

/** A transaction in place of a pool: what begins a transaction of its own then works in this one. */
export function asDatabase(tx: Sql): Database {
  return { begin: (work: (within: Sql) => unknown) => work(tx) } as unknown as Database;
}
