import { createHmac, timingSafeEqual } from 'node:crypto';
import { writeAudit } from '../../db/accounts/audit.ts';
import { type Database, type Sql, transaction } from '../../db/connection.ts';
import { hashSecret, newId } from '../../db/ids.ts';
import { decrypt } from '../../db/installation.ts';
import { takeSignIn } from '../../db/people/signIns.ts';
import {
  addStaffPasskey,
  addStaffSession,
  countStaffGuess,
  noteStaffPasskeyUse,
  removeStaffPasskey,
  renewStaffSession,
  staffPasskey,
  staffPasskeys,
  type StaffSession,
  staffTotpOwner,
  staffWith,
  takeOnce,
  takeStaffStep,
} from '../../db/people/staff.ts';
import { anyPasskey, madeFor, newOptions, signedBy } from './passkeys.ts';
import { type Arrival, guessCode, newSecret, requestSignIn } from './signIn.ts';
import { stepOf, TOTP_CODE } from './totp.ts';

interface ConsoleServices {
  sql: Database;
  secretsKey: Buffer;
  /** Where the console is: passkeys are bound to its host. */
  panelUrl: string;
}

type Came = Pick<Arrival, 'address' | 'device'>;

/** Sends one of staff an e-mail to begin with; anybody else is told the same. */
export async function requestStaffSignIn(
  ...[services, asked]: Parameters<typeof requestSignIn>
): Promise<Awaited<ReturnType<typeof requestSignIn>>> {
  return (await staffWith(services.sql, asked.address)) === undefined
    ? 'sent'
    : await requestSignIn(services, asked);
}

/** Begins a session by the link or the code of an e-mail: it opens nothing before the authenticator app's code. @returns its token */
export async function beginStaffSession(
  sql: Database,
  by: { link: string } | { browser: string; code: string },
  came: Came,
): Promise<{ token: string } | { left: number } | 'over'> {
  const found = 'link' in by ? { linkHash: hashSecret(by.link) } : await guessCode(sql, by);
  if (found === 'over' || 'left' in found) return found;
  return await transaction(sql, async (tx) => {
    const taken = await takeSignIn(tx, found);
    const staff = taken === undefined ? undefined : await staffWith(tx, taken.address);
    return staff === undefined ? 'over' : { token: await startSession(tx, staff.id, came, false) };
  });
}

async function startSession(tx: Sql, staffId: string, came: Came, isProved: boolean): Promise<string> {
  const token = newSecret();
  const session = { id: newId('ses'), tokenHash: hashSecret(token), staffId, isProved, ...came };
  await addStaffSession(tx, session);
  return token;
}

/** Proves a session by a code of the authenticator app. @returns the token of the session, made anew */
export async function proveStaffSession(
  { sql, secretsKey }: ConsoleServices,
  { id, sessionId, name }: StaffSession,
  code: string,
): Promise<{ token: string } | 'wrong' | 'paused'> {
  if (!TOTP_CODE.test(code)) return 'wrong';
  const guess = await countStaffGuess(sql, id);
  if (guess === undefined) return 'paused';
  const step = stepOf(decrypt(secretsKey, staffTotpOwner(id), guess.totpSecret), code, Date.now());
  if (step === null) return 'wrong';
  const token = newSecret();
  return await transaction(sql, async (tx) => {
    if (!(await takeStaffStep(tx, id, step))) return 'wrong';
    await renewStaffSession(tx, sessionId, hashSecret(token));
    await noteSignIn(tx, name, 'app');
    return { token };
  });
}

/** Signs in by a passkey alone, which the person has unlocked. @returns the session's token; null for any other response */
export async function signInByPasskey(
  services: ConsoleServices,
  { browser, challenge, response }: Answered,
  came: Came,
): Promise<{ token: string } | null> {
  if (!isOurChallenge(services, browser, challenge)) return null;
  const used = await signedBy(services, challenge, response, (id) => staffPasskey(services.sql, id));
  if (used === null) return null;
  return await transaction(services.sql, async (tx) => {
    if (!(await takeOnce(tx, challenge))) return null;
    await noteStaffPasskeyUse(tx, used.id, used.counter);
    const token = await startSession(tx, used.staffId, came, true);
    await noteSignIn(tx, used.name, 'passkey');
    return { token };
  });
}

async function noteSignIn(tx: Sql, actor: string, by: 'app' | 'passkey'): Promise<void> {
  await writeAudit(tx, { actor, action: 'console sign-in', account: null, subject: null, details: { by } });
}

/** What a browser answers a challenge with. */
interface Answered {
  /** What the challenge was bound to: the browser's secret, or the session. */
  browser: string;
  challenge: string;
  response: string;
}

/** What a browser asks a passkey by to sign in. */
export async function passkeyQuestion(services: ConsoleServices, browser: string) {
  return { ...(await anyPasskey(services)), challenge: newChallenge(services, browser) };
}

/** What a browser makes a passkey of one of staff by. */
export async function newPasskeyQuestion(
  services: ConsoleServices,
  { id, address, sessionId }: StaffSession,
) {
  const known = await staffPasskeys(services.sql, id);
  const options = await newOptions(
    services,
    { id, address },
    known.map((passkey) => passkey.id),
  );
  return { ...options, challenge: newChallenge(services, sessionId) };
}

/** Adds the passkey that a browser has made. @returns false for any other response */
export async function addPasskeyOfStaff(
  services: ConsoleServices,
  session: StaffSession,
  { label, challenge, response }: Omit<Answered, 'browser'> & { label: string },
): Promise<boolean> {
  const { id, name, sessionId } = session;
  if (!isOurChallenge(services, sessionId, challenge)) return false;
  const made = await madeFor(services, challenge, response);
  if (made === null) return false;
  return await transaction(services.sql, async (tx) => {
    const added = (await takeOnce(tx, challenge)) && (await addStaffPasskey(tx, id, label, made));
    const entry = { actor: name, action: 'staff passkey add', account: null, subject: id };
    if (added) await writeAudit(tx, { ...entry, details: { label } });
    return added;
  });
}

/** @returns false where one of staff has no such passkey */
export async function removePasskeyOfStaff(
  { sql }: ConsoleServices,
  { id, name }: StaffSession,
  passkey: string,
): Promise<boolean> {
  return await transaction(sql, async (tx) => {
    const removed = await removeStaffPasskey(tx, id, passkey);
    const entry = { actor: name, action: 'staff passkey remove', account: null, subject: id, details: {} };
    if (removed) await writeAudit(tx, entry);
    return removed;
  });
}

const CHALLENGE_MS = 5 * 60_000;
const CHALLENGE = /^([0-9a-z]{8,9})([\w-]{43})$/;

/** A challenge of this moment, for one browser: nothing is stored before it is answered. */
function newChallenge({ secretsKey }: ConsoleServices, browser: string, now = Date.now().toString(36)) {
  const seal = createHmac('sha256', secretsKey).update(`console challenge ${now} ${browser}`).digest();
  return Buffer.from(`${now}${seal.toString('base64url')}`).toString('base64url');
}

function isOurChallenge(services: ConsoleServices, browser: string, challenge: string): boolean {
  const [, made = ''] = CHALLENGE.exec(Buffer.from(challenge, 'base64url').toString()) ?? [];
  const age = Date.now() - parseInt(made, 36);
  if (!(age >= 0 && age <= CHALLENGE_MS)) return false;
  const expected = Buffer.from(newChallenge(services, browser, made));
  const given = Buffer.from(challenge);
  return expected.length === given.length && timingSafeEqual(expected, given);
}
