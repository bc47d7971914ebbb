import { createSemaphore } from '../../concurrency/semaphore.ts';
import type { Sought } from '../../domain/search.ts';
import { type Database, readUnlessSlow, type Sql } from '../connection.ts';
import { type HitKind, KINDS } from './kinds.ts';
import { HITS_MAX, type Place, placesOf, READ_MAX } from './places.ts';

/** Something that was found. */
export interface Hit {
  /** Null for what only its account and its number or address name. */
  id: string | null;
  accountId: string | null;
  at: Date | null;
  about: string | null;
  /** The number or address of a person. */
  whom: string | null;
}

export interface HitGroup {
  kind: HitKind;
  /** What of them is as sought. */
  by: string;
  /** The newest. */
  hits: Hit[];
  hasMore: boolean;
  /** The place was given up: what is there is not known. */
  tooSlow: boolean;
}

const STATEMENT_MS = 2_000;
// Of a pool of ten, which others need meanwhile.
const places = createSemaphore({ places: 6 });

/** What is as sought, over all accounts or of one; each place by a statement of its own. */
export async function readHits(sql: Database, sought: Sought, accountId: string | null): Promise<HitGroup[]> {
  const groups = await Promise.all(placesOf(sought).map((place) => readPlace(sql, place, accountId)));
  return groups.filter(({ hits, tooSlow }) => hits.length > 0 || tooSlow);
}

async function readPlace(sql: Database, place: Place, accountId: string | null): Promise<HitGroup> {
  const { kind, by } = place;
  const read = (tx: Sql) => tx<Hit[]>`
    select * from (${rowsOf(tx, place, accountId)}) found (id, account_id, at, about, whom)
     where ${accountId === null ? tx`true` : tx`account_id = ${accountId}`}
     order by at desc, id desc limit ${READ_MAX}`;
  const hits = await places.run(undefined, () => readUnlessSlow(sql, STATEMENT_MS, read));
  if (hits === null) return { kind, by, hits: [], hasMore: false, tooSlow: true };
  return { kind, by, hits: hits.slice(0, HITS_MAX), hasMore: hits.length > HITS_MAX, tooSlow: false };
}

/** The rows of a place, as KINDS has their columns. */
function rowsOf(sql: Sql, { kind, condition, ofEachAccount }: Place, accountId: string | null) {
  const [table, columns] = KINDS[kind](sql);
  if (ofEachAccount === undefined) return sql`select ${columns} from ${table} t where ${condition(sql)}`;
  const accounts =
    accountId === null ? sql`accounts` : sql`(select id from accounts where id = ${accountId})`;
  const ofAccount = sql`from ${table} t where t.account_id = a.id and ${condition(sql)}`;
  if (ofEachAccount === 'id') {
    // The index alone says which are the newest of all.
    return sql`
      select ${columns} from ${table} t where t.id = any(array(
        select n.id from ${accounts} a cross join lateral (
          select t.id ${ofAccount} order by t.id desc limit ${READ_MAX}) n order by n.id desc limit ${READ_MAX}))`;
  }
  const order = ofEachAccount === null ? sql`` : sql`order by ${sql(`t.${ofEachAccount}`)} desc`;
  return sql`
    select ${columns} from ${accounts} a cross join lateral (select t.* ${ofAccount} ${order} limit ${READ_MAX}) t`;
}
