import { randomBytes } from 'node:crypto';
import { DecryptionError } from '../../db/installation.ts';
import { changeRoute, type Route, routeCredentials, sealCredentials } from '../../db/routes/routes.ts';
import { StaffRefused } from '../../domain/refusals.ts';
import type { ProviderKind } from '../../providers/kind.ts';
import { recorded, type StaffServices } from '../staff.ts';
import { findRouteForUpdate, kindOf } from './routes.ts';

const SECRET_BYTES = 32;
/** The field with the former secret of our own. */
const FORMER = 'former';
const FORMER_MS = 24 * 3_600_000;

/** Decrypted credentials by field. */
export type Credentials = Record<string, unknown>;
type StoredCredentials = Pick<Route, 'name' | 'credentials'>;
type SecretsKey = Pick<StaffServices, 'secretsKey'>;

export interface GivenCredentials {
  /** The secret alone, or fields by name; absent if nothing was entered. */
  secret?: string | Credentials;
  /** Non-secret fields that accompany a bare secret. */
  fields: Credentials;
}

interface Input {
  route: string;
  credentials: GivenCredentials;
}

/**
 * Replaces a route's credentials; running workers reopen it. A secret of our own is kept.
 * @throws StaffRefused, without quoting the credentials
 */
export const replaceCredentials = recorded(
  'routes credentials',
  async (sql, { route: name, credentials: given }: Input, { services }) => {
    const route = await findRouteForUpdate(sql, name);
    const kind = kindOf(route);
    const credentials = await newCredentials(kind, given, () => readable(services, kind, route));
    await changeRoute(sql, name, { credentials: await sealed(services, name, credentials) });
    return { data: undefined, subject: name };
  },
);

/**
 * Validates new credentials, keeping a secret of our own from the current ones; null for a kind without credentials.
 * @throws StaffRefused, without quoting the credentials
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
 * Renews the secret of our own.
 * @param keepsFormer the former one stays valid for 24 hours, so that no callback is lost until staff enter the new one at the provider;
 *   false for a leaked secret
 */
export function withNewSecret(before: Credentials, own: string, keepsFormer: boolean): Credentials {
  const former = { [own]: before[own], until: Date.now() + FORMER_MS };
  // JSON drops undefined fields.
  return { ...before, [own]: newSecret(), [FORMER]: keepsFormer ? former : undefined };
}

/**
 * Decrypts a route's credentials; null for a kind without any.
 * @throws StaffRefused if they are missing or not readable with this secrets key
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

/** Encrypts credentials for the route with this name. */
export async function sealed(
  services: SecretsKey,
  name: string,
  credentials: Credentials | null,
): Promise<Buffer | null> {
  return credentials === null ? null : sealCredentials(await services.secretsKey(), name, credentials);
}

// Unreadable credentials must not prevent their replacement.
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

/** Keeps our own secrets; creates one if there is none. */
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
