import { z } from 'zod';
import { type AccountRow, readAccount } from '../../db/accounts/accounts.ts';
import { KEYWORD } from '../../domain/keywords.ts';
import { defaultForeignPrice } from '../../domain/price.ts';
import { Refused } from '../../domain/refusals.ts';
import { withoutPath } from '../../domain/webhooks.ts';
import type { Caller } from '../../operations/asked.ts';
import { changeSettings } from '../../operations/settings.ts';
import { endpoint } from '../http/endpoint.ts';
import { issue, plainText, sendWindow } from '../fields.ts';
import { MAX_CONFIRM_GROSZE, MAX_CONFIRM_RECIPIENTS } from '../../domain/staffLimits.ts';
import { documented, exampleId } from '../documented.ts';
import { accountSchema, CHANGES_TEXT } from './schema.ts';

const keyword = z
  .string()
  .refine((value) => KEYWORD.test(value), issue({ reason: 'prefix_malformed' }))
  .transform((value) => value.toUpperCase())
  .meta({ pattern: KEYWORD.source });

// What the settings mean and how they may look, asked for and answered alike.
const SENDER_NAME = ['An active sender; null: the default of the installation.', 'SKLEP'] as const;
const SEND_WINDOW = [
  'Sending hours of messages without their own, `HH:MM-HH:MM` in Polish time; null: none.',
  '08:00-20:00',
] as const;
const INBOUND_PREFIX = ['2 to 10 letters or digits, stored in upper case; null: none.', 'SKLEP'] as const;
const TOOL_CONFIRM_RECIPIENTS = [
  'With more recipients, a send through an assistant’s tool has to be agreed to; no more than the installation says. null: as it says.',
  5,
] as const;
const TOOL_CONFIRM_GROSZE = [
  'At a higher cost, in grosze net, a send through an assistant’s tool has to be agreed to; no more than the installation says. null: as it says.',
  100,
] as const;

// Whatever is no active sender is refused alike, also what cannot be one (v2.3.0, PATCH /v1/account).
const askedSender = plainText.max(100).meta({ example: 'SKLEP' });

/** Whole, from 0 to a bound that fits its column; what the installation allows, the operation knows. */
function confirmAbove(max: number) {
  const isBetween = (value: number) => Number.isInteger(value) && value >= 0 && value <= max;
  const range = issue({ reason: 'number_out_of_range', min: 0, max });
  return z.number().refine(isBetween, range).meta({ type: 'integer', minimum: 0, maximum: max });
}

/** GET /v1/account (v2.3.0, Account and senders). */
export const getAccount = endpoint({
  method: 'GET',
  path: '/v1/account',
  scope: 'read',
  id: 'getAccount',
  summary: 'Shows the account: balance, prices, settings.',
  description: 'Balance, prices, settings, and the scopes of the key that asks.',
  responses: { 200: accountSchema },
  async handle({ services, caller }) {
    const account = await readAccount(services.sql, caller.accountId);
    if (account === null) throw new Refused({ reason: 'account_closed' });
    return { status: 200, body: accountRecord(account, caller) };
  },
});

/** PATCH /v1/account: answers the account's id and what was changed. */
export const changeAccount = endpoint({
  method: 'PATCH',
  path: '/v1/account',
  scope: 'manage',
  id: 'changeAccount',
  summary: 'Changes the default sender, the sending hours, the inbound keyword, or when tools ask.',
  description: 'Changes the settings given, at least one. Answers the id and what was changed.',
  statusTexts: {
    409: 'The keyword is taken by another account or rests, is an everyday word or one that unsubscribes, or was changed too often.',
    422: '`sender_name` is not an active sender of the account.',
    429: CHANGES_TEXT,
  },
  refusals: [
    'settings_empty',
    'number_out_of_range',
    'sender_inactive',
    'prefix_reserved',
    'prefix_everyday',
    'prefix_resting',
    'prefix_changes',
    'prefix_taken',
    'changes_too_many',
  ],
  body: z
    .strictObject({
      sender_name: documented(askedSender.nullable().optional(), ...SENDER_NAME),
      send_window: documented(sendWindow.nullable().optional(), ...SEND_WINDOW),
      inbound_prefix: documented(keyword.nullable().optional(), ...INBOUND_PREFIX),
      tool_confirm_recipients: documented(
        confirmAbove(MAX_CONFIRM_RECIPIENTS).nullable().optional(),
        ...TOOL_CONFIRM_RECIPIENTS,
      ),
      tool_confirm_grosze: documented(
        confirmAbove(MAX_CONFIRM_GROSZE).nullable().optional(),
        ...TOOL_CONFIRM_GROSZE,
      ),
    })
    .meta({ minProperties: 1 }),
  example: { send_window: '08:00-20:00' },
  responses: {
    200: z.strictObject({
      id: documented(z.string(), 'The id of the account.', exampleId('cl')),
      sender_name: documented(z.string().nullable().optional(), ...SENDER_NAME),
      send_window: documented(z.string().nullable().optional(), ...SEND_WINDOW),
      inbound_prefix: documented(z.string().nullable().optional(), ...INBOUND_PREFIX),
      tool_confirm_recipients: documented(
        z.int().nonnegative().nullable().optional(),
        ...TOOL_CONFIRM_RECIPIENTS,
      ),
      tool_confirm_grosze: documented(z.int().nonnegative().nullable().optional(), ...TOOL_CONFIRM_GROSZE),
    }),
  },
  async handle(call) {
    const { sender_name: senderName, send_window: sendWindow, inbound_prefix: inboundPrefix } = call.body;
    const { tool_confirm_recipients: toolConfirmRecipients, tool_confirm_grosze: toolConfirmGrosze } =
      call.body;
    const settings = { senderName, sendWindow, inboundPrefix };
    await changeSettings({ ...call, input: { ...settings, toolConfirmRecipients, toolConfirmGrosze } });
    return { status: 200, body: { id: call.caller.accountId, ...call.body } };
  },
});

function accountRecord(row: AccountRow, { scopes, readOnly }: Caller) {
  return {
    id: row.id,
    name: row.name,
    status: row.status,
    mode: row.mode,
    billing_mode: row.billingMode,
    balance_grosze: row.balanceGrosze,
    credit_limit_grosze: row.creditLimitGrosze,
    test_credits: row.mode === 'test' ? row.testCredits : 0,
    price_per_part_grosze: row.pricePerPartGrosze,
    price_per_mms_grosze: row.pricePerMmsGrosze,
    price_per_vms_grosze: row.pricePerVmsGrosze,
    price_per_hlr_grosze: row.pricePerHlrGrosze,
    country_rates: row.countryRates,
    rate_limit_per_minute: row.rateLimitPerMinute,
    sender_name: row.senderName,
    send_window: row.sendWindow,
    webhook_url: readOnly ? withoutPath(row.webhookUrl) : row.webhookUrl,
    inbound_number: row.inboundNumber,
    inbound_prefix: row.inboundPrefix,
    scopes: [...scopes],
    international_sms: { price_per_part_grosze: defaultForeignPrice(row.pricePerPartGrosze) },
  };
}
