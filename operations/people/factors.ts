import { type Request, writeAudit } from '../../db/accounts/audit.ts';
import { lockAccount } from '../../db/accounts/staff.ts';
import { type Database, type Sql, transaction } from '../../db/connection.ts';
import { hashSecret } from '../../db/ids.ts';
import { encrypt } from '../../db/installation.ts';
import {
  addPasskey,
  addTotp,
  readFactors,
  removeFactor,
  setRecoveryCodes,
  totpSecretOwner,
} from '../../db/people/factors.ts';
import { lockPerson, membershipsOf } from '../../db/people/people.ts';
import { renewSession, type SessionRow } from '../../db/people/sessions.ts';
import { type OwnEmailServices, sendOwnEmail } from '../email/ownEmail.ts';
import { createdPasskey, type PasskeyServices } from './passkeys.ts';
import { newRecoveryCodes } from './recoveryCodes.ts';
import { newSecret } from './signIn.ts';
import { stepOf, TOTP_CODE } from './totp.ts';

/** Of a person. */
export const PASSKEYS_MAX = 10;

export type FactorKind = 'totp' | 'passkey';

type FactorServices = OwnEmailServices & PasskeyServices & { sql: Database; secretsKey: Buffer };

/** A change of a person's factors, and the e-mail that tells of it. */
interface Change {
  session: SessionRow;
  request: Request;
  email: { subject: string; text: string };
}

export interface Enrolled {
  /** Of the session, made anew. */
  token: string;
  /** New ones, if the person had none; null otherwise. */
  recoveryCodes: readonly string[] | null;
}

/** `wrong`: the code, or the passkey's response; `taken`: there is one already. */
export type NotEnrolled = 'wrong' | 'taken';

/** Adds an authenticator app, which a code proves to know the secret. */
export async function enrolTotp(
  services: FactorServices,
  change: Change,
  { secret, code }: { secret: string; code: string },
): Promise<Enrolled | NotEnrolled> {
  const step = TOTP_CODE.test(code) ? stepOf(secret, code, Date.now()) : null;
  if (step === null) return 'wrong';
  const { personId } = change.session;
  const sealed = encrypt(services.secretsKey, totpSecretOwner(personId), secret);
  return await enrol(services, change, 'totp', (tx) => addTotp(tx, personId, sealed, step));
}

/** Adds a passkey by the response of the browser that made it. */
export async function enrolPasskey(
  services: FactorServices,
  change: Change,
  { label, response }: { label: string; response: string },
): Promise<Enrolled | NotEnrolled> {
  const passkey = await createdPasskey(services, change.session, response);
  if (passkey === null) return 'wrong';
  const { personId } = change.session;
  return await enrol(services, change, 'passkey', async (tx) => {
    const { passkeys } = await readFactors(tx, personId);
    return passkeys.length < PASSKEYS_MAX && (await addPasskey(tx, personId, label, passkey));
  });
}

async function enrol(
  services: FactorServices,
  change: Change,
  kind: FactorKind,
  add: (tx: Sql) => Promise<boolean>,
): Promise<Enrolled | NotEnrolled> {
  const { id, personId } = change.session;
  const token = newSecret();
  const enrolled = await transaction(services.sql, async (tx) => {
    await lockPerson(tx, personId);
    if (!(await add(tx))) return 'taken';
    const { recoveryCodesLeft } = await readFactors(tx, personId);
    const recoveryCodes = recoveryCodesLeft === 0 ? await replaceRecoveryCodes(tx, personId) : null;
    // The account is locked before sessions, as when a role changes.
    await note(tx, change, 'factors add', kind);
    await renewSession(tx, id, hashSecret(token));
    return { token, recoveryCodes };
  });
  if (enrolled !== 'taken') await tell(services, change);
  return enrolled;
}

/** Removes the authenticator app (null) or a passkey. @returns false where there is none */
export async function removeSecondFactor(
  services: FactorServices,
  change: Change,
  passkey: string | null,
): Promise<boolean> {
  const { personId } = change.session;
  const removed = await transaction(services.sql, async (tx) => {
    await lockPerson(tx, personId);
    if (!(await removeFactor(tx, personId, passkey))) return false;
    await note(tx, change, 'factors remove', passkey === null ? 'totp' : 'passkey');
    return true;
  });
  if (removed) await tell(services, change);
  return removed;
}

/** Makes ten new recovery codes in place of all former ones. @returns null for a person without a second factor */
export async function renewRecoveryCodes(
  sql: Database,
  { personId, hasFactor }: SessionRow,
): Promise<readonly string[] | null> {
  if (!hasFactor) return null;
  return await transaction(sql, async (tx) => {
    await lockPerson(tx, personId);
    return await replaceRecoveryCodes(tx, personId);
  });
}

async function replaceRecoveryCodes(tx: Sql, person: string): Promise<string[]> {
  const codes = newRecoveryCodes();
  await setRecoveryCodes(tx, person, codes.map(hashSecret));
  return codes;
}

/** Notes a change in every account of the person, which its owner sees. */
async function note(tx: Sql, { session, request }: Change, action: string, kind: FactorKind): Promise<void> {
  const { personId } = session;
  const accounts = (await membershipsOf(tx, personId)).map(({ accountId }) => accountId).sort();
  for (const account of accounts) {
    await lockAccount(tx, account);
    const details = { kind };
    await writeAudit(tx, {
      ...{ actor: personId, action, account, subject: personId, details, request },
      protective: true,
    });
  }
}

async function tell(services: FactorServices, { session, request, email }: Change): Promise<void> {
  await sendOwnEmail(services, { to: session.address, ...email, idx: `factor:${request.requestId}` });
}
