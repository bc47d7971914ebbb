import { createHmac, randomBytes, randomInt, timingSafeEqual } from 'node:crypto';
import { type Request, writeAudit } from '../../db/accounts/audit.ts';
import { type Database, type Sql, transaction, violates } from '../../db/connection.ts';
import { hashSecret, newId } from '../../db/ids.ts';
import { readInvitation } from '../../db/people/invitations.ts';
import { addUndoLink } from '../../db/people/addressChanges.ts';
import type { EmailBudget, EmailLimit } from '../../db/people/emailLimits.ts';
import { addMembership, ensurePerson, lockMemberships, membershipsOf } from '../../db/people/people.ts';
import { addSession, endSessionOf } from '../../db/people/sessions.ts';
import { addSignIn, countGuess, noteOpening, type TakenSignIn, takeSignIn } from '../../db/people/signIns.ts';
import { maskAddress } from '../../domain/email/address.ts';
import { invitationOf } from '../../domain/people.ts';
import { openTestAccount } from '../accounts/accounts.ts';
import { type OwnEmailServices, sendOwnEmail } from '../email/ownEmail.ts';

/** Random, 256 bits; only its hash is stored. */
export const SECRET = /^[\w-]{43}$/;

export function newSecret(): string {
  return randomBytes(32).toString('base64url');
}

/** A code can be guessed from a plain hash of it, the browser's secret cannot. */
function hashCode(code: string, browser: string): Buffer {
  return createHmac('sha256', browser).update(code).digest();
}

const CODES = 1_000_000;
const CODE_DIGITS = 6;

/** What e-mails to people are sent with. */
export interface MailServices extends OwnEmailServices {
  sql: Database;
  /** E-mails on a Polish day: to anybody, and for people after those. */
  settings: { SIGN_UP_EMAILS_A_DAY: number; SIGN_IN_EMAILS_A_DAY: number };
}

export function budgetOf({ settings }: MailServices): EmailBudget {
  return { toAnybody: settings.SIGN_UP_EMAILS_A_DAY, toAll: settings.SIGN_IN_EMAILS_A_DAY };
}

interface SignInRequest {
  /** As made by `signInAddress`. */
  address: string;
  /** Of who asks, as made by `limitedNetwork`. */
  network: string;
  /** The secret of the browser that asks. */
  browser: string;
  /** Path to open afterwards, as made by `ownPath`. */
  next: string | null;
  /** The e-mail with the link of this token, and this code. */
  words: (token: string, code: string) => { subject: string; text: string };
}

/**
 * Sends an e-mail to sign in by: a link, and a code for the browser that asks. Says and does the same whether somebody has the address.
 * @returns `to_people`: no more goes to addresses of nobody today; `unavailable`: no e-mail can be sent
 */
export async function requestSignIn(
  services: MailServices,
  { address, network, browser, next, words }: SignInRequest,
): Promise<'sent' | 'to_people' | 'unavailable' | EmailLimit> {
  if (services.ownEmailAccount === null) return 'unavailable';
  const id = newId('sin');
  const token = newSecret();
  const code = String(randomInt(CODES)).padStart(CODE_DIGITS, '0');
  const hashes = {
    browserHash: hashSecret(browser),
    linkHash: hashSecret(token),
    codeHash: hashCode(code, browser),
  };
  const added = await addSignIn(services.sql, { id, address, network, next, ...hashes }, budgetOf(services));
  if ('limited' in added) return added;
  const send = () => sendOwnEmail(services, { to: address, ...words(token, code), idx: id, secret: true });
  if (added.peopleOnly) {
    // Nobody waits for it: the time that it takes would tell who is known.
    if (added.isSent)
      void send().catch((err: unknown) => services.log.error({ err }, 'sign-in e-mail not sent'));
    return 'to_people';
  }
  return (await send()).state === 'accepted' ? 'sent' : 'unavailable';
}

/** Who signs in: request, device, and the token of the session that this browser has had. */
export interface Arrival extends Request {
  device: string | null;
  replaced: string | null;
}

export interface SignedIn {
  /** Of the new session. */
  token: string;
  next: string | null;
}

/** Nobody is signed in, as the address was given up lately; by the link of this token its person gets it back. */
export interface GivenUp {
  undo: string;
}

/** Why nobody is signed in. `over`: used, expired, or unknown; `too_many_accounts`: the network has opened its accounts of the day. */
export type NotSignedIn = 'over' | 'too_many_accounts';

/** Signs in by the token of a link, once. A first sign-in opens a test account. */
export async function signInByLink(
  sql: Database,
  token: string,
  arrival: Arrival,
): Promise<SignedIn | GivenUp | NotSignedIn> {
  return await signIn(sql, { linkHash: hashSecret(token) }, arrival);
}

/** Signs in by a code, in the browser that asked for it. @returns how many are left of a wrong code */
export async function signInByCode(
  sql: Database,
  { browser, code }: { browser: string; code: string },
  arrival: Arrival,
): Promise<SignedIn | GivenUp | NotSignedIn | { left: number }> {
  const guess = await guessCode(sql, { browser, code });
  return guess === 'over' || 'left' in guess ? guess : await signIn(sql, guess, arrival);
}

/** The sign-in of a right code, or how many guesses are left after a wrong one. Guesses count before they are compared. */
export async function guessCode(
  sql: Sql,
  { browser, code }: { browser: string; code: string },
): Promise<{ id: string } | { left: number } | 'over'> {
  const guess = await countGuess(sql, hashSecret(browser));
  if (guess === undefined) return 'over';
  const isRight = timingSafeEqual(hashCode(code, browser), guess.codeHash);
  return isRight ? { id: guess.id } : { left: guess.left };
}

/** Undoes the sign-in, whose link can be used another day. */
class TooManyAccountsError extends Error {
  override readonly name = 'TooManyAccountsError';
}

async function signIn(
  sql: Database,
  by: Parameters<typeof takeSignIn>[1],
  arrival: Arrival,
): Promise<SignedIn | GivenUp | NotSignedIn> {
  const token = newSecret();
  try {
    return await transaction(sql, async (tx) => {
      const taken = await takeSignIn(tx, by);
      if (taken === undefined) return 'over';
      const personId = await ensurePerson(tx, newId('per'), taken.address);
      // Before sessions, as when a membership ends.
      await lockMemberships(tx, personId);
      const [first] = await membershipsOf(tx, personId);
      const replaced =
        arrival.replaced === null ? undefined : await endSessionOf(tx, hashSecret(arrival.replaced));
      // Who signs in once more stays where they were.
      const accountId =
        (replaced?.personId === personId ? replaced.accountId : null) ??
        first?.accountId ??
        (await openFirstAccount(tx, personId, taken, arrival));
      await addSession(tx, {
        id: newId('ses'),
        tokenHash: hashSecret(token),
        personId,
        accountId,
        address: arrival.address,
        device: arrival.device,
      });
      return { token, next: taken.next };
    });
  } catch (error) {
    if (error instanceof TooManyAccountsError) return 'too_many_accounts';
    if (violates(error, 'people_address_key')) return await offerUndo(sql, by);
    throw error;
  }
}

async function offerUndo(sql: Database, by: Parameters<typeof takeSignIn>[1]): Promise<GivenUp | 'over'> {
  const undo = newSecret();
  return await transaction(sql, async (tx) => {
    const taken = await takeSignIn(tx, by);
    return taken !== undefined && (await addUndoLink(tx, taken.address, hashSecret(undo)))
      ? { undo }
      : 'over';
  });
}

/**
 * Opens a test account for somebody who has none (v2.3.0, Authentication, 8). @returns null: the person is about to accept an invitation
 * @throws TooManyAccountsError
 */
async function openFirstAccount(
  tx: Sql,
  person: string,
  taken: TakenSignIn,
  request: Request,
): Promise<string | null> {
  const { address, next } = taken;
  const invited = invitationOf(next);
  if (invited !== null && (await readInvitation(tx, invited))?.address === address) return null;
  if (!(await noteOpening(tx, taken))) throw new TooManyAccountsError();
  const account = newId('cl');
  await openTestAccount(tx, account, address);
  await addMembership(tx, person, account, 'owner');
  const details = { address: maskAddress(address), role: 'owner' };
  await writeAudit(tx, { actor: person, action: 'sign up', account, subject: person, details, request });
  return account;
}
