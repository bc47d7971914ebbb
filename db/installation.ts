import { createCipheriv, createDecipheriv, createHmac, randomBytes } from 'node:crypto';
import type { Sql } from './connection.ts';

const ALGORITHM = 'aes-256-gcm';
const VERSION = 1;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const HEADER_BYTES = 1 + NONCE_BYTES + TAG_BYTES;

/** A stored secret cannot be decrypted: wrong key, wrong owner, or damaged bytes. */
export class DecryptionError extends Error {
  override readonly name = 'DecryptionError';
}

export function keyFingerprint(key: Buffer): string {
  return createHmac('sha256', key).update('goniec secrets key').digest('hex');
}

/**
 * Encrypts a secret (AES-256-GCM): version byte, 12-byte nonce, 16-byte tag, ciphertext.
 * @param key 32 bytes @param owner what the secret belongs to, such as an account's id; authenticated, so needed to decrypt
 */
export function encrypt(key: Buffer, owner: string, plaintext: string): Buffer {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(ALGORITHM, key, nonce, { authTagLength: TAG_BYTES });
  cipher.setAAD(associatedData(owner));
  const ciphertext = Buffer.concat([cipher.update(plaintext, 'utf8'), cipher.final()]);
  return Buffer.concat([Buffer.of(VERSION), nonce, cipher.getAuthTag(), ciphertext]);
}

/** Decrypts the result of {@link encrypt} for the same key and owner. @throws DecryptionError */
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

// Authenticates the version too: bytes of a later format must not pass as this one.
function associatedData(owner: string): Buffer {
  return Buffer.from(`${VERSION}:${owner}`);
}

/** Sets a fact of this installation once: the first of concurrent callers to commit wins. @returns the value, and whether it is ours */
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

export async function readFact(sql: Sql, name: string): Promise<string | null> {
  const [row] = await sql<{ value: string }[]>`select value from installation where name = ${name}`;
  return row?.value ?? null;
}
