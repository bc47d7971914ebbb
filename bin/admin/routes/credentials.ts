import { randomBytes } from 'node:crypto';
import { DecryptionError } from '../../../db/encryption.ts';
import { type Route, routeCredentials, sealCredentials } from '../../../db/routes/routes.ts';
import { optional, type Values } from '../command.ts';
import { invalidArgument, refused } from '../problems.ts';
import { kindOfRoute, readCredentials } from './kinds.ts';
import type { Tools } from '../tools.ts';
import { text } from '../values.ts';

const SECRET_BYTES = 32;

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
    ...(ownSecret === undefined
      ? {}
      : { [ownSecret]: (await known(route, ownSecret, tools)) ?? newSecret() }),
  };
  const content = await tools.read('--credentials', typed.credentials);
  const credentials = await readCredentials(route.kind, content, given);
  return sealCredentials(await tools.secretsKey(), route.name, credentials);
}

/** The same credentials with a new secret of our own making. */
export async function renewOwnSecret(route: StoredRoute, ownSecret: string, tools: Tools): Promise<Buffer> {
  const before = await openCredentials(route, tools);
  return sealCredentials(await tools.secretsKey(), route.name, { ...before, [ownSecret]: newSecret() });
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

async function known(route: StoredRoute, field: string, tools: Tools): Promise<unknown> {
  if (route.credentials === null) return undefined;
  try {
    return (await openCredentials(route, tools))[field];
  } catch {
    // Unreadable credentials are to be replaced here, not to stand in the way.
    return undefined;
  }
}

function newSecret(): string {
  return randomBytes(SECRET_BYTES).toString('base64url');
}
