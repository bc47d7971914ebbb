import { listTokens } from '../../db/accounts/apiTokens.ts';
import { byColumnName } from '../../db/columnNames.ts';
import { findAccount } from '../../operations/accounts/find.ts';
import { createToken, revokeToken } from '../../operations/accounts/tokens.ts';
import { command, required, type Outcome, type Shown } from './command.ts';
import { accountId, tokenId, tokenLabel } from './values.ts';

const create = command({
  name: 'tokens create',
  about: 'Makes an API token of the earlier interface and shows it, this once.',
  options: {
    account: required('ID', 'the account', accountId),
    label: required('TEXT', 'what the token is for', tokenLabel),
  },
  async ask(asking, input): Promise<Shown> {
    const { id, token, label } = await createToken({ ...asking, input });
    return {
      result: { id, token, account_id: input.account, label },
      remark: 'The token is shown this once; only its hash is kept.',
    };
  },
});

const revoke = command({
  name: 'tokens revoke',
  about: 'Revokes a token at once; a second time changes nothing.',
  options: { token: required('TOKEN_ID', 'the token', tokenId) },
  positional: ['token'],
  async ask(asking, input): Promise<Shown> {
    const { id, accountId, hint, label, revokedAt } = await revokeToken({ ...asking, input });
    return { result: { id, account_id: accountId, hint, label, revoked_at: revokedAt } };
  },
});

const list = command({
  name: 'tokens list',
  about: 'Lists the tokens of an account by their labels and hints, revoked ones too.',
  options: { account: required('ID', 'the account', accountId) },
  async run(sql, values): Promise<Outcome> {
    const { id } = await findAccount(sql, values.account);
    return { result: { data: (await listTokens(sql, id)).map(byColumnName) }, account: id };
  },
});

export const tokenCommands = [create, revoke, list];
