import { parsePhoneNumberFromString } from 'libphonenumber-js/max';
import { canonicalText } from './text.ts';

const POLAND = '+48';
const WITH_PLUS = /^\+[0-9]{8,15}$/;
// Not eight digits: far more likely a Polish number that lost one than a number of the few countries with such short ones.
const WITHOUT_PLUS = /^([0-9]{9}|[0-9]{10,15})$/;
const POLISH_NATIONAL = /^[1-9][0-9]{8}$/;
const TEN_DIGITS = /^[0-9]{10}$/;
const MOBILE: readonly (string | undefined)[] = ['MOBILE', 'FIXED_LINE_OR_MOBILE'];
// Of the countries whose mobile numbers without plus are ten digits that begin like Polish ones, the only one with traffic from Poland.
// The others (Cuba, Belize, Panama, Tokelau, Micronesia, the Marshall Islands) need the plus.
const TEN_DIGIT_NEIGHBOURS: readonly (string | undefined)[] = ['DK'];
const MASK = '*****';

/**
 * Parses a phone number as typed: E.164 with plus, without plus (10 to 15 digits), or 9 Polish digits (v2.3.0, Send, `to`). No spaces,
 * hyphens or trunk prefixes. The length must be possible for the calling code; whether a range is in use is not checked, as ranges change.
 * @returns the MSISDN in E.164 with plus, or null
 */
export function parseMsisdn(input: string): string | null {
  return isOverlongPolish(input) ? null : parseAddress(input);
}

/** As {@link parseMsisdn}, for numbers from networks: no check for typing errors, as machines do not mistype. */
export function parseAddress(input: string): string | null {
  const e164 = toE164(input);
  if (e164 === null) return null;
  if (isPolish(e164)) return POLISH_NATIONAL.test(e164.slice(POLAND.length)) ? e164 : null;
  const parsed = parsePhoneNumberFromString(e164);
  // A number that normalises differently (trunk zero after the calling code) is not E.164; accepting both forms would give one phone two
  // numbers, and bypass the opt-out of either.
  return parsed?.number === e164 && parsed.isPossible() ? e164 : null;
}

/** Whether ten digits are rather a Polish mobile number with a digit too many than the foreign number that would be billed. */
export function isOverlongPolish(input: string): boolean {
  if (!TEN_DIGITS.test(input)) return false;
  const polish = parsePhoneNumberFromString(POLAND + input.slice(0, 9));
  if (!MOBILE.includes(polish?.getType())) return false;
  const foreign = parsePhoneNumberFromString(`+${input}`);
  return !(TEN_DIGIT_NEIGHBOURS.includes(foreign?.country) && MOBILE.includes(foreign?.getType()));
}

// What people put between digits: blanks, hyphens and dashes, dots, slashes, brackets.
const SEPARATORS = /[\s\p{Pd}./()[\]]/gu;
const INTERNATIONAL_PREFIX = /^00(?=[1-9])/;

/** A number in the form {@link parseMsisdn} reads, of one as people write it: `0048 (500) 100-200`. What is no number stays none. */
export function withoutSeparators(written: string): string {
  return canonicalText(written).replaceAll(SEPARATORS, '').replace(INTERNATIONAL_PREFIX, '+');
}

/** Why a text is no number. */
export function numberProblem(input: string): {
  reason: 'number_malformed' | 'polish_number_too_long';
  given: string;
} {
  return { reason: isOverlongPolish(input) ? 'polish_number_too_long' : 'number_malformed', given: input };
}

export function isPolish(msisdn: string): boolean {
  return msisdn.startsWith(POLAND);
}

/** Whether a number is in a range of Polish mobile phones: no landline, no premium number. */
export function isPolishMobile(msisdn: string): boolean {
  return isPolish(msisdn) && MOBILE.includes(parsePhoneNumberFromString(msisdn)?.getType());
}

/** Country of an MSISDN, ISO 3166-1 alpha-2; null for none (satellite, freephone 800) or an ambiguous calling code (1, 7, 44 ...). */
export function countryOf(msisdn: string): string | null {
  return parsePhoneNumberFromString(msisdn)?.country ?? null;
}

/** Masks an MSISDN: `+48*****200`. Shows at most three digits and a third of the national number, and hides its length. */
export function maskMsisdn(msisdn: string): string {
  const parsed = WITH_PLUS.test(msisdn) ? parsePhoneNumberFromString(msisdn) : undefined;
  if (parsed === undefined) return MASK;
  const national = msisdn.slice(1 + parsed.countryCallingCode.length);
  const shown = Math.min(3, Math.floor(national.length / 3));
  return `+${parsed.countryCallingCode}${MASK}${national.slice(national.length - shown)}`;
}

function toE164(input: string): string | null {
  if (WITH_PLUS.test(input)) return input;
  if (!WITHOUT_PLUS.test(input)) return null;
  return input.length === 9 ? POLAND + input : `+${input}`;
}

const ALPHANUMERIC = /^(?=.*[A-Za-z])[A-Za-z0-9][A-Za-z0-9 .&_-]{0,10}$/;
const NUMERIC = /^[0-9]{3,15}$/;

/** Whether a text can be a sender: a name of 1 to 11 ASCII characters (3GPP TS 23.040, 9.1.2.5) or 3 to 15 digits without plus. */
export function isSenderName(input: string): boolean {
  return (ALPHANUMERIC.test(input) && !input.endsWith(' ')) || isNumber(input);
}

export function isNumber(sender: string): boolean {
  return NUMERIC.test(sender);
}
