import { randomBytes } from 'node:crypto';
import type { Sql } from '../connection.ts';
import { hashKey } from './apiKeys.ts';

const PREFIX = 'goniec_';
const RANDOM_BYTES = 20;
const SHOWN_LENGTH = 4;

/** A fresh token of the earlier interface: `token` goes to its owner once, `hash` and `hint` are what is kept. */
export interface NewApiToken {
  token: string;
  hash: Buffer;
  /** Prefix and last four characters, by which people tell tokens apart. */
  hint: string;
}

/** Makes a token: a fixed prefix, an underscore and 40 hexadecimal digits, 160 bits (v1.2.0, Authentication, 1). */
export function newApiToken(): NewApiToken {
  const random = randomBytes(RANDOM_BYTES).toString('hex');
  const token = PREFIX + random;
  return { token, hash: hashKey(token), hint: `${PREFIX}…${random.slice(-SHOWN_LENGTH)}` };
}

/** A token as staff see it. */
export interface TokenDetails {
  id: string;
  accountId: string;
  hint: string;
  label: string;
  /** Requests a minute. */
  rateLimitPerMinute: number;
  createdAt: Date;
  lastUsedAt: Date | null;
  revokedAt: Date | null;
}

function tokenColumns(sql: Sql) {
  return sql`id, account_id, hint, label, rate_limit_per_minute, created_at, last_used_at, revoked_at`;
}

/** Stores a token by its hash. */
export async function insertToken(
  sql: Sql,
  token: { id: string; account: string; hash: Buffer; hint: string; label: string; rateLimit: number },
): Promise<void> {
  await sql`
    insert into api_tokens (id, account_id, hash, hint, label, rate_limit_per_minute)
    values (${token.id}, ${token.account}, ${token.hash}, ${token.hint}, ${token.label}, ${token.rateLimit})`;
}

/** The token, locked against other staff until the transaction ends. Undefined: no such token. */
export async function lockToken(sql: Sql, id: string): Promise<TokenDetails | undefined> {
  const [row] = await sql<
    TokenDetails[]
  >`select ${tokenColumns(sql)} from api_tokens where id = ${id} for update`;
  return row;
}

/** Revokes a token from this moment on; one revoked before keeps its time. Undefined: no such token. */
export async function revokeToken(sql: Sql, id: string): Promise<TokenDetails | undefined> {
  const [row] = await sql<TokenDetails[]>`
    update api_tokens set revoked_at = coalesce(revoked_at, now()) where id = ${id}
    returning ${tokenColumns(sql)}`;
  return row;
}

/** The tokens of an account, revoked ones too, the oldest first. */
export async function listTokens(sql: Sql, account: string): Promise<TokenDetails[]> {
  return [
    ...(await sql<TokenDetails[]>`
      select ${tokenColumns(sql)} from api_tokens where account_id = ${account} order by id`),
  ];
}
