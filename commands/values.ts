import { z } from 'zod';
import { parseInstant } from '../domain/calendar.ts';
import { isSenderName, parseMsisdn } from '../domain/msisdn.ts';
import { MAX_PRICE, parsePln } from '../domain/money.ts';
import { defaulted, flag, optional, required } from './command.ts';

const MAX_ROWS = 1000;
const YEAR_MINUTES = 525_600;

/** @param unit part of the error message (` of grosze`) */
export function wholeNumber(min: number, max: number, unit = '') {
  const rule = `a whole number${unit} from ${min} to ${max} is needed`;
  return z
    .string()
    .regex(/^-?[0-9]{1,15}$/, rule)
    .transform((typed) => Number(typed) + 0) // -0 is 0
    .pipe(z.number().min(min, rule).max(max, rule));
}

export function line(max: number) {
  return z
    .string()
    .trim()
    .min(1, 'must not be empty')
    .refine((text) => [...text].length <= max, `at most ${max} characters`)
    .refine((text) => !/[\p{Cc}\p{Cs}\u2028\u2029]/u.test(text), 'control characters are not allowed');
}

export function id(prefix: string, what: string) {
  const rule = `the id of ${what} is needed (${prefix}_…)`;
  return z.string().regex(new RegExp(`^${prefix}_[0-9a-z]{1,60}$`), rule);
}

export const accountId = id('cl', 'an account');
export const messageId = id('msg', 'a message');
export const emailId = id('em', 'an e-mail');

export const messageIds = z
  .string()
  .transform((typed) => [...new Set(typed.split(','))])
  .pipe(z.array(messageId).max(MAX_ROWS, `at most ${MAX_ROWS} at a time`));

export const routeName = z
  .string()
  .regex(/^[a-z][a-z0-9-]{0,30}$/, 'a name of 1 to 31 of a-z, 0-9 and -, beginning with a letter, is needed');

/** Grosze net, per part, message or lookup. */
export const price = wholeNumber(0, MAX_PRICE, ' of grosze');

export function oneOf<const T extends readonly string[]>(...words: T) {
  return z.enum(words, `one of ${words.join(', ')} is needed`);
}

export const yesOrNo = oneOf('yes', 'no').transform((typed) => typed === 'yes');

/** What the schema reads, or null for the word `nothing`. */
export function orWord<T>(nothing: string, schema: z.ZodType<T, string>) {
  return z.string().transform((typed, context): T | null => {
    if (typed === nothing) return null;
    const read = schema.safeParse(typed);
    if (read.success) return read.data;
    const rule = read.error.issues[0]?.message ?? 'cannot be read';
    context.addIssue({ code: 'custom', message: `${rule}, or ${nothing}` });
    return z.NEVER;
  });
}

export function orNone<T>(schema: z.ZodType<T, string>) {
  return orWord('none', schema);
}

/** Leading digits of numbers in E.164, without plus; `all` becomes ''. */
export const numberPrefix = z
  .string()
  .regex(/^(all|\+?[1-9][0-9]{0,14})$/, 'the first digits of numbers such as 48 or 4850, or all, are needed')
  .transform((typed) => (typed === 'all' ? '' : typed.replace('+', '')));

/** Validated by the operation. */
export const json = z.string().transform((typed, context): unknown => {
  try {
    return JSON.parse(typed);
  } catch {
    context.addIssue({ code: 'custom', message: 'this is not JSON' });
    return z.NEVER;
  }
});

/** Validated by the operation. */
export const text = z.string().min(1, 'must not be empty');

/** What a function reads; null is an error. */
export function readBy<T>(read: (typed: string) => T | null, rule: string) {
  return z.string().transform((typed, context): T => {
    const value = read(typed);
    if (value !== null) return value;
    context.addIssue({ code: 'custom', message: rule });
    return z.NEVER;
  });
}

/** A phone number in one of the API's formats → E.164. */
export const phoneNumber = readBy(parseMsisdn, 'a number such as +48600100200 or 600100200 is needed');

/** ISO 8601 with offset → epoch milliseconds. */
export const instant = readBy(parseInstant, 'an instant such as 2026-11-21T10:00:00Z is needed');

export const senderName = text.refine(
  isSenderName,
  'a sender has 1 to 11 letters, digits, spaces or . & _ - with a letter among them, or 3 to 15 digits',
);

/** A net amount in PLN, `50` or `100.50`, → grosze. */
export const pln = z
  .string()
  .regex(/^[0-9]{1,9}(\.[0-9]{1,2})?$/, 'an amount in PLN such as 50 or 100.50 is needed')
  .transform((amount) => parsePln(amount)!);

/** `2026-11`. */
export const month = z.string().regex(/^20[0-9]{2}-(0[1-9]|1[0-2])$/, 'a month such as 2026-11 is needed');

export const account = required('--account <ID>', 'the account', accountId);
export const onlyAccount = optional('--account <ID>', 'only of this account', accountId);
/** Of what is stuck. */
export const stuckFilters = {
  account: onlyAccount,
  route: optional('--route <NAME>', 'only messages on one route', routeName),
  minutes: optional('--minutes <N>', 'for so long; each kind has a default', wholeNumber(0, YEAR_MINUTES)),
};
export const yes = flag('--yes', 'does it; without this it only shows what it would do');

export function limit(rows: number) {
  return defaulted('--limit <N>', 'at most so many', wholeNumber(1, MAX_ROWS), rows);
}

/** `choice('--mode', 'about', 'test', 'live')`. */
export function choice<const T extends readonly string[]>(name: string, about: string, ...words: T) {
  return optional(`${name} <${words.join('|')}>`, about, oneOf(...words));
}

/** Shows what is masked without it. */
export function inFull(name: string, about: string) {
  return { ...defaulted(`${name} <yes|no>`, about, yesOrNo, false), reveals: true as const };
}

export function yesNo(name: string, about: string) {
  return optional(`${name} <yes|no>`, about, yesOrNo);
}
