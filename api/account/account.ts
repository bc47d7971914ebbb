import { z } from 'zod';
import { documented, exampleId, grosze, issue, plainText, sendWindow } from '../fields.ts';
import { type AccountRow, readAccount } from '../../db/accounts/accounts.ts';
import { KEYWORD } from '../../domain/keywords.ts';
import { defaultForeignPrice, MAX_CONFIRM_GROSZE, MAX_CONFIRM_RECIPIENTS } from '../../domain/money.ts';
import { Refused } from '../../domain/refusals.ts';
import { withoutPath } from '../../domain/webhooks.ts';
import type { Caller } from '../../operations/context.ts';
import { changeSettings } from '../../operations/settings.ts';
import { endpoint } from '../http/endpoint.ts';

const pricePerPart = documented(grosze, 'The price of a part of a Polish SMS, in grosze net.', 15);

const countryRate = z.strictObject({
  sms: documented(grosze.optional(), 'A part of an SMS.', 25),
  mms: documented(grosze.optional(), 'An MMS.', 90),
  vms: documented(grosze.optional(), 'A voice message.', 60),
});

export const CHANGES_TEXT =
  'Too many requests, or settings and webhook were changed 1,000 times in the last 24 hours. `Retry-After` says when to come back.';

export const accountSchema = z
  .strictObject({
    id: documented(z.string(), 'The id.', exampleId('cl')),
    name: documented(z.string(), 'The name of the account.', 'Sklep'),
    sender_name: documented(z.string().nullable(), 'The default sender.', 'SKLEP'),
    balance_grosze: documented(grosze, 'The balance, in grosze net; below zero on credit.', 10_000),
    credit_limit_grosze: documented(grosze, 'How far below zero the balance may go, in grosze.', 0),
    price_per_part_grosze: pricePerPart,
    price_per_mms_grosze: documented(grosze, 'The price of an MMS, in grosze net.', 60),
    price_per_vms_grosze: documented(grosze, 'The price of a voice message, in grosze net.', 30),
    price_per_hlr_grosze: documented(grosze, 'The price of a number look-up, in grosze net.', 5),
    rate_limit_per_minute: documented(z.int().positive(), 'Requests allowed in a minute.', 120),
    webhook_url: documented(
      z.string().nullable(),
      'Where events are posted to; null when webhooks are off. Without path and query for a test key on a live account.',
      'https://example.com/sms',
    ),
    status: documented(
      z.enum(['active', 'suspended', 'closed']),
      'Closed and suspended accounts get 403.',
      'active',
    ),
    mode: documented(
      z.enum(['test', 'live']),
      '`test`: verified numbers only, paid from the test credits.',
      'live',
    ),
    test_credits: documented(z.int().nonnegative(), 'Free messages left; of test accounts.', 0),
    send_window: documented(
      z.string().nullable(),
      'Daily sending hours, `HH:MM-HH:MM` in Polish time, at least 15 minutes wide; the end is exclusive.',
      '08:00-20:00',
    ),
    billing_mode: documented(
      z.enum(['prepaid', 'postpaid']),
      'Paid beforehand or by monthly statement.',
      'prepaid',
    ),
    inbound_number: documented(
      z.string().nullable(),
      'The number that receives replies; null until receiving is enabled.',
      null,
    ),
    inbound_prefix: documented(
      z.string().nullable(),
      'The keyword that replies to the account begin with.',
      'SKLEP',
    ),
    scopes: documented(z.array(z.enum(['send', 'read', 'manage'])), 'The scopes of the key that asks.', [
      'send',
      'read',
      'manage',
    ]),
    country_rates: documented(
      z.record(z.string(), countryRate),
      'Prices agreed for countries: number prefix without plus to grosze net per part. The longest prefix that fits counts.',
      { '49': { sms: 25 } },
    ),
    international_sms: z
      .strictObject({ price_per_part_grosze: pricePerPart })
      .describe(
        'What a part of an SMS abroad costs by default, in grosze net; `country_rates` has the exceptions.',
      ),
  })
  .meta({ id: 'Account', description: 'The account of the key.' });

const keyword = z
  .string()
  .refine((value) => KEYWORD.test(value), issue({ reason: 'prefix_malformed' }))
  .transform((value) => value.toUpperCase())
  .meta({ pattern: KEYWORD.source });

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

// Not `senderName`: a malformed sender gets the same refusal as an inactive one (v2.3.0, PATCH /v1/account).
const senderField = plainText.max(100).meta({ example: 'SKLEP' });

/** Checks only what the column can store; the operation enforces the installation's limit. */
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
  errors: [409, 422],
  body: z
    .strictObject({
      sender_name: documented(senderField.nullable().optional(), ...SENDER_NAME),
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
