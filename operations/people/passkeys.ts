import { isIP } from 'node:net';
import {
  type AuthenticationResponseJSON,
  generateAuthenticationOptions,
  generateRegistrationOptions,
  type RegistrationResponseJSON,
  verifyAuthenticationResponse,
  verifyRegistrationResponse,
} from '@simplewebauthn/server';
import type { Database } from '../../db/connection.ts';
import { type Passkey, readPasskey } from '../../db/people/factors.ts';
import { type SessionRow, openChallenge, takeChallenge } from '../../db/people/sessions.ts';

export interface PasskeyServices {
  sql: Database;
  /** Passkeys are bound to its host. */
  panelUrl: string;
}

const TIMEOUT_MS = 5 * 60_000;
const ID_MAX = 1400;

const hostOf = ({ panelUrl }: Pick<PasskeyServices, 'panelUrl'>): string => new URL(panelUrl).hostname;
/** Whether browsers make passkeys for where the panel is: they do for names of hosts alone. */
export function hasPasskeys(services: Pick<PasskeyServices, 'panelUrl'>): boolean {
  return isIP(hostOf(services)) === 0;
}

const listed = (ids: readonly string[]) => ids.map((id) => ({ id }));

/** What the browser makes a passkey by, within five minutes. @param known passkeys of the person */
export async function creationOptions(
  services: PasskeyServices,
  session: SessionRow,
  known: readonly string[],
) {
  const options = await newOptions(services, { id: session.personId, address: session.address }, known);
  return { ...options, challenge: await openChallenge(services.sql, session.id, options.challenge) };
}

/** The same without a session, and so with a challenge of no use. */
export async function newOptions(
  services: Pick<PasskeyServices, 'panelUrl'>,
  of: { id: string; address: string },
  known: readonly string[],
) {
  return await generateRegistrationOptions({
    ...{ rpName: 'Goniec', rpID: hostOf(services), userName: of.address, timeout: TIMEOUT_MS },
    userID: new Uint8Array(Buffer.from(of.id)),
    authenticatorSelection: { residentKey: 'preferred', userVerification: 'required' },
    excludeCredentials: listed(known),
  });
}

/** What the browser asks any passkey of this host by. */
export async function anyPasskey(services: Pick<PasskeyServices, 'panelUrl'>) {
  return await generateAuthenticationOptions({
    ...{ rpID: hostOf(services), timeout: TIMEOUT_MS, userVerification: 'required' },
  });
}

/** What the browser asks one of these passkeys by, within five minutes. */
export async function requestOptions(
  services: PasskeyServices,
  session: SessionRow,
  known: readonly string[],
) {
  const options = await generateAuthenticationOptions({
    ...{ rpID: hostOf(services), timeout: TIMEOUT_MS, userVerification: 'required' },
    allowCredentials: listed(known),
  });
  return { ...options, challenge: await openChallenge(services.sql, session.id, options.challenge) };
}

/** The new passkey of a browser's response; null unless it answers the session's challenge, which is used up. */
export async function createdPasskey(
  services: PasskeyServices,
  session: SessionRow,
  response: string,
): Promise<Passkey | null> {
  const challenge = await takeChallenge(services.sql, session.id);
  return challenge === undefined ? null : await madeFor(services, challenge, response);
}

/** The new passkey of a browser's response to a challenge; null for any other response. */
export async function madeFor(
  services: Pick<PasskeyServices, 'panelUrl'>,
  challenge: string,
  response: string,
): Promise<Passkey | null> {
  const made = await accepted(() =>
    verifyRegistrationResponse({
      response: JSON.parse(response) as RegistrationResponseJSON,
      ...expectedOf(services, challenge),
    }),
  );
  if (made?.verified !== true) return null;
  const { id, publicKey, counter } = made.registrationInfo.credential;
  return id.length > ID_MAX ? null : { id, publicKey: Buffer.from(publicKey), counter };
}

const BASE64URL = /^[\w-]+$/;

/** The passkey of the person that signed a browser's response, with its new counter; null as in {@link createdPasskey}. */
export async function usedPasskey(
  services: PasskeyServices,
  session: SessionRow,
  response: string,
): Promise<Pick<Passkey, 'id' | 'counter'> | null> {
  const challenge = await takeChallenge(services.sql, session.id);
  if (challenge === undefined) return null;
  return await signedBy(services, challenge, response, (id) =>
    readPasskey(services.sql, session.personId, id),
  );
}

/** The passkey that signed a challenge, with its new counter; null unless `find` knows it and the signature is right. */
export async function signedBy<Known extends Passkey>(
  services: Pick<PasskeyServices, 'panelUrl'>,
  challenge: string,
  response: string,
  find: (id: string) => Promise<Known | undefined>,
): Promise<Known | null> {
  const given = await accepted(() => JSON.parse(response) as AuthenticationResponseJSON);
  const passkey =
    typeof given?.id === 'string' && BASE64URL.test(given.id)
      ? await find(given.id.slice(0, ID_MAX))
      : undefined;
  if (passkey === undefined) return null;
  const { id, counter } = passkey;
  const credential = { id, counter, publicKey: new Uint8Array(passkey.publicKey) };
  const used = await accepted(() =>
    verifyAuthenticationResponse({ response: given!, credential, ...expectedOf(services, challenge) }),
  );
  return used?.verified === true ? { ...passkey, counter: used.authenticationInfo.newCounter } : null;
}

function expectedOf(services: Pick<PasskeyServices, 'panelUrl'>, challenge: string) {
  return {
    expectedChallenge: challenge,
    expectedOrigin: new URL(services.panelUrl).origin,
    expectedRPID: hostOf(services),
    requireUserVerification: true,
  };
}

// The library throws for whatever is wrong with a response, from its syntax to its signature.
async function accepted<Result>(check: () => Result | Promise<Result>): Promise<Result | null> {
  try {
    return await check();
  } catch {
    return null;
  }
}
