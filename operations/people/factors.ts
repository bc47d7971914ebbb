import { type Request, writeAudit } from '../../db/accounts/audit.ts';
import { lockAccount } from '../../db/accounts/staff.ts';
import { type Sql, transaction, withNamedLock } from '../../db/connection.ts';
import { hashSecret } from '../../db/ids.ts';
import { encrypt } from '../../db/installation.ts';
import { countEmail, type EmailLimit } from '../../db/people/emailLimits.ts';
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
import { sendOwnEmail } from '../email/ownEmail.ts';
import { createdPasskey, type PasskeyServices } from './passkeys.ts';
import { newRecoveryCodes } from './recoveryCodes.ts';
import { budgetOf, type MailServices, newSecret } from './signIn.ts';
import { stepOf, TOTP_CODE } from './totp.ts';

/** Of a person. */
export const PASSKEYS_MAX = 10;

type FactorKind = 'totp' | 'passkey';

type FactorServices = MailServices & PasskeyServices & { secretsKey: Buffer };

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
export type NotEnrolled = 'wrong' | 'taken' | EmailLimit;

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
  const limit = await countTold(services, change);
  if (limit !== null) return limit;
  const token = newSecret();
  const enrolled = await changing(services, change, { action: 'factors add', kind }, async (tx) => {
    if (!(await add(tx))) return null;
    const { recoveryCodesLeft } = await readFactors(tx, personId);
    const recoveryCodes = recoveryCodesLeft === 0 ? await replaceRecoveryCodes(tx, personId) : null;
    await renewSession(tx, id, hashSecret(token));
    return { token, recoveryCodes };
  });
  return enrolled ?? 'taken';
}

/** Removes the authenticator app (null) or a passkey. @returns false where there is none */
export async function removeSecondFactor(
  services: FactorServices,
  change: Change,
  passkey: string | null,
): Promise<boolean> {
  // It protects, so no limit refuses it: no more can be removed than were added.
  await countTold(services, change);
  const act = { action: 'factors remove', kind: passkey === null ? 'totp' : 'passkey' };
  const removed = await changing(services, change, act, async (tx) =>
    (await removeFactor(tx, change.session.personId, passkey)) ? true : null,
  );
  return removed !== null;
}

/** Makes ten new recovery codes in place of all former ones. @returns null for a person without a second factor */
export async function renewRecoveryCodes(
  services: FactorServices,
  change: Change,
): Promise<readonly string[] | EmailLimit | null> {
  const { personId, hasFactor } = change.session;
  if (!hasFactor) return null;
  const limit = await countTold(services, change);
  if (limit !== null) return limit;
  return await changing(services, change, { action: 'factors renew' }, (tx) =>
    replaceRecoveryCodes(tx, personId),
  );
}

async function replaceRecoveryCodes(tx: Sql, person: string): Promise<string[]> {
  const codes = newRecoveryCodes();
  await setRecoveryCodes(tx, person, codes.map(hashSecret));
  return codes;
}

/** Counts the e-mail that will tell of a change. */
async function countTold(services: FactorServices, { session }: Change): Promise<EmailLimit | null> {
  const { personId, address } = session;
  const email = { kind: 'factors', address, asker: personId, forPerson: true } as const;
  const counted = await withNamedLock(services.sql, `e-mails for ${personId}`, (tx) =>
    countEmail(tx, email, budgetOf(services)),
  );
  return 'limited' in counted ? counted : null;
}

/** Changes factors; notes it in every account of the person, which its owner sees; and tells the person. @param make null: nothing has changed */
async function changing<Made>(
  services: FactorServices,
  { session, request, email }: Change,
  { action, ...details }: { action: string; kind?: string },
  make: (tx: Sql) => Promise<Made | null>,
): Promise<Made | null> {
  const { personId, address } = session;
  const made = await transaction(services.sql, async (tx) => {
    await lockPerson(tx, personId);
    // Before sessions, as when a role changes.
    const accounts = (await membershipsOf(tx, personId)).map(({ accountId }) => accountId).sort();
    for (const account of accounts) await lockAccount(tx, account);
    const done = await make(tx);
    const entry = { actor: personId, action, subject: personId, details, request, protective: true };
    if (done !== null) for (const account of accounts) await writeAudit(tx, { ...entry, account });
    return done;
  });
  if (made !== null)
    await sendOwnEmail(services, { to: address, ...email, idx: `factor:${request.requestId}` });
  return made;
}
