import { type Channel, CHANNELS } from './channelDeclaration.ts';
import { isPolish } from './msisdn.ts';

/** `field` names the part at fault, such as `country_rates.49.sms`. */
export class DomainError extends Error {
  override readonly name = 'DomainError';
  readonly field: string;

  constructor(field: string, message: string) {
    super(message);
    this.field = field;
  }
}

const FOREIGN_FACTOR = 2;
const PRIORITY_FACTOR = 2;

const PREFIX = /^\+?([1-9][0-9]{0,14})$/;

// Minimum net top-up and the price per part that it buys, both in grosze; highest tier first.
const TIERS = [
  { from: 500_00, rate: 10 },
  { from: 100_00, rate: 14 },
  { from: 50_00, rate: 15 },
] as const;
/** The highest price, which accounts begin with. */
export const FIRST_RATE_GROSZE = TIERS[2].rate;
/** What top-ups buy, lowest first, grosze net. */
export const TOP_UP_TIERS: readonly { from: number; rate: number }[] = TIERS.toReversed();
/** Largest net top-up, grosze: beyond any real one, and below the limit of processors. */
export const MAX_TOP_UP_GROSZE = 100_000_00;
/** Smallest net top-up, grosze (v2.3.0, Limits, Prices). */
export const MIN_TOP_UP_GROSZE = TIERS[2].from;

// Grosze net per part.
type ChannelPrices = Partial<Record<Channel, number>>;

/** An account's foreign prices by number prefix, digits without plus. The longest prefix with a price for the channel wins. */
export type CountryRates = Record<string, ChannelPrices>;

interface PriceQuery {
  channel: Channel;
  /** E.164 with plus. */
  msisdn: string;
  priority: boolean;
  /** The account's domestic price per part of the channel, grosze net. */
  domesticGrosze: number;
  countryRates: CountryRates;
  foreignAtTwice: boolean;
}

/**
 * Price of one part in grosze net (v2.3.0, Send, rules 3 and 4): abroad by the longest matching prefix, else twice the domestic price.
 * @returns null where a foreign part has no price and is not sent ("foreign MMS and voice need separate pricing")
 */
export function pricePerPart({
  channel,
  msisdn,
  priority,
  domesticGrosze,
  countryRates,
  foreignAtTwice,
}: PriceQuery): number | null {
  const standard = foreignAtTwice ? defaultForeignPrice(domesticGrosze) : null;
  const price = isPolish(msisdn)
    ? domesticGrosze
    : (individualRate(channel, msisdn, countryRates) ?? standard);
  return price !== null && priority ? price * PRIORITY_FACTOR : price;
}

/** The price of a foreign SMS part without an individual rate, grosze net. */
export function defaultForeignPrice(domesticGrosze: number): number {
  return domesticGrosze * FOREIGN_FACTOR;
}

/** The cost of one message in grosze net (v2.3.0, Send, rule 1). */
export function messageCost(parts: number, perPart: number): number {
  return parts * perPart;
}

/**
 * Normalises staff's input of foreign prices, grosze net: `{"+49": 25}` → `{"49": {"sms": 25}}`. Polish prefixes are kept but never apply.
 * @throws DomainError with the field `country_rates`, `country_rates.49` or `country_rates.49.sms`
 */
export function normaliseCountryRates(input: unknown): CountryRates {
  if (!isPlainRecord(input)) throw new DomainError('country_rates', 'An object of prefixes is needed');
  const rates: CountryRates = {};
  for (const [key, value] of Object.entries(input)) {
    const field = `country_rates.${key}`;
    const prefix = PREFIX.exec(key)?.[1];
    if (prefix === undefined) {
      throw new DomainError(field, 'A prefix has 1 to 15 digits, the first not 0');
    }
    if (Object.hasOwn(rates, prefix)) throw new DomainError(field, 'The prefix is given twice');
    rates[prefix] = channelPrices(field, value);
  }
  return rates;
}

/**
 * Domestic price per part after a top-up, grosze net (v2.3.0, Limits, Prices); never rises ("the top-up amount fixes the rate for good").
 * Null below 50 PLN.
 */
export function rateAfterTopUp(currentGrosze: number, topUpGrosze: number): number | null {
  const rate = rateOfTopUp(topUpGrosze);
  return rate === null ? null : Math.min(currentGrosze, rate);
}

/** The price per part that a top-up buys, grosze net; null below 50 PLN. */
export function rateOfTopUp(grosze: number): number | null {
  return TIERS.find(({ from }) => grosze >= from)?.rate ?? null;
}

function individualRate(channel: Channel, msisdn: string, rates: CountryRates): number | undefined {
  const digits = msisdn.slice(1);
  for (let length = digits.length; length > 0; length -= 1) {
    const prefix = digits.slice(0, length);
    const price = Object.hasOwn(rates, prefix) ? rates[prefix]?.[channel] : undefined;
    if (price !== undefined) return price;
  }
  return undefined;
}

function channelPrices(field: string, value: unknown): ChannelPrices {
  if (typeof value === 'number') return { sms: grosze(field, value) };
  if (!isPlainRecord(value)) throw new DomainError(field, 'A price or an object of channel prices is needed');
  const prices: ChannelPrices = {};
  for (const [key, price] of Object.entries(value)) {
    const channel = CHANNELS.find((known) => known === key);
    if (channel === undefined) throw new DomainError(`${field}.${key}`, 'The channels are sms, mms and vms');
    prices[channel] = grosze(`${field}.${key}`, price);
  }
  if (Object.keys(prices).length === 0) throw new DomainError(field, 'At least one price is needed');
  return prices;
}

function grosze(field: string, value: unknown): number {
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0) {
    throw new DomainError(field, 'A price is a whole, non-negative number of grosze');
  }
  return value;
}

function isPlainRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export const LEDGER_KINDS = [
  'opening',
  'topup',
  'charge',
  'refund',
  'payment',
  'payment_refund',
  'dispute',
  'adjustment',
] as const;
export type LedgerKind = (typeof LEDGER_KINDS)[number];

const AMOUNT = /^([0-9]{1,9})(?:[.,]([0-9]{1,2}))?$/;

/** Grosze of an amount in PLN as people write it, `50`, `1 000` or `49,99 zł`, digit by digit; null for what is none. */
export function parsePln(text: string): number | null {
  const [, whole = '', fraction = ''] = AMOUNT.exec(text.replace(/\s|(?:zł|pln)$/gi, '')) ?? [];
  return whole === '' ? null : Number(whole) * 100 + Number(fraction.padEnd(2, '0'));
}

export interface StatementForCustomer {
  /** `st_…`, by which a payment is booked. */
  statement: string;
  account: string;
  /** `YYYY-MM`, a calendar month in Poland. */
  month: string;
  /** Net. */
  amountGrosze: number;
  dueAt: Date;
  paidAt: Date | null;
}

export interface BalanceForCustomer {
  account: string;
  /** The account's name. */
  name: string;
  /** What can be spent, net. */
  leftGrosze: number;
  /** Null: none is set. */
  thresholdGrosze: number | null;
  /** Null: nothing was charged. */
  runwayDays: number | null;
}

interface Quota {
  /** Default, unless staff set another. */
  usual: number;
  max: number;
  about: string;
}

/** Storage quotas of an account. Groups and templates are listed in one response, which limits their maximum. */
export const QUOTAS = {
  contacts: { usual: 250_000, max: 10_000_000, about: 'contacts' },
  contact_bytes: {
    usual: 250_000_000,
    max: 10_000_000_000,
    about: "octets of all contacts' names, addresses and fields",
  },
  groups: { usual: 5_000, max: 20_000, about: 'groups' },
  memberships: {
    usual: 1_000_000,
    max: 50_000_000,
    about: 'contacts in groups, counted once for each group',
  },
  templates: { usual: 1_000, max: 5_000, about: 'message templates' },
  template_bytes: { usual: 5_000_000, max: 20_000_000, about: "octets of all templates' bodies" },
  blacklist: { usual: 500_000, max: 10_000_000, about: 'numbers on the blacklist' },
  suppressions: { usual: 500_000, max: 10_000_000, about: 'e-mail addresses on the suppression list' },
  email_file_bytes: {
    usual: 500_000_000,
    max: 50_000_000_000,
    about: 'octets of files of e-mails that wait to be handed over',
  },
  scheduled_messages: { usual: 200_000, max: 5_000_000, about: 'messages that wait for their send time' },
  links: { usual: 5_000_000, max: 100_000_000, about: 'tracked links' },
  unpaid_messages: {
    usual: 20_000,
    max: 1_000_000,
    about:
      'messages of 24 hours that were rejected (blacklist) or cancelled, and so cost nothing; as many addresses of e-mails to nobody',
  },
  unpaid_bytes: { usual: 50_000_000, max: 1_000_000_000, about: 'octets of the texts of such messages' },
} as const satisfies Record<string, Quota>;

export type QuotaName = keyof typeof QUOTAS;
export type Quotas = Record<QuotaName, number>;

export const QUOTA_NAMES = Object.keys(QUOTAS) as QuotaName[];

export function quotasOf(changed: Partial<Quotas>): Quotas {
  const usual = QUOTA_NAMES.map((name): [QuotaName, number] => [name, changed[name] ?? QUOTAS[name].usual]);
  return Object.fromEntries(usual) as Quotas;
}

/** Bound on staff's input, grosze net: beyond any real account, with every sum far below 2^53. */
export const MAX_GROSZE = 100_000_000_000;
/** Per part or lookup, grosze net; fits a 32-bit column. */
export const MAX_PRICE = 100_000;
/** Requests per minute. */
export const MAX_RATE_LIMIT = 1_000_000;
/** Highest thresholds (recipients; grosze net) above which a send through a tool needs confirmation. */
export const MAX_CONFIRM_RECIPIENTS = 10_000;
export const MAX_CONFIRM_GROSZE = 100_000_000;
export const ACCOUNT_NAME_LENGTH = 100;
/** Characters of a ledger correction's reason. */
export const NOTE_LENGTH = 500;
export const MAX_PARTS_PER_SECOND = 100_000;
/** Seconds without a session after which a route counts as broken: at most a day. */
export const MAX_BROKEN_AFTER_S = 86_400;
export const DEFAULT_BROKEN_AFTER_S = 10;
/** Share of a rule among equally specific ones. */
export const MAX_WEIGHT = 1_000_000;
export const DEFAULT_WEIGHT = 100;

export const TOKEN_LABEL_LENGTH = 100;
/** Requests per minute of a token (v1.2.0, Limits). */
export const DEFAULT_TOKEN_RATE = 100;
