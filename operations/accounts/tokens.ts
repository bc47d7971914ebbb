import {
  insertToken,
  newApiToken,
  revokeToken as storeRevocation,
  type TokenDetails,
} from '../../db/accounts/apiTokens.ts';
import { newId } from '../../db/ids.ts';
import { StaffRefused } from '../../domain/refusals.ts';
import { recorded } from '../staff.ts';
import { holdOpenAccount } from './find.ts';

/** A token just made, to be shown this once. */
export interface CreatedToken {
  id: string;
  token: string;
  label: string;
}

/** Makes an API token of an account for the earlier interface (v1.2.0, Authentication). @throws StaffRefused */
export const createToken = recorded(
  'tokens create',
  async (sql, { account: of, label }: { account: string; label: string }) => {
    const account = await holdOpenAccount(sql, of);
    const id = newId('tok');
    const { token, hash, hint } = newApiToken();
    await insertToken(sql, { id, account: account.id, hash, hint, label });
    const data: CreatedToken = { id, token, label };
    return { data, account: account.id, subject: id, details: { hint, label } };
  },
);

/** Revokes a token at once; a second time changes nothing. @throws StaffRefused token_missing */
export const revokeToken = recorded('tokens revoke', async (sql, { token: id }: { token: string }) => {
  const token: TokenDetails | undefined = await storeRevocation(sql, id);
  if (token === undefined) throw new StaffRefused({ reason: 'token_missing', token: id });
  return { data: token, account: token.accountId, subject: token.id, details: { hint: token.hint } };
});
