import {
  findKey,
  type KeyRow,
  type ToolKeyRow,
  type UsedRow,
  useKey,
  useToken,
} from '../../db/accounts/keys.ts';
import type { Sql } from '../../db/connection.ts';
import { gatherByKey } from '../../concurrency/gather.ts';

/** Looks up what requests present, by its hash; null: no such key or token is in force. */
export interface KeyLookups {
  /** Finds a key and counts the request. */
  useKey(hash: Buffer): Promise<KeyRow | null>;
  /** Finds a token of the earlier interface and counts the request. */
  useToken(hash: Buffer): Promise<UsedRow | null>;
  /** Finds a key and counts nothing. */
  findKey(hash: Buffer): Promise<ToolKeyRow | null>;
}

/**
 * One statement at a time for each key: requests that present it meanwhile go together in the next. However many come at once
 * with one key, those of others do not wait for them; and each is looked up after it came.
 */
export function createKeyLookups(sql: Sql): KeyLookups {
  const used = byHash(async (hash, requests) => counted(await useKey(sql, hash, requests), requests));
  const tokens = byHash(async (hash, requests) => counted(await useToken(sql, hash, requests), requests));
  const found = byHash(async (hash, requests) => {
    const row = await findKey(sql, hash);
    return Array.from({ length: requests }, () => row);
  });
  return { useKey: used, useToken: tokens, findKey: found };
}

function byHash<Row>(
  lookUp: (hash: Buffer, requests: number) => Promise<readonly Row[]>,
): (hash: Buffer) => Promise<Row> {
  const one = gatherByKey((hex, requests) => lookUp(Buffer.from(hex, 'hex'), requests));
  return (hash) => one(hash.toString('hex'));
}

/** For each of the requests counted in one go its own place in the window. */
function counted<Row extends UsedRow>(row: Row | null, requests: number): (Row | null)[] {
  return Array.from({ length: requests }, (_, place) =>
    row === null ? null : { ...row, used: row.used - requests + place + 1 },
  );
}
