import { expect, inject } from 'vitest';
import type { Endpoint } from '../../api/http/endpoint.ts';
import type { Operation } from '../../api/openapi/schemas.ts';
import { earlierDocument, earlierEndpoints } from '../../api/v1_2/endpoints.ts';
import { newApiToken } from '../../db/accounts/keys.ts';
import { newId } from '../../db/ids.ts';
import { type AccountWish, database, newAccount, type TestAccount } from './factories.ts';

const document = earlierDocument();

/** A message as the earlier interface answers it to its sender. */
interface EarlierMessage {
  id: string;
  to: string;
  status: string;
  parts: number;
  cost: number;
  sent_at: string | null;
}

/** An answer of the earlier interface. */
interface EarlierAnswer {
  status: number;
  headers: Headers;
  body: {
    success?: true;
    data: { count: number; messages: EarlierMessage[]; next_cursor: number | null } & Record<string, unknown>;
    error: { code: number; message: string; details: { field: string } | null };
  };
}

/** A caller of the earlier interface. */
export interface EarlierClient {
  get(path: string): Promise<EarlierAnswer>;
  post(path: string, body: unknown, headers?: Record<string, string>): Promise<EarlierAnswer>;
  delete(path: string): Promise<EarlierAnswer>;
}

/** An account with a token. */
export interface EarlierAccount extends TestAccount {
  tokenId: string;
  token: string;
  v1: EarlierClient;
}

/** Makes an account with a token. */
export async function newEarlierAccount(wish: AccountWish = {}): Promise<EarlierAccount> {
  const account = await newAccount(wish);
  return { ...account, ...(await newToken(account.id)) };
}

/** Gives an account a token. @param limit of requests a minute; so many that no test reaches it, unless given */
export async function newToken(accountId: string, limit = 100_000) {
  const tokenId = newId('tok');
  const { key: token, hash, hint } = newApiToken();
  await database()`
    insert into api_tokens (id, account_id, hash, hint, label, rate_limit_per_minute)
    values (${tokenId}, ${accountId}, ${hash}, ${hint}, 'test', ${limit})`;
  return { tokenId, token, v1: earlierClient(token) };
}

/** A client that holds every answer to what its endpoint declares, and every error to the one form (v1.2.0, Error). */
export function earlierClient(token?: string): EarlierClient {
  const base = inject('service').apiUrl;
  const call = async (
    method: 'GET' | 'POST' | 'DELETE',
    path: string,
    body?: unknown,
    more: Record<string, string> = {},
  ): Promise<EarlierAnswer> => {
    const response = await fetch(base + path, {
      method,
      headers: {
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...more,
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const { status, headers } = response;
    const answer = (await response.json()) as EarlierAnswer['body'];
    expect(headers.get('x-request-id')).toMatch(/^req_/);
    const endpoint = endpointOf(method, path.split('?')[0]!.replace(/\/$/, ''));
    const item = document.paths[documentedPath(endpoint?.path ?? path)] as
      Record<string, Operation> | undefined;
    const declared = item?.[method.toLowerCase()]?.responses;
    if (declared !== undefined) expect(Object.keys(declared)).toContain(String(status));
    if (status >= 400) expectError(status, answer);
    else {
      expect(endpoint?.responses[status]?.parse(answer)).toEqual(answer);
    }
    return { status, headers, body: answer };
  };
  return {
    get: (path) => call('GET', path),
    post: (path, body, headers) => call('POST', path, body, headers),
    delete: (path) => call('DELETE', path),
  };
}

/** The endpoint that a path belongs to: one that stands there as it is goes before one with parameters. */
function endpointOf(method: string, path: string): Endpoint | undefined {
  const ofMethod = earlierEndpoints.filter((one) => one.method === method);
  const matches = ({ path: pattern }: Endpoint): boolean =>
    new RegExp(`^${pattern.replace(/:\w+/g, '[^/]+')}$`).test(path);
  return ofMethod.find((one) => one.path === path) ?? ofMethod.find(matches);
}

function documentedPath(pattern: string): string {
  return pattern.replace(/:(\w+)/g, '{$1}');
}

function expectError(status: number, body: unknown): void {
  expect(body).toEqual({
    error: {
      code: status,
      message: expect.stringMatching(/\S.*\.$/s) as string,
      details: expect.toSatisfy(
        (details: unknown) => details === null || typeof (details as { field: unknown }).field === 'string',
      ) as null,
    },
  });
}
