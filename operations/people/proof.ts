import { type Database, type Sql, transaction } from '../../db/connection.ts';
import { hashSecret } from '../../db/ids.ts';
import { decrypt } from '../../db/installation.ts';
import {
  countTotpGuess,
  notePasskeyUse,
  readTotpSecret,
  takeRecoveryCode,
  takeTotpStep,
  totpSecretOwner,
} from '../../db/people/factors.ts';
import { renewSession, type SessionRow } from '../../db/people/sessions.ts';
import { type PasskeyServices, usedPasskey } from './passkeys.ts';
import { isRecoveryCode } from './recoveryCodes.ts';
import { newSecret } from './signIn.ts';
import { stepOf, TOTP_CODE } from './totp.ts';

export interface ProofServices extends PasskeyServices {
  sql: Database;
  secretsKey: Buffer;
}

/** What a person proves a second factor by: a code of the app or a recovery code, or a passkey's response. */
export type Proof = { code: string } | { passkey: string };

/** `malformed`: it is no code at all, and no guess; `paused`: too many wrong codes. */
export type NotProved = 'malformed' | 'wrong' | 'paused';

/** Proves the second factor of a session's person, by which the session is made anew. @returns its token */
export async function proveFactor(
  services: ProofServices,
  session: SessionRow,
  proof: Proof,
): Promise<{ token: string } | NotProved> {
  if ('passkey' in proof) return await byPasskey(services, session, proof.passkey);
  const code = proof.code.replace(/[\s-]/g, '').toUpperCase();
  if (TOTP_CODE.test(code)) return await byApp(services, session, code);
  if (!isRecoveryCode(code)) return 'malformed';
  return await renewed(services, session, (tx) => takeRecoveryCode(tx, session.personId, hashSecret(code)));
}

async function byApp(services: ProofServices, session: SessionRow, code: string) {
  const { sql, secretsKey } = services;
  const { personId } = session;
  if (!(await countTotpGuess(sql, personId))) return 'paused';
  const stored = await readTotpSecret(sql, personId);
  if (stored === undefined) return 'wrong';
  const step = stepOf(decrypt(secretsKey, totpSecretOwner(personId), stored), code, Date.now());
  if (step === null) return 'wrong';
  return await renewed(services, session, (tx) => takeTotpStep(tx, personId, step));
}

async function byPasskey(services: ProofServices, session: SessionRow, response: string) {
  const used = await usedPasskey(services, session, response);
  if (used === null) return 'wrong';
  return await renewed(services, session, async (tx) => {
    await notePasskeyUse(tx, used.id, used.counter);
    return true;
  });
}

async function renewed(
  { sql }: ProofServices,
  { id }: SessionRow,
  take: (tx: Sql) => Promise<boolean>,
): Promise<{ token: string } | 'wrong'> {
  const token = newSecret();
  return await transaction(sql, async (tx) => {
    if (!(await take(tx))) return 'wrong';
    await renewSession(tx, id, hashSecret(token));
    return { token };
  });
}
