import { newApiKey, type KeyMode } from '../../db/accounts/apiKeys.ts';
import type { Sql } from '../../db/connection.ts';
import { newId } from '../../db/ids.ts';
import { insertKey, listKeys, revokeKey } from '../../db/accounts/operators.ts';
import { command, optional, required, type Outcome } from './command.ts';
import { findAccount, holdAccount, requireOpen } from './lookup.ts';
import { notFound, refused } from './problems.ts';
import { accountId, ALL_SCOPES, keyId, oneOf, scopes } from './values.ts';

/** A key just made; `key` is not kept anywhere. */
export interface IssuedKey {
  id: string;
  key: string;
  hint: string;
}

/** Makes a key and stores its hash. Whether the account may have it is the caller's question. */
export async function issueKey(
  sql: Sql,
  account: string,
  mode: KeyMode,
  keyScopes: readonly string[],
): Promise<IssuedKey> {
  const id = newId('key');
  const { key, hash, hint } = newApiKey(mode);
  await insertKey(sql, { id, account, hash, hint, mode, scopes: [...keyScopes] });
  return { id, key, hint };
}

const create = command({
  name: 'keys create',
  about: 'Makes an API key and shows it, this once.',
  options: {
    account: required('ID', 'the account', accountId),
    scopes: optional('LIST', 'of send, read, manage; default: all three', scopes),
    mode: optional('test|live', "default: the account's", oneOf('test', 'live')),
  },
  async run(sql, values): Promise<Outcome> {
    const account = await holdAccount(sql, values.account);
    requireOpen(account);
    const mode = values.mode ?? account.mode;
    if (mode === 'live' && account.mode === 'test') {
      throw refused('A live key is issued after the first top-up; this account is still in test mode.');
    }
    const keyScopes = values.scopes ?? ALL_SCOPES;
    const { id, key, hint } = await issueKey(sql, account.id, mode, keyScopes);
    return {
      result: { id, key, account_id: account.id, mode, scopes: keyScopes },
      account: account.id,
      subject: id,
      details: { hint, mode, scopes: [...keyScopes] },
      remark: 'The key is shown this once; only its hash is kept.',
    };
  },
});

const revoke = command({
  name: 'keys revoke',
  about: 'Revokes a key at once; a second time changes nothing.',
  options: { key: required('KEY_ID', 'the key', keyId) },
  positional: ['key'],
  async run(sql, values): Promise<Outcome> {
    const key = await revokeKey(sql, values.key);
    if (key === undefined) throw notFound(`There is no key ${values.key}.`);
    return {
      result: { id: key.id, account_id: key.account_id, hint: key.hint, revoked_at: key.revoked_at },
      account: key.account_id,
      subject: key.id,
      details: { hint: key.hint },
    };
  },
});

const list = command({
  name: 'keys list',
  about: 'Lists the keys of an account by their hints, revoked ones too.',
  options: { account: required('ID', 'the account', accountId) },
  async run(sql, values): Promise<Outcome> {
    const { id } = await findAccount(sql, values.account);
    return { result: { data: await listKeys(sql, id) }, account: id };
  },
});

export const keyCommands = [create, revoke, list];
