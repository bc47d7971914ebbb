import type { Sql } from '../connection.ts';
import { lockPerson } from './people.ts';

/** Guesses in a row at the code of an authenticator app, of people and of staff; after that, one at a time. */
export const TOTP_GUESSES = 5;
export const TOTP_PAUSE = '15 minutes';

/** Whom an encrypted secret belongs to. */
export const totpSecretOwner = (person: string): string => `totp:${person}`;

/** The second factors of a person. */
export interface Factors {
  /** Since when there is an authenticator app; null: there is none. */
  totpSince: Date | null;
  passkeys: readonly ShownPasskey[];
  recoveryCodesLeft: number;
}

export interface ShownPasskey {
  id: string;
  label: string;
  createdAt: Date;
  lastUsedAt: Date | null;
}

export async function readFactors(sql: Sql, person: string): Promise<Factors> {
  const [row] = await sql<Omit<Factors, 'passkeys'>[]>`
    select (select created_at from totp where person_id = ${person}) as totp_since,
           (select count(*)::int from recovery_codes where person_id = ${person}) as recovery_codes_left`;
  const passkeys = await sql<ShownPasskey[]>`
    select id, label, created_at, last_used_at from passkeys where person_id = ${person} order by created_at, id`;
  return { ...row!, passkeys };
}

/** @param step of the code that proved it @returns false where the person has one */
export async function addTotp(tx: Sql, person: string, secret: Buffer, step: number): Promise<boolean> {
  const added = await tx`
    insert into totp (person_id, secret, last_step) values (${person}, ${secret}, ${step})
    on conflict (person_id) do nothing`;
  return added.count > 0;
}

export async function readTotpSecret(sql: Sql, person: string): Promise<Buffer | undefined> {
  const [row] = await sql<{ secret: Buffer }[]>`select secret from totp where person_id = ${person}`;
  return row?.secret;
}

/** Counts a guess at a person's code, before it is compared; exact under concurrency. @returns false where it may not be compared */
export async function countTotpGuess(sql: Sql, person: string): Promise<boolean> {
  const counted = await sql`
    update people set totp_guesses = least(totp_guesses + 1, ${TOTP_GUESSES}), totp_guessed_at = now()
     where id = ${person} and (totp_guesses < ${TOTP_GUESSES} or totp_guessed_at < now() - ${TOTP_PAUSE}::interval)`;
  return counted.count > 0;
}

/** Takes a code's step, once. @returns false where it, or a later one, has been taken */
export async function takeTotpStep(tx: Sql, person: string, step: number): Promise<boolean> {
  const taken = await tx`
    update totp set last_step = ${step} where person_id = ${person} and last_step < ${step}`;
  if (taken.count > 0) await tx`update people set totp_guesses = 0 where id = ${person}`;
  return taken.count > 0;
}

export interface Passkey {
  id: string;
  publicKey: Buffer;
  counter: number;
}

/** @returns false for one that is known, of whomever */
export async function addPasskey(
  tx: Sql,
  person: string,
  label: string,
  { id, publicKey, counter }: Passkey,
): Promise<boolean> {
  const added = await tx`
    insert into passkeys (id, person_id, label, public_key, counter)
    values (${id}, ${person}, ${label}, ${publicKey}, ${counter}) on conflict (id) do nothing`;
  return added.count > 0;
}

export async function readPasskey(sql: Sql, person: string, id: string): Promise<Passkey | undefined> {
  const [row] = await sql<Passkey[]>`
    select id, public_key, counter from passkeys where person_id = ${person} and id = ${id}`;
  return row;
}

export async function notePasskeyUse(tx: Sql, id: string, counter: number): Promise<void> {
  await tx`update passkeys set counter = ${counter}, last_used_at = now() where id = ${id}`;
}

/** Removes the authenticator app (null) or a passkey, and after the last of them the recovery codes. @returns false where there is none */
export async function removeFactor(tx: Sql, person: string, passkey: string | null): Promise<boolean> {
  const removed =
    passkey === null
      ? await tx`delete from totp where person_id = ${person}`
      : await tx`delete from passkeys where person_id = ${person} and id = ${passkey}`;
  await dropUselessCodes(tx, person);
  return removed.count > 0;
}

/** Removes the factors, and the recovery codes, that a person has had since a time. */
export async function removeFactorsSince(tx: Sql, person: string, since: Date): Promise<void> {
  for (const table of ['totp', 'passkeys', 'recovery_codes'])
    await tx`delete from ${tx(table)} where person_id = ${person} and created_at >= ${since}`;
  await dropUselessCodes(tx, person);
}

/** Recovery codes are of no use without a factor. */
async function dropUselessCodes(tx: Sql, person: string): Promise<void> {
  await tx`
    delete from recovery_codes where person_id = ${person}
       and not exists (select from totp where person_id = ${person})
       and not exists (select from passkeys where person_id = ${person})`;
}

/** Removes every second factor of a person and ends the sessions. */
export async function deleteFactors(tx: Sql, person: string): Promise<void> {
  await lockPerson(tx, person);
  for (const table of ['totp', 'passkeys', 'recovery_codes', 'sessions'])
    await tx`delete from ${tx(table)} where person_id = ${person}`;
}

/** Replaces all recovery codes of a person. */
export async function setRecoveryCodes(tx: Sql, person: string, hashes: readonly Buffer[]): Promise<void> {
  await tx`delete from recovery_codes where person_id = ${person}`;
  await tx`
    insert into recovery_codes ${tx(hashes.map((codeHash) => ({ code_hash: codeHash, person_id: person })))}`;
}

/** Uses a recovery code, once. @returns false for none of the person's */
export async function takeRecoveryCode(tx: Sql, person: string, hash: Buffer): Promise<boolean> {
  const taken = await tx`delete from recovery_codes where person_id = ${person} and code_hash = ${hash}`;
  return taken.count > 0;
}
