import { z } from 'zod';
import { readAccount } from '../../db/accounts/accounts.ts';
import { Refused } from '../../domain/refusals.ts';
import { documented } from '../documented.ts';
import { endpoint } from '../http/endpoint.ts';
import { answered } from './schema.ts';

const GROSZE_A_ZLOTY = 100;

/** GET /v1/balance (v1.2.0, Balance response). */
export const getBalance = endpoint({
  interface: 'v1',
  method: 'GET',
  path: '/v1/balance',
  scope: 'read',
  id: 'getBalance',
  summary: 'Shows the balance.',
  description: 'The balance in PLN and, exactly, in grosze.',
  responses: {
    200: answered(
      z.strictObject({
        balance: documented(z.number(), 'In PLN.', 123.45),
        balance_grosze: documented(z.int(), 'In grosze.', 12_345),
        credit_limit_grosze: documented(z.int().nonnegative(), 'Of a postpaid account; 0 for prepaid.', 0),
        currency: documented(z.literal('PLN'), 'The currency.', 'PLN'),
        billing_mode: documented(
          z.enum(['prepaid', 'postpaid', 'legacy_proxy']),
          'How it is billed.',
          'prepaid',
        ),
        username: documented(z.string().nullable(), 'Of an account that was not migrated.', null),
      }),
    ),
  },
  async handle({ services, caller }) {
    const account = await readAccount(services.sql, caller.accountId);
    if (account === null) throw new Refused({ reason: 'account_closed' });
    const { balanceGrosze, creditLimitGrosze, billingMode } = account;
    return {
      status: 200,
      body: {
        success: true as const,
        data: {
          balance: balanceGrosze / GROSZE_A_ZLOTY,
          balance_grosze: balanceGrosze,
          credit_limit_grosze: billingMode === 'postpaid' ? creditLimitGrosze : 0,
          currency: 'PLN' as const,
          billing_mode: billingMode,
          username: null,
        },
      },
    };
  },
});
