import { z } from 'zod';
import { changeSettings, readAccount } from '../../db/accounts/accounts.ts';
import { type KeywordRefusal, KeywordRefusedError } from '../../db/accounts/keywords.ts';
import { isActiveSender } from '../../db/accounts/senders.ts';
import { defaultForeignPrice } from '../../domain/price.ts';
import { endpoint } from '../http/endpoint.ts';
import { issue, sendWindow, senderName } from '../fields.ts';
import { accountSchema } from '../schemas.ts';
import { Refused } from '../../domain/refusals.ts';

const INBOUND_PREFIX = /^[A-Za-z0-9]{2,10}$/;

const REFUSALS = {
  opt_out: 'prefix_reserved',
  everyday: 'prefix_everyday',
  taken: 'prefix_taken',
  resting: 'prefix_resting',
  too_many: 'prefix_changes',
} as const satisfies Record<KeywordRefusal, string>;

const settings = {
  sender_name: senderName.nullable().optional(),
  send_window: sendWindow.nullable().optional(),
  inbound_prefix: z
    .string()
    .refine((value) => INBOUND_PREFIX.test(value), issue({ reason: 'prefix_malformed' }))
    .transform((value) => value.toUpperCase())
    .meta({ pattern: INBOUND_PREFIX.source })
    .nullable()
    .optional(),
};

/** GET /v1/account (v2.3.0, Account and senders). */
export const getAccount = endpoint({
  method: 'GET',
  path: '/v1/account',
  scope: 'read',
  summary: 'Shows the account: balance, prices, settings.',
  responses: { 200: accountSchema },
  async handle({ services, caller }) {
    const account = await readAccount(services.sql, caller.accountId);
    if (account === null) throw new Refused({ reason: 'account_closed' });
    return {
      status: 200,
      body: {
        ...account,
        test_credits: account.mode === 'test' ? account.test_credits : 0,
        scopes: [...caller.scopes],
        international_sms: { price_per_part_grosze: defaultForeignPrice(account.price_per_part_grosze) },
      },
    };
  },
});

/** PATCH /v1/account: answers the account's id and what was changed. */
export const changeAccount = endpoint({
  method: 'PATCH',
  path: '/v1/account',
  scope: 'manage',
  summary: 'Changes the default sender, the sending hours or the inbound keyword.',
  body: z.strictObject(settings).meta({ minProperties: 1 }),
  responses: {
    200: z.strictObject({
      id: z.string(),
      sender_name: z.string().nullable().optional(),
      send_window: z.string().nullable().optional(),
      inbound_prefix: z.string().nullable().optional(),
    }),
  },
  async handle({ services: { sql }, caller, body }) {
    const { accountId } = caller;
    if (Object.keys(body).length === 0) throw new Refused({ reason: 'settings_empty' });
    const sender = body.sender_name ?? null;
    if (sender !== null && !(await isActiveSender(sql, accountId, sender))) {
      throw new Refused({ reason: 'sender_inactive', sender }, 'sender_name');
    }
    try {
      await changeSettings(sql, caller, body);
    } catch (error) {
      if (!(error instanceof KeywordRefusedError)) throw error;
      const reason = REFUSALS[error.why];
      throw new Refused({ reason }, 'inbound_prefix');
    }
    return { status: 200, body: { id: accountId, ...body } };
  },
});
