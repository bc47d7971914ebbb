import { randomBytes } from 'node:crypto';
import { DecryptionError } from '../../../db/encryption.ts';
import { type Route, routeCredentials, sealCredentials } from '../../../db/routes/routes.ts';
import { optional, type Values } from '../command.ts';
import { invalidArgument, refused } from '../problems.ts';
import { kindOfRoute, readCredentials } from './kinds.ts';
import type { Tools } from '../tools.ts';
import { text } from '../values.ts';

const SECRET_BYTES = 32;
/** Where a kind with a secret of our own keeps the one before. */
const FORMER = 'former';
const FORMER_MS = 24 * 3_600_000;

/** Credentials as options; never with the secret itself on the command line. */
export const credentialOptions = {
  credentials: optional(
    'FILE|-|env:NAME',
    'where the password (smpp) or token (smsapi) is read from: alone, or with the rest as JSON',
    text,
  ),
  systemId: optional('ID', 'smpp: the system_id that goes with a password alone', text),
};

type StoredRoute = Pick<Route, 'name' | 'kind' | 'credentials'>;

/**
 * What is typed as credentials, checked and encrypted. A secret of our own making stays what it was.
 * @returns null for a kind that has none
 * @throws AdminError
 */
export async function newCredentials(
  route: StoredRoute,
  typed: Values<typeof credentialOptions>,
  tools: Tools,
): Promise<Buffer | null> {
  const { credentials: schema, bareSecret, ownSecret } = await kindOfRoute(route.kind);
  if (schema === null) {
    if (typed.credentials === undefined && typed.systemId === undefined) return null;
    throw refused(`A route of kind ${route.kind} has no credentials.`);
  }
  if (typed.credentials === undefined) {
    throw invalidArgument('--credentials', `is missing: a file with the ${bareSecret}, - or env:NAME`);
  }
  const given = {
    ...(typed.systemId === undefined ? {} : { systemId: typed.systemId }),
    ...(ownSecret === undefined ? {} : await knownSecrets(route, ownSecret, tools)),
  };
  const content = await tools.read('--credentials', typed.credentials);
  const credentials = await readCredentials(route.kind, content, given);
  return sealCredentials(await tools.secretsKey(), route.name, credentials);
}

/**
 * The same credentials with a new secret of our own making.
 * @param keepsFormer the secret so far is good for 24 hours more: it is entered at the provider by hand, and what comes
 *   meanwhile must not be lost. Not where it may have leaked.
 */
export async function renewOwnSecret(
  route: StoredRoute,
  { ownSecret, keepsFormer }: { ownSecret: string; keepsFormer: boolean },
  tools: Tools,
): Promise<Buffer> {
  const before = await openCredentials(route, tools);
  const former = { [ownSecret]: before[ownSecret], until: Date.now() + FORMER_MS };
  return sealCredentials(await tools.secretsKey(), route.name, {
    ...before,
    [ownSecret]: newSecret(),
    // As JSON, what is undefined is not there.
    [FORMER]: keepsFormer ? former : undefined,
  });
}

/**
 * A route's credentials in clear.
 * @throws AdminError refused when there are none, or they cannot be read with this secrets key
 */
export async function openCredentials(route: StoredRoute, tools: Tools): Promise<Record<string, unknown>> {
  if (route.credentials === null) throw refused(`The route ${route.name} has no credentials.`);
  try {
    return { ...(routeCredentials(await tools.secretsKey(), route) as object) };
  } catch (error) {
    if (!(error instanceof DecryptionError)) throw error;
    throw refused(
      `The credentials of ${route.name} cannot be read with this secrets key; replace them with routes credentials.`,
    );
  }
}

/** The secrets of our own making as they are; a new one where there is none. */
async function knownSecrets(
  route: StoredRoute,
  ownSecret: string,
  tools: Tools,
): Promise<Record<string, unknown>> {
  // Unreadable credentials are to be replaced here, not to stand in the way.
  const stored: Record<string, unknown> =
    route.credentials === null ? {} : await openCredentials(route, tools).catch(() => ({}));
  return {
    [ownSecret]: stored[ownSecret] ?? newSecret(),
    ...(stored[FORMER] === undefined ? {} : { [FORMER]: stored[FORMER] }),
  };
}

function newSecret(): string {
  return randomBytes(SECRET_BYTES).toString('base64url');
}
