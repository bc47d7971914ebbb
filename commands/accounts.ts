import { listAccounts } from '../db/accounts/staff.ts';
import { listSuspiciousSignUps } from '../db/people/suspiciousSignUps.ts';
import {
  ACCOUNT_NAME_LENGTH,
  MAX_CONFIRM_GROSZE,
  MAX_CONFIRM_RECIPIENTS,
  MAX_GROSZE,
  MAX_RATE_LIMIT,
  QUOTA_NAMES,
  type QuotaName,
  QUOTAS,
} from '../domain/money.ts';
import { maskMsisdn } from '../domain/msisdn.ts';
import { BUYER_KINDS } from '../domain/parties.ts';
import { changeAccount, createAccount } from '../operations/accounts/accounts.ts';
import { changeCompany } from '../operations/accounts/company.ts';
import { changeQuotas } from '../operations/accounts/quotas.ts';
import { viewAccount } from '../operations/support/accountView.ts';
import { command, defaulted, optional, required, shown } from './command.ts';
import {
  account,
  accountId,
  choice,
  inFull,
  json,
  limit,
  line,
  orNone,
  orWord,
  price,
  text,
  wholeNumber,
  yesNo,
} from './values.ts';

const accountName = line(ACCOUNT_NAME_LENGTH);
const grosze = wholeNumber(0, MAX_GROSZE, ' of grosze');
const rateLimit = wholeNumber(1, MAX_RATE_LIMIT);

const terms = {
  mode: choice('--mode', 'test, as a new one is: verified numbers only, 25 test credits', 'test', 'live'),
  billingMode: choice('--billing', 'postpaid: statements, a credit limit', 'prepaid', 'postpaid'),
  creditLimitGrosze: optional('--credit-limit <GROSZE>', 'how far below zero postpaid may go', grosze),
  pricePerPartGrosze: optional('--price <GROSZE>', 'per domestic SMS part, net; new: 15', price),
  rateLimitPerMinute: optional('--rate-limit <N>', 'requests per minute; new: 120', rateLimit),
  contactEmail: optional('--contact-email <ADDRESS|none>', 'where statements are e-mailed', orNone(text)),
};

const STATUSES = ['active', 'suspended', 'closed'] as const;
// What happens to unsubmitted messages after a change of status.
const AFTER_STATUS = {
  active: 'Messages that waited for it go now, those within their time.',
  suspended: 'Messages not submitted yet wait until it is active again, or expire and are refunded.',
  closed: 'Messages not submitted yet are cancelled and refunded by the workers; that is not undone.',
} as const;

const quotaOptions = Object.fromEntries(QUOTA_NAMES.map((name) => [name, quotaOption(name)])) as Record<
  QuotaName,
  ReturnType<typeof quotaOption>
>;

export const accountCommands = [
  command({
    name: 'accounts create',
    about: 'Makes an account.',
    options: {
      name: required('--name <NAME>', 'the customer, 1 to 100 characters', accountName),
      balance: defaulted('--balance <GROSZE>', 'opening balance, net', grosze, 0),
      ...terms,
    },
    ask: async (asking, { balance, ...settings }) =>
      shown(await createAccount({ ...asking, input: { settings, balance } })),
  }),
  command({
    name: 'accounts show',
    about:
      'Shows an account: settings, money, what waits, senders, keys, people, webhooks, quotas, findings and its latest acts.',
    options: {
      account,
      addresses: inFull('--addresses', 'with addresses of its people and verified numbers in full'),
    },
    run: async (sql, input) => ({
      ...shown(await viewAccount(sql, input)),
      details: input.addresses ? { addresses: true } : {},
    }),
  }),
  command({
    name: 'accounts list',
    about: 'Lists accounts, the oldest first.',
    options: {
      name: optional('--name <TEXT>', 'with this in their names', text),
      after: optional('--after <ID>', 'after this one', accountId),
      limit: limit(1000),
    },
    run: async (sql, { name = '', after = '', limit }) => ({
      result: { data: await listAccounts(sql, { name, after }, limit) },
      columns: [
        ...['id', 'name', 'status', 'mode', 'billing_mode', 'balance_grosze', 'credit_limit_grosze'],
        ...['test_credits', 'price_per_part_grosze', 'rate_limit_per_minute', 'created_at'],
      ],
    }),
  }),
  command({
    name: 'accounts set',
    about: 'Changes settings of an account; those not named stay.',
    options: {
      account,
      name: optional('--name <NAME>', 'the customer', accountName),
      status: choice('--status', 'not active: requests get 403, messages wait or are cancelled', ...STATUSES),
      ...terms,
      pricePerMmsGrosze: optional('--price-mms <GROSZE>', 'price per MMS, net', price),
      pricePerVmsGrosze: optional('--price-vms <GROSZE>', 'price per voice message, net', price),
      pricePerHlrGrosze: optional('--price-hlr <GROSZE>', 'price per number lookup, net', price),
      countryRates: optional('--country-rates <JSON>', 'abroad: {"49":{"sms":25}}; {} for none', json),
      senderName: optional('--sender <NAME|none>', 'the default sender, an active one', orNone(text)),
      sendWindow: optional('--send-window <HH:MM-HH:MM|none>', 'sending hours, Polish time', orNone(text)),
      legacyProxy: yesNo('--legacy-proxy', 'not migrated: tokens see the balance at SMSAPI.pl, no history'),
      toolConfirmRecipients: optional(
        '--tool-confirm-recipients <N|none>',
        "beyond them a send through an assistant's tool is confirmed, where fewer than MCP_CONFIRM_RECIPIENTS",
        orNone(wholeNumber(0, MAX_CONFIRM_RECIPIENTS)),
      ),
      toolConfirmGrosze: optional(
        '--tool-confirm-grosze <N|none>',
        'the same of its cost in grosze, where less than MCP_CONFIRM_GROSZE',
        orNone(wholeNumber(0, MAX_CONFIRM_GROSZE, ' of grosze')),
      ),
    },
    async ask(asking, { account: id, ...changes }) {
      const { account, affected, status } = await changeAccount({
        ...asking,
        input: { account: id, changes },
      });
      return shown({ ...account, ...affected }, status === null ? null : AFTER_STATUS[status]);
    },
  }),
  command({
    name: 'accounts suspicious',
    about: 'Lists sign-ups that look abusive: several accounts of one network, or with one number, lately.',
    options: { numbers: inFull('--numbers', 'with the numbers in full'), limit: limit(50) },
    async run(sql, { numbers, limit }) {
      const found = await listSuspiciousSignUps(sql, limit);
      const data = found.map(({ signal, subject, ...one }) => ({
        signal,
        subject: signal === 'number' && !numbers ? maskMsisdn(subject) : subject,
        ...one,
      }));
      return { result: { data }, details: numbers ? { numbers: true } : {} };
    },
  }),
  command({
    name: 'accounts company',
    about: 'Changes who buys, for invoices; what is not named stays.',
    options: {
      account,
      kind: choice('--kind', 'a consumer has no NIP', ...BUYER_KINDS),
      nip: optional('--nip <NIP>', 'ten digits; PL, blanks and hyphens do not matter', text),
      name: optional('--name <NAME>', 'of the company or person', text),
      street: optional('--street <STREET>', 'with the number', text),
      postal_code: optional('--postal-code <CODE>', '00-000', text),
      city: optional('--city <CITY>', 'the city', text),
    },
    ask: async (asking, { account, ...given }) =>
      shown({ accountId: account, ...(await changeCompany({ ...asking, input: { account, given } })) }),
  }),
  command({
    name: 'accounts quotas',
    about: 'Shows how much an account may keep and keeps, or changes what it may.',
    options: { account, ...quotaOptions },
    async ask(asking, { account, ...changes }) {
      const kept = await changeQuotas({ ...asking, input: { account, changes } });
      return shown({ accountId: account, quotas: kept });
    },
  }),
];

function quotaOption(name: QuotaName) {
  const { usual, max, about } = QUOTAS[name];
  const schema = orWord('usual', wholeNumber(0, max));
  const flags = `--${name.replaceAll('_', '-')} <N|usual>`;
  return optional(flags, `${about}; usually ${usual}, at most ${max}`, schema);
}
