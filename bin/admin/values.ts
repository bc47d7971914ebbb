import { z } from 'zod';
import { parseInstant } from '../../domain/calendar.ts';
import { isSenderName, parseMsisdn } from '../../domain/msisdn.ts';
import { MAX_PRICE } from '../../domain/money.ts';
import { defaulted, flag, optional, required } from './command.ts';

const MAX_ROWS = 1000;

/** A whole number between bounds; `unit` goes into the refusal (` of grosze`). */
export function wholeNumber(min: number, max: number, unit = '') {
  const rule = `a whole number${unit} from ${min} to ${max} is needed`;
  return z
    .string()
    .regex(/^-?[0-9]{1,15}$/, rule)
    .transform((typed) => Number(typed) + 0) // -0 is 0
    .pipe(z.number().min(min, rule).max(max, rule));
}

/** One line of text. */
export function line(max: number) {
  return z
    .string()
    .trim()
    .min(1, 'must not be empty')
    .refine((text) => [...text].length <= max, `at most ${max} characters`)
    .refine((text) => !/[\p{Cc}\p{Cs}\u2028\u2029]/u.test(text), 'control characters are not allowed');
}

/** An id: `id('msg', 'a message')`. */
export function id(prefix: string, what: string) {
  const rule = `the id of ${what} is needed (${prefix}_…)`;
  return z.string().regex(new RegExp(`^${prefix}_[0-9a-z]{1,60}$`), rule);
}

export const accountId = id('cl', 'an account');
export const messageId = id('msg', 'a message');
export const emailId = id('em', 'an e-mail');

/** Several messages, separated by commas; each once. */
export const messageIds = z
  .string()
  .transform((typed) => [...new Set(typed.split(','))])
  .pipe(z.array(messageId).max(MAX_ROWS, `at most ${MAX_ROWS} at a time`));

export const routeName = z
  .string()
  .regex(/^[a-z][a-z0-9-]{0,30}$/, 'a name of 1 to 31 of a-z, 0-9 and -, beginning with a letter, is needed');

/** Grosze net, for a part, a message or a look-up. */
export const price = wholeNumber(0, MAX_PRICE, ' of grosze');

/** One of these words. */
export function oneOf<const T extends readonly string[]>(...words: T) {
  return z.enum(words, `one of ${words.join(', ')} is needed`);
}

export const yesOrNo = oneOf('yes', 'no').transform((typed) => typed === 'yes');

/** What the schema reads, or a word for null. */
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

/** The first digits of numbers in E.164, without plus; `all`, for every number, is ''. */
export const numberPrefix = z
  .string()
  .regex(/^(all|\+?[1-9][0-9]{0,14})$/, 'the first digits of numbers such as 48 or 4850, or all, are needed')
  .transform((typed) => (typed === 'all' ? '' : typed.replace('+', '')));

/** JSON that an operation judges. */
export const json = z.string().transform((typed, context): unknown => {
  try {
    return JSON.parse(typed);
  } catch {
    context.addIssue({ code: 'custom', message: 'this is not JSON' });
    return z.NEVER;
  }
});

/** Text that an operation judges. */
export const text = z.string().min(1, 'must not be empty');

/** What a function reads; null refuses it. */
export function readBy<T>(read: (typed: string) => T | null, rule: string) {
  return z.string().transform((typed, context): T => {
    const value = read(typed);
    if (value !== null) return value;
    context.addIssue({ code: 'custom', message: rule });
    return z.NEVER;
  });
}

/** A phone number in one of the formats of the API → E.164. */
export const phoneNumber = readBy(parseMsisdn, 'a number such as +48600100200 or 600100200 is needed');

/** An instant in ISO 8601 with its offset → epoch milliseconds. */
export const instant = readBy(parseInstant, 'an instant such as 2026-11-21T10:00:00Z is needed');

export const senderName = text.refine(
  isSenderName,
  'a sender has 1 to 11 letters, digits, spaces or . & _ - with a letter among them, or 3 to 15 digits',
);

/** A net amount in PLN, `50` or `100.50`, read digit by digit into grosze. */
export const pln = z
  .string()
  .regex(/^[0-9]{1,9}(\.[0-9]{1,2})?$/, 'an amount in PLN such as 50 or 100.50 is needed')
  .transform((amount) => {
    const [whole = '', fraction = ''] = amount.split('.');
    return Number(whole) * 100 + Number(fraction.padEnd(2, '0'));
  });

/** A calendar month, `2026-11`. */
export const month = z.string().regex(/^20[0-9]{2}-(0[1-9]|1[0-2])$/, 'a month such as 2026-11 is needed');

/** `--account`, of a command about one account. */
export const account = required('--account <ID>', 'the account', accountId);
/** `--account`, which narrows a list. */
export const onlyAccount = optional('--account <ID>', 'only of this account', accountId);
/** `--yes`: without it a command that acts on many things only shows what it would do. */
export const yes = flag('--yes', 'does it; without this it only shows what it would do');

/** `--limit`: so many are listed, or acted on. */
export function limit(rows: number) {
  return defaulted('--limit <N>', 'at most so many', wholeNumber(1, MAX_ROWS), rows);
}

/** An option of these words: `choice('--mode', 'about', 'test', 'live')`. */
export function choice<const T extends readonly string[]>(name: string, about: string, ...words: T) {
  return optional(`${name} <${words.join('|')}>`, about, oneOf(...words));
}

/** An option of yes and no. */
export function yesNo(name: string, about: string) {
  return optional(`${name} <yes|no>`, about, yesOrNo);
}
