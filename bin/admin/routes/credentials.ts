import { randomBytes } from 'node:crypto';
import { DecryptionError } from '../../../db/encryption.ts';
import { type Route, routeCredentials, sealCredentials } from '../../../db/routes/routes.ts';
import { providerKinds } from '../../../providers/registry.ts';
import { optional } from '../command.ts';
import { invalidArgument, refused } from '../problems.ts';
import { kindIdentity, offered, typedFor } from './kindOptions.ts';
import { kindOfRoute, readCredentials } from './kinds.ts';
import type { Tools } from '../tools.ts';
import { text } from '../values.ts';

const SECRET_BYTES = 32;
/** Where a kind with a secret of our own keeps the one before. */
const FORMER = 'former';
const FORMER_MS = 24 * 3_600_000;

/** What the secret is called, by kind. */
const SECRETS = new Intl.ListFormat('en', { type: 'disjunction' }).format(
  providerKinds.all.flatMap(({ name, secret }) => (secret === null ? [] : [`${secret.bare} (${name})`])),
);

/** Credentials as options; never with the secret itself on the command line. */
export const credentialOptions = {
  credentials: optional(
    'FILE|-|env:NAME',
    `where the ${SECRETS} is read from: alone, or with the rest as JSON`,
    text,
  ),
  ...offered(kindIdentity),
};

type StoredRoute = Pick<Route, 'name' | 'kind' | 'credentials'>;

/**
 * What is typed as credentials, checked and encrypted. A secret of our own making stays what it was.
 * @returns null for a kind that has none
 * @throws AdminError
 */
export async function newCredentials(
  route: StoredRoute,
  typed: { credentials?: string; [option: string]: unknown },
  tools: Tools,
): Promise<Buffer | null> {
  const kind = kindOfRoute(route);
  const identity = await typedFor(kindIdentity, typed, tools);
  const { secret } = kind;
  if (secret === null) {
    if (typed.credentials === undefined && Object.keys(identity).length === 0) return null;
    throw refused(`A route of kind ${kind.name} has no credentials.`);
  }
  if (typed.credentials === undefined) {
    throw invalidArgument('--credentials', `is missing: a file with the ${secret.bare}, - or env:NAME`);
  }
  const given = {
    ...identity,
    ...(secret.own === undefined ? {} : await knownSecrets(route, secret.own, tools)),
  };
  const content = await tools.read('--credentials', typed.credentials);
  const credentials = readCredentials(kind, secret.bare, content, given);
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
