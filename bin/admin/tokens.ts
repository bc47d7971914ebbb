import { listTokens } from '../../db/accounts/apiTokens.ts';
import { byColumnName } from '../../db/columnNames.ts';
import { findAccount } from '../../operations/accounts/find.ts';
import {
  createToken,
  type CreatedToken,
  revokeToken,
  rotateToken,
} from '../../operations/accounts/tokens.ts';
import { command, optional, required, type Outcome, type Shown } from './command.ts';
import { accountId, rateLimit, tokenId, tokenLabel } from './values.ts';

const create = command({
  name: 'tokens create',
  about: 'Makes an API token of the earlier interface and shows it, this once.',
  options: {
    account: required('ID', 'the account', accountId),
    label: required('TEXT', 'what the token is for', tokenLabel),
    rateLimit: optional('N', 'requests a minute; default 100', rateLimit),
  },
  async ask(asking, input): Promise<Shown> {
    return shown(await createToken({ ...asking, input }));
  },
});

const rotate = command({
  name: 'tokens rotate',
  about: 'Revokes a token at once and shows another with its label, this once.',
  options: { token: required('TOKEN_ID', 'the token', tokenId) },
  positional: ['token'],
  async ask(asking, input): Promise<Shown> {
    return shown(await rotateToken({ ...asking, input }));
  },
});

function shown({ id, token, label, rateLimit }: CreatedToken): Shown {
  return {
    result: { id, token, label, rate_limit_per_minute: rateLimit },
    remark: 'The token is shown this once; only its hash is kept.',
  };
}

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

export const tokenCommands = [create, rotate, revoke, list];
