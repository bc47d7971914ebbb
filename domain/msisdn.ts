import { parsePhoneNumberFromString } from 'libphonenumber-js/max';

const POLAND = '+48';
const WITH_PLUS = /^\+[0-9]{8,15}$/;
// Eight digits without plus are a Polish number that lost one far more often than a number of the few countries that short.
const WITHOUT_PLUS = /^([0-9]{9}|[0-9]{10,15})$/;
const POLISH_NATIONAL = /^[1-9][0-9]{8}$/;
const TEN_DIGITS = /^[0-9]{10}$/;
const MOBILE: readonly (string | undefined)[] = ['MOBILE', 'FIXED_LINE_OR_MOBILE'];
// Among the countries whose mobile numbers, written without plus, are ten digits that begin as Polish ones do, the one
// that is written to from Poland. The others (Cuba, Belize, Panama, Tokelau, Micronesia, the Marshall Islands) need the plus.
const TEN_DIGIT_NEIGHBOURS: readonly (string | undefined)[] = ['DK'];
const MASK = '*****';

/**
 * Reads a phone number as people write it, in one of the three formats of v2.3.0, Send, field `to`: E.164 with plus, E.164
 * without plus (10 to 15 digits), or 9 digits (Polish). Nothing else is taken: no spaces, hyphens, 00 or national trunk
 * prefixes, nor what is more likely a Polish mobile number with a digit too many (see `isOverlongPolish`).
 *
 * The country calling code has to exist and the length to be possible for it. Whether a numbering range
 * is in use is not asked: ranges change faster than any table of them. A Polish number has exactly 9
 * national digits, the first not 0.
 *
 * @returns the MSISDN in E.164 with plus, or null when the input is malformed
 */
export function parseMsisdn(input: string): string | null {
  return isOverlongPolish(input) ? null : parseAddress(input);
}

/**
 * Reads a phone number as networks write it: the same formats, without a guess at what was meant, as machines do not
 * mistype.
 * @returns the MSISDN in E.164 with plus, or null when the input is no number
 */
export function parseAddress(input: string): string | null {
  const e164 = toE164(input);
  if (e164 === null) return null;
  if (isPolish(e164)) return POLISH_NATIONAL.test(e164.slice(POLAND.length)) ? e164 : null;
  const parsed = parsePhoneNumberFromString(e164);
  // A number that reads differently once normalised (a trunk zero after the calling code) is not E.164;
  // letting both forms in would be one phone under two numbers, past the opt-out of either.
  return parsed?.number === e164 && parsed.isPossible() ? e164 : null;
}

/**
 * Whether ten digits without plus are more likely a Polish mobile number with a digit too many than a number of the country
 * that they would be read as, and billed for: the first nine are a Polish mobile number, and all ten no mobile number of a
 * country that is written to.
 */
export function isOverlongPolish(input: string): boolean {
  if (!TEN_DIGITS.test(input)) return false;
  const polish = parsePhoneNumberFromString(POLAND + input.slice(0, 9));
  if (!MOBILE.includes(polish?.getType())) return false;
  const foreign = parsePhoneNumberFromString(`+${input}`);
  return !(TEN_DIGIT_NEIGHBOURS.includes(foreign?.country) && MOBILE.includes(foreign?.getType()));
}

/** What is wrong with a phone number that could not be read. */
export function numberProblem(input: string): { reason: 'number_malformed' | 'polish_number_too_long' } {
  return { reason: isOverlongPolish(input) ? 'polish_number_too_long' : 'number_malformed' };
}

/** Whether an MSISDN (E.164 with plus) is Polish; the calling code 48 is Poland's alone. */
export function isPolish(msisdn: string): boolean {
  return msisdn.startsWith(POLAND);
}

/**
 * The country of an MSISDN (E.164 with plus) as ISO 3166-1 alpha-2, or null where the number belongs to
 * none (satellite, freephone 800) or a shared calling code (1, 7, 44 ...) does not say.
 */
export function countryOf(msisdn: string): string | null {
  return parsePhoneNumberFromString(msisdn)?.country ?? null;
}

/**
 * Hides the middle of an MSISDN for people's eyes: calling code, five stars, last digits
 * (`+48*****200`). At most three digits and never more than a third of the national number are
 * shown; the number of stars says nothing about its length. What is no MSISDN becomes stars alone.
 */
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

/**
 * Whether a text can be a sender: a name of 1 to 11 ASCII characters (letters, digits, space, `.`, `&`,
 * `_`, `-`) that begins with a letter or digit, has a letter and does not end in a space; or a number of
 * 3 to 15 digits without plus.
 *
 * The 11 characters are the network's limit for alphanumeric senders (3GPP TS 23.040, 9.1.2.5). Says
 * nothing on whether the sender is registered or active.
 */
export function isSenderName(input: string): boolean {
  return (ALPHANUMERIC.test(input) && !input.endsWith(' ')) || isNumber(input);
}

/** Whether a sender is a number rather than a name. */
export function isNumber(sender: string): boolean {
  return NUMERIC.test(sender);
}
