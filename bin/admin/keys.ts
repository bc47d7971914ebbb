import { listKeys } from '../../db/accounts/staff.ts';
import { byColumnName } from '../../db/columnNames.ts';
import { findAccount } from '../../operations/accounts/find.ts';
import { changeToolBudget, createKey, revokeKey } from '../../operations/accounts/keys.ts';
import { command, optional, required, type Outcome, type Shown } from './command.ts';
import { accountId, grosze, keyId, oneOf, orNone, scopes } from './values.ts';

const create = command({
  name: 'keys create',
  about: 'Makes an API key and shows it, this once.',
  options: {
    account: required('ID', 'the account', accountId),
    scopes: optional('LIST', 'of send, read, manage; default: all three', scopes),
    mode: optional('test|live', "default: the account's", oneOf('test', 'live')),
  },
  async ask(asking, input): Promise<Shown> {
    const { id, key, mode, scopes } = await createKey({ ...asking, input });
    return {
      result: { id, key, account_id: input.account, mode, scopes },
      remark: 'The key is shown this once; only its hash is kept.',
    };
  },
});

const revoke = command({
  name: 'keys revoke',
  about: 'Revokes a key at once; a second time changes nothing.',
  options: { key: required('KEY_ID', 'the key', keyId) },
  positional: ['key'],
  async ask(asking, input): Promise<Shown> {
    const { id, accountId, hint, revokedAt } = await revokeKey({ ...asking, input });
    return { result: { id, account_id: accountId, hint, revoked_at: revokedAt } };
  },
});

const budget = command({
  name: 'keys budget',
  about: "Sets what a key may charge in a day through assistants' tools.",
  options: {
    key: required('KEY_ID', 'the key', keyId),
    grosze: required('N|none', 'grosze net for each Polish calendar day; none: no bound', orNone(grosze)),
  },
  positional: ['key'],
  async ask(asking, input): Promise<Shown> {
    const { id, accountId, hint, toolBudgetGrosze, toolSpentGrosze } = await changeToolBudget({
      ...asking,
      input,
    });
    return { result: byColumnName({ id, accountId, hint, toolBudgetGrosze, toolSpentGrosze }) };
  },
});

const list = command({
  name: 'keys list',
  about:
    'Lists the keys of an account by their hints, revoked ones too, with what they charged today through tools.',
  options: { account: required('ID', 'the account', accountId) },
  async run(sql, values): Promise<Outcome> {
    const { id } = await findAccount(sql, values.account);
    return { result: { data: (await listKeys(sql, id)).map(byColumnName) }, account: id };
  },
});

export const keyCommands = [create, revoke, budget, list];
