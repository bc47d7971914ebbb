import { createCipheriv, createDecipheriv, createHmac, randomBytes } from 'node:crypto';
import type { Sql } from './connection.ts';

const ALGORITHM = 'aes-256-gcm';
const VERSION = 1;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const HEADER_BYTES = 1 + NONCE_BYTES + TAG_BYTES;

/** A stored secret that cannot be read: another key, another account, or damaged bytes. */
export class DecryptionError extends Error {
  override readonly name = 'DecryptionError';
}

/** What a database remembers of its key. */
export function keyFingerprint(key: Buffer): string {
  return createHmac('sha256', key).update('goniec secrets key').digest('hex');
}

/**
 * Encrypts a secret for storage (AES-256-GCM): version byte, 12-byte nonce, 16-byte tag, ciphertext.
 *
 * @param key the installation's secrets key, 32 bytes
 * @param owner what the secret belongs to, an account's id; it can be decrypted with the same owner only
 */
export function encrypt(key: Buffer, owner: string, plaintext: string): Buffer {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(ALGORITHM, key, nonce, { authTagLength: TAG_BYTES });
  cipher.setAAD(associatedData(owner));
  const ciphertext = Buffer.concat([cipher.update(plaintext, 'utf8'), cipher.final()]);
  return Buffer.concat([Buffer.of(VERSION), nonce, cipher.getAuthTag(), ciphertext]);
}

/**
 * Decrypts what {@link encrypt} made for the same key and owner.
 * @throws DecryptionError when it was not made so, or was changed
 */
export function decrypt(key: Buffer, owner: string, stored: Buffer): string {
  if (stored.length < HEADER_BYTES || stored[0] !== VERSION) {
    throw new DecryptionError('unknown format of a stored secret');
  }
  const nonce = stored.subarray(1, 1 + NONCE_BYTES);
  const decipher = createDecipheriv(ALGORITHM, key, nonce, { authTagLength: TAG_BYTES });
  decipher.setAAD(associatedData(owner));
  decipher.setAuthTag(stored.subarray(1 + NONCE_BYTES, HEADER_BYTES));
  try {
    return Buffer.concat([decipher.update(stored.subarray(HEADER_BYTES)), decipher.final()]).toString('utf8');
  } catch (error) {
    throw new DecryptionError('the stored secret does not match the secrets key', { cause: error });
  }
}

// The version is bound too: bytes of a later format must not pass as this one.
function associatedData(owner: string): Buffer {
  return Buffer.from(`${VERSION}:${owner}`);
}

/**
 * Claims a single fact of this installation. Of several concurrent callers the first to commit wins; the others wait
 * for it and get its value.
 * @returns the value that stands, and whether it is the one given
 */
export async function claimFact(
  sql: Sql,
  name: string,
  value: string,
): Promise<{ value: string; claimed: boolean }> {
  const claimed = await sql`
    insert into installation (name, value) values (${name}, ${value}) on conflict (name) do nothing`;
  if (claimed.count === 1) return { value, claimed: true };
  const standing = await readFact(sql, name);
  if (standing === null) throw new Error(`installation.${name} was taken away while it was being read`);
  return { value: standing, claimed: false };
}

/** A fact of this installation; null where nobody has claimed it. */
export async function readFact(sql: Sql, name: string): Promise<string | null> {
  const [row] = await sql<{ value: string }[]>`select value from installation where name = ${name}`;
  return row?.value ?? null;
}
