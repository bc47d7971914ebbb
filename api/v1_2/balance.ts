import { z } from 'zod';
import { type AccountRow, readAccount } from '../../db/accounts/accounts.ts';
import { Refused } from '../../domain/refusals.ts';
import { upstreamBalance } from '../../operations/accounts/upstreamBalance.ts';
import type { Asked } from '../../operations/asked.ts';
import { documented } from '../documented.ts';
import { endpoint } from '../http/endpoint.ts';
import { answered, answerOf } from './schema.ts';

const GROSZE_A_ZLOTY = 100;

const migrated = z.strictObject({
  balance: documented(z.number(), 'In PLN.', 123.45),
  balance_grosze: documented(z.int(), 'In grosze, exactly.', 12_345),
  credit_limit_grosze: documented(z.int().nonnegative(), 'Of a postpaid account; 0 for prepaid.', 0),
  currency: documented(z.literal('PLN'), 'The currency.', 'PLN'),
  billing_mode: documented(z.enum(['prepaid', 'postpaid']), 'How it is billed.', 'prepaid'),
  username: documented(z.null(), 'Of an account that was not migrated.', null),
});
const proxied = z.strictObject({
  balance: documented(z.number(), 'At the provider, in PLN.', 123.45),
  currency: documented(z.literal('PLN'), 'The currency.', 'PLN'),
  username: documented(z.string().nullable(), 'The name of the account at the provider.', 'firma'),
});

/** GET /v1/balance (v1.2.0, Balance response). */
export const getBalance = endpoint({
  interface: 'v1',
  method: 'GET',
  path: '/v1/balance',
  scope: 'read',
  id: 'getBalance',
  summary: 'Shows the balance.',
  description:
    'The balance in PLN and, exactly, in grosze; of an account that was not migrated that of its account at the provider.',
  refusals: ['account_not_migrated'],
  responses: { 200: answered(z.union([migrated, proxied])) },
  async handle(call) {
    const account = await readAccount(call.services.sql, call.caller.accountId);
    if (account === null) throw new Refused({ reason: 'account_closed' });
    return answerOf(await balanceOf(call, account));
  },
});

async function balanceOf(
  call: Omit<Asked<unknown>, 'input'>,
  { balanceGrosze, creditLimitGrosze, billingMode, legacyProxy }: AccountRow,
): Promise<z.output<typeof migrated> | z.output<typeof proxied>> {
  if (legacyProxy) {
    const { balance, username } = await upstreamBalance({ ...call, input: null });
    return { balance, currency: 'PLN', username };
  }
  return {
    balance: balanceGrosze / GROSZE_A_ZLOTY,
    balance_grosze: balanceGrosze,
    credit_limit_grosze: billingMode === 'postpaid' ? creditLimitGrosze : 0,
    currency: 'PLN',
    billing_mode: billingMode,
    username: null,
  };
}
