import { type Channel, CHANNELS } from './channelDeclaration.ts';
import { isPolish } from './msisdn.ts';

/** A rule of the domain refused an input. `field` names the part at fault, for example `country_rates.49.sms`. */
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

/** Net amount of a top-up from which on a price per part holds, both in grosze; the highest tier first. */
const TIERS = [
  { from: 500_00, rate: 10 },
  { from: 100_00, rate: 14 },
  { from: 50_00, rate: 15 },
] as const;
/** The least net amount of a top-up, grosze (v2.3.0, Limits, Prices). */
export const MIN_TOP_UP_GROSZE = TIERS[2].from;

/** Prices of one country in grosze net per part, by channel. */
type ChannelPrices = Partial<Record<Channel, number>>;

/** An account's own foreign prices: number prefix in digits without plus → prices. The longest match with a price of the channel wins. */
export type CountryRates = Record<string, ChannelPrices>;

interface PriceQuery {
  channel: Channel;
  /** The recipient, E.164 with plus. */
  msisdn: string;
  priority: boolean;
  /** The account's domestic price per part of the channel, grosze net. */
  domesticGrosze: number;
  countryRates: CountryRates;
  /** Whether a foreign part without a price of its own costs twice the domestic one. */
  foreignAtTwice: boolean;
}

/**
 * The price of one part in grosze net (v2.3.0, Send, rules 3 and 4): Poland always the account's
 * domestic price; abroad the channel's price of the longest matching prefix, else twice the domestic price;
 * priority doubles either.
 *
 * @returns null for a foreign part that has no price: it is not sent ("foreign MMS and voice need separate pricing")
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

/** The price of one foreign SMS part without an individual rate, grosze net: twice the domestic one. */
export function defaultForeignPrice(domesticGrosze: number): number {
  return domesticGrosze * FOREIGN_FACTOR;
}

/** The cost of one message in grosze net (v2.3.0, Send, rule 1): its parts times the price per part in grosze. */
export function messageCost(parts: number, perPart: number): number {
  return parts * perPart;
}

/**
 * Brings staff's input for an account's foreign prices into its stored shape: a plus before the
 * prefix is dropped, a bare number is the price of an SMS part (`{"+49": 25}` → `{"49": {"sms": 25}}`).
 *
 * Prefixes have 1 to 15 digits and do not begin with 0, as no calling code does; prices are whole,
 * non-negative grosze net. Rates below 48 are kept though they never apply: Poland has the standard price.
 *
 * @throws DomainError whose field names the place: `country_rates`, `country_rates.49`, `country_rates.49.sms`
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
 * The price per domestic SMS part, grosze net, that a top-up buys (v2.3.0, Limits, Prices): 500 PLN net
 * and more 10, 100 PLN 14, 50 PLN 15.
 *
 * @param topUpGrosze net amount in grosze
 * @returns null when the amount is below the minimum top-up of 50 PLN
 */
export function topUpRate(topUpGrosze: number): number | null {
  return TIERS.find(({ from }) => topUpGrosze >= from)?.rate ?? null;
}

/**
 * The account's domestic price per part after a top-up, grosze net: the better of the current one and the
 * tier's. A price once reached is the account's for good ("the top-up amount fixes the rate for good").
 *
 * @param currentGrosze current price per part
 * @param topUpGrosze net amount of the top-up
 * @returns null when the amount is below the minimum top-up
 */
export function rateAfterTopUp(currentGrosze: number, topUpGrosze: number): number | null {
  const tier = topUpRate(topUpGrosze);
  return tier === null ? null : Math.min(currentGrosze, tier);
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

/** A monthly statement of a postpaid account, as its customer sees it. */
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

/** What bounds how much an account keeps. */
interface Quota {
  /** Unless staff have said otherwise. */
  usual: number;
  /** The most that staff may allow. */
  max: number;
  about: string;
}

/**
 * How much an account may keep. Of what is listed in one answer (groups, templates) there is not more than such an answer
 * can hold.
 */
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

/** @param changed what staff have set of an account */
export function quotasOf(changed: Partial<Quotas>): Quotas {
  const usual = QUOTA_NAMES.map((name): [QuotaName, number] => [name, changed[name] ?? QUOTAS[name].usual]);
  return Object.fromEntries(usual) as Quotas;
}

/** Bounds on what our own staff may enter: no real account comes near, and every sum stays far below 2^53. Grosze net. */
export const MAX_GROSZE = 100_000_000_000;
/** The highest price per part, or per look-up, grosze net: it fits a 32-bit column. */
export const MAX_PRICE = 100_000;
/** Requests per minute. */
export const MAX_RATE_LIMIT = 1_000_000;
/** Recipients, and grosze net, beyond which a send through a tool has to be agreed to, at most. */
export const MAX_CONFIRM_RECIPIENTS = 10_000;
export const MAX_CONFIRM_GROSZE = 100_000_000;
/** Characters of an account's name. */
export const ACCOUNT_NAME_LENGTH = 100;
/** Characters of the reason for a correction in the ledger. */
export const NOTE_LENGTH = 500;
/** Parts per second on a route. */
export const MAX_PARTS_PER_SECOND = 100_000;
/** Seconds without a session after which a route counts as broken: at most a day. */
export const MAX_BROKEN_AFTER_S = 86_400;
export const DEFAULT_BROKEN_AFTER_S = 10;
/** The share of a rule among equal ones. */
export const MAX_WEIGHT = 1_000_000;
export const DEFAULT_WEIGHT = 100;

/** Characters of a token's label, at most. */
export const TOKEN_LABEL_LENGTH = 100;
/** Requests a minute of a token (v1.2.0, Limits). */
export const DEFAULT_TOKEN_RATE = 100;
