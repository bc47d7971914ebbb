import { type Channel, CHANNELS } from './channelNames.ts';
import { DomainError } from './errors.ts';
import { isPolish } from './msisdn.ts';

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
export type ChannelPrices = Partial<Record<Channel, number>>;

/** An account's own foreign prices: number prefix in digits without plus → prices. The longest match with a price of the channel wins. */
export type CountryRates = Record<string, ChannelPrices>;

export interface PriceQuery {
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
