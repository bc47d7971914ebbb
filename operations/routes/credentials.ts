import { randomBytes } from 'node:crypto';
import { DecryptionError } from '../../db/installation.ts';
import { changeRoute, type Route, routeCredentials, sealCredentials } from '../../db/routes/routes.ts';
import { StaffRefused } from '../../domain/refusals.ts';
import type { ProviderKind } from '../../providers/kind.ts';
import { recorded, type StaffServices } from '../staff.ts';
import { holdRoute, kindOf } from './routes.ts';

const SECRET_BYTES = 32;
/** Where a kind with a secret of our own keeps the one before. */
const FORMER = 'former';
const FORMER_MS = 24 * 3_600_000;

/** Credentials in clear, by field. */
export type Credentials = Record<string, unknown>;
type StoredCredentials = Pick<Route, 'name' | 'credentials'>;
type SecretsKey = Pick<StaffServices, 'secretsKey'>;

/** Credentials as they are handed over. */
export interface GivenCredentials {
  /** The secret alone, or fields by name; absent where nothing of the kind was handed over. */
  secret?: string | Credentials;
  /** Fields that are no secret, and go with a secret alone. */
  fields: Credentials;
}

interface Input {
  route: string;
  credentials: GivenCredentials;
}

/**
 * Replaces the credentials of a route; running workers open it anew with them. A secret of our own making stays what it was.
 * @throws StaffRefused, with nothing of what was given
 */
export const replaceCredentials = recorded(
  'routes credentials',
  async (sql, { route: name, credentials: given }: Input, services) => {
    const route = await holdRoute(sql, name);
    const kind = kindOf(route);
    const credentials = await newCredentials(kind, given, () => readable(services, kind, route));
    await changeRoute(sql, name, { credentials: await sealed(services, name, credentials) });
    return { data: undefined, subject: name };
  },
);

/**
 * What is handed over as credentials, checked, with the secret of our own making where the kind has one.
 * @param before the credentials so far, whose own secret stays
 * @returns null for a kind that has none
 * @throws StaffRefused, with nothing of what was given
 */
export async function newCredentials(
  kind: ProviderKind,
  { secret: given, fields }: GivenCredentials,
  before: () => Promise<Credentials>,
): Promise<Credentials | null> {
  const { secret } = kind;
  if (secret === null) {
    if (given === undefined && Object.keys(fields).length === 0) return null;
    throw new StaffRefused({ reason: 'credentials_needless', kind: kind.name });
  }
  if (given === undefined) throw new StaffRefused({ reason: 'credentials_missing', secret: secret.bare });
  const ours = secret.own === undefined ? {} : ownSecrets(secret.own, await before());
  const handedOver = typeof given === 'string' ? { [secret.bare]: given } : given;
  return checked(kind, secret.bare, { ...fields, ...ours, ...handedOver });
}

/**
 * The same credentials with a new secret of our own making.
 * @param keepsFormer the secret so far is good for 24 hours more: it is entered at the provider by hand, and what comes
 *   meanwhile must not be lost. Not where it may have leaked.
 */
export function withNewSecret(before: Credentials, own: string, keepsFormer: boolean): Credentials {
  const former = { [own]: before[own], until: Date.now() + FORMER_MS };
  // As JSON, what is undefined is not there.
  return { ...before, [own]: newSecret(), [FORMER]: keepsFormer ? former : undefined };
}

/**
 * A route's credentials in clear; null for a kind that has none.
 * @throws StaffRefused when there are none, or they cannot be read with this secrets key
 */
export async function openCredentials(
  services: SecretsKey,
  kind: ProviderKind,
  { name, credentials }: StoredCredentials,
): Promise<Credentials | null> {
  if (kind.secret === null) return null;
  if (credentials === null) throw new StaffRefused({ reason: 'route_without_credentials', route: name });
  try {
    return { ...(routeCredentials(await services.secretsKey(), { name, credentials }) as object) };
  } catch (error) {
    if (!(error instanceof DecryptionError)) throw error;
    throw new StaffRefused({ reason: 'credentials_unreadable', route: name }, undefined, error);
  }
}

/** Credentials encrypted for the route of this name; null for none. */
export async function sealed(
  services: SecretsKey,
  name: string,
  credentials: Credentials | null,
): Promise<Buffer | null> {
  return credentials === null ? null : sealCredentials(await services.secretsKey(), name, credentials);
}

// Credentials that nobody can read are to be replaced here, not to stand in the way.
async function readable(
  services: SecretsKey,
  kind: ProviderKind,
  route: StoredCredentials,
): Promise<Credentials> {
  try {
    return (await openCredentials(services, kind, route)) ?? {};
  } catch (error) {
    if (error instanceof StaffRefused) return {};
    throw error;
  }
}

/** The secrets of our own making as they are; a new one where there is none. */
function ownSecrets(own: string, before: Credentials): Credentials {
  const { [own]: secret = newSecret(), [FORMER]: former } = before;
  return { [own]: secret, ...(former === undefined ? {} : { [FORMER]: former }) };
}

function checked({ name, credentials: schema }: ProviderKind, bare: string, given: Credentials): Credentials {
  const read = schema.safeParse(given);
  if (read.success) return read.data as Credentials;
  const fields = 'shape' in schema ? Object.keys(schema.shape as object) : [bare];
  const wrong = fields.find((field) => read.error.issues.some(({ path }) => path[0] === field));
  throw new StaffRefused({ reason: 'credentials_unusable', kind: name, field: wrong ?? null, fields });
}

function newSecret(): string {
  return randomBytes(SECRET_BYTES).toString('base64url');
}
