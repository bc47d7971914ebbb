import {
  type AccountPatch,
  listAccounts,
  listKeys,
  listSenderDetails,
  listVerifiedNumbers,
  type AccountDetails,
} from '../../db/accounts/staff.ts';
import { byColumnName } from '../../db/columnNames.ts';
import { listStatements } from '../../db/money/statements.ts';
import { createAccount } from '../../operations/accounts/create.ts';
import { findAccount } from '../../operations/accounts/find.ts';
import { keptOf } from '../../operations/accounts/quotas.ts';
import { command, optional, required, type Outcome, type Shown, type Values } from './command.ts';
import { invalidArgument } from './problems.ts';
import {
  accountId,
  accountName,
  confirmGrosze,
  confirmRecipients,
  grosze,
  oneOf,
  orNone,
  price,
  rateLimit,
  text,
  yesOrNo,
} from './values.ts';

const NONE = 'none';

const status = oneOf('active', 'suspended', 'closed');
const mode = oneOf('test', 'live');
const billing = oneOf('prepaid', 'postpaid');

const createOptions = {
  name: required('NAME', 'the customer, 1 to 100 characters', accountName),
  mode: optional('test|live', 'default: test, with 25 test credits', mode),
  balance: optional('GROSZE', 'opening balance, net; default: 0', grosze),
  billing: optional('prepaid|postpaid', 'default: prepaid', billing),
  creditLimit: optional('GROSZE', 'how far below zero a postpaid balance may go; default: 0', grosze),
  price: optional('GROSZE', 'price per domestic SMS part, net; default: 15', price),
  rateLimit: optional('N', 'requests per minute; default: 120', rateLimit),
  contactEmail: optional('ADDRESS', 'where its monthly statements are e-mailed; default: nowhere', text),
};

const create = command({
  name: 'accounts create',
  about: 'Makes an account.',
  options: createOptions,
  async ask(asking, values): Promise<Shown> {
    const settings = {
      ...{ ...commonSettings(values), ...given('mode', values.mode), name: values.name },
      ...given('contactEmail', values.contactEmail),
    };
    const input = { settings, balance: values.balance ?? 0 };
    return { result: summary(await createAccount({ ...asking, input })) };
  },
});

const show = command({
  name: 'accounts show',
  about: 'Shows an account: settings, balance, senders, verified numbers, keys, unpaid statements, quotas.',
  options: { account: required('ID', 'the account', accountId) },
  async run(sql, { account: id }): Promise<Outcome> {
    const account = await findAccount(sql, id);
    return {
      result: {
        ...byColumnName(account),
        senders: (await listSenderDetails(sql, id)).map(byColumnName),
        verified_numbers: (await listVerifiedNumbers(sql, id)).map(byColumnName),
        keys: (await listKeys(sql, id)).map(({ accountId: _, ...key }) => byColumnName(key)),
        unpaid_statements: (await listStatements(sql, id, true)).map(byColumnName),
        quotas: await keptOf(sql, id),
      },
      account: id,
    };
  },
});

const list = command({
  name: 'accounts list',
  about: 'Lists all accounts, the oldest first.',
  options: {},
  async run(sql): Promise<Outcome> {
    return { result: { data: (await listAccounts(sql)).map(summary) } };
  },
});

const setOptions = {
  account: required('ID', 'the account', accountId),
  name: optional('NAME', 'the customer', accountName),
  status: optional(
    'active|suspended|closed',
    'suspended and closed ones get 403; messages wait, or are cancelled',
    status,
  ),
  mode: optional('test|live', 'test: verified numbers only, paid by test credits', mode),
  billing: optional('prepaid|postpaid', 'postpaid: statements and a credit limit', billing),
  creditLimit: optional('GROSZE', 'how far below zero a postpaid balance may go', grosze),
  price: optional('GROSZE', 'price per domestic SMS part, net', price),
  priceMms: optional('GROSZE', 'price per MMS, net', price),
  priceVms: optional('GROSZE', 'price per voice message, net', price),
  priceHlr: optional('GROSZE', 'price per number lookup, net', price),
  rateLimit: optional('N', 'requests per minute', rateLimit),
  countryRates: optional('JSON', 'foreign prices, such as {"49":{"sms":25}}; {} for none', text),
  sender: optional('NAME|none', 'the default sender, one of the active ones', text),
  sendWindow: optional('HH:MM-HH:MM|none', 'default sending hours, Polish time', text),
  contactEmail: optional('ADDRESS|none', 'where its monthly statements are e-mailed', text),
  legacyProxy: optional(
    'yes|no',
    'not migrated: its tokens see the balance at SMSAPI.pl, and no history',
    yesOrNo,
  ),
  toolConfirmRecipients: optional(
    'N|none',
    "recipients beyond which a send through an assistant's tool is agreed to, where fewer than MCP_CONFIRM_RECIPIENTS",
    orNone(confirmRecipients),
  ),
  toolConfirmGrosze: optional(
    'N|none',
    'the same of its cost in grosze, where less than MCP_CONFIRM_GROSZE',
    orNone(confirmGrosze),
  ),
};

const set = command({
  name: 'accounts set',
  about: 'Changes settings of an account; those not named stay.',
  options: setOptions,
  async ask(asking, values): Promise<Shown> {
    const { changeAccount } = await import('../../operations/accounts/change.ts');
    const changes = changesOf(values);
    const changed = await changeAccount({ ...asking, input: { account: values.account, changes } });
    return {
      result: byColumnName(changed.account),
      ...(changed.status === null ? {} : { remark: AFTER_STATUS[changed.status] }),
    };
  },
});

/** What becomes of the messages that no network was given. */
const AFTER_STATUS = {
  active: 'Messages that waited for it go now, those within their time.',
  suspended: 'Messages not submitted yet wait until it is active again, or expire and are refunded.',
  closed: 'Messages not submitted yet are cancelled and refunded by the workers; that is not undone.',
} as const;

export const accountCommands = [create, show, list, set];

function changesOf(values: Values<typeof setOptions>) {
  const { countryRates } = values;
  return {
    ...commonSettings(values),
    ...given('name', values.name),
    ...given('status', values.status),
    ...given('mode', values.mode),
    ...given('pricePerMmsGrosze', values.priceMms),
    ...given('pricePerVmsGrosze', values.priceVms),
    ...given('pricePerHlrGrosze', values.priceHlr),
    ...(countryRates === undefined ? {} : { countryRates: parsed(countryRates) }),
    ...given('senderName', orNull(values.sender)),
    ...given('sendWindow', orNull(values.sendWindow)),
    ...given('contactEmail', orNull(values.contactEmail)),
    ...given('legacyProxy', values.legacyProxy),
    ...given('toolConfirmRecipients', values.toolConfirmRecipients),
    ...given('toolConfirmGrosze', values.toolConfirmGrosze),
  };
}

function commonSettings(
  values: Pick<Values<typeof createOptions>, 'billing' | 'creditLimit' | 'price' | 'rateLimit'>,
): AccountPatch {
  return {
    ...given('billingMode', values.billing),
    ...given('creditLimitGrosze', values.creditLimit),
    ...given('pricePerPartGrosze', values.price),
    ...given('rateLimitPerMinute', values.rateLimit),
  };
}

function given<K extends keyof AccountPatch>(setting: K, value: AccountPatch[K] | undefined): AccountPatch {
  return value === undefined ? {} : { [setting]: value };
}

function orNull(typed: string | undefined): string | null | undefined {
  return typed === NONE ? null : typed;
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json) as unknown;
  } catch {
    throw invalidArgument('--country-rates', 'this is not JSON');
  }
}

function summary(account: AccountDetails): Record<string, unknown> {
  const { id, name, status, mode, billingMode, balanceGrosze, creditLimitGrosze, testCredits } = account;
  const { pricePerPartGrosze, rateLimitPerMinute, createdAt } = account;
  return byColumnName({
    ...{ id, name, status, mode, billingMode, balanceGrosze, creditLimitGrosze, testCredits },
    ...{ pricePerPartGrosze, rateLimitPerMinute, createdAt },
  });
}
