import { z } from 'zod';
import {
  ACCOUNT_NAME_LENGTH,
  MAX_CONFIRM_GROSZE,
  MAX_CONFIRM_RECIPIENTS,
  MAX_GROSZE,
  MAX_PRICE,
  MAX_RATE_LIMIT,
  NOTE_LENGTH,
  TOKEN_LABEL_LENGTH,
} from '../../domain/staffLimits.ts';
import { ALL_SCOPES } from '../../operations/accounts/keys.ts';

const MAX_ROWS = 1000;
// As of the webhook that an account sets itself.
const URL_LENGTH = 2048;

/** A whole number between bounds; `unit` goes into the refusal (` of grosze`). */
export function wholeNumber(min: number, max: number, unit: string) {
  const rule = `a whole number${unit} from ${min} to ${max} is needed`;
  return z
    .string()
    .regex(/^-?[0-9]{1,15}$/, rule)
    .transform(Number)
    .pipe(z.number().min(min, rule).max(max, rule))
    .transform((value) => (Object.is(value, -0) ? 0 : value));
}

function line(max: number) {
  return z
    .string()
    .trim()
    .min(1, 'must not be empty')
    .refine((text) => [...text].length <= max, `at most ${max} characters`)
    .refine((text) => !/[\p{Cc}\p{Cs}\u2028\u2029]/u.test(text), 'control characters are not allowed');
}

function id(prefix: string, what: string) {
  return z
    .string()
    .regex(new RegExp(`^${prefix}_[0-9a-z]{1,60}$`), `the id of ${what} is needed (${prefix}_…)`);
}

export const accountId = id('cl', 'an account');
export const keyId = id('key', 'a key');
export const tokenId = id('tok', 'a token');
export const tokenLabel = line(TOKEN_LABEL_LENGTH);
export const messageId = id('msg', 'a message');
export const requestId = id('req', 'a request');
export const emailId = id('em', 'an e-mail');
/** Several of them, separated by commas; each once. */
export const messageIds = z
  .string()
  .transform((typed) => [...new Set(typed.split(','))])
  .pipe(z.array(messageId).max(MAX_ROWS, `at most ${MAX_ROWS} at a time`));
export const eventId = id('evt', 'a webhook event');
export const routeName = z
  .string()
  .regex(/^[a-z][a-z0-9-]{0,30}$/, 'a name of 1 to 31 of a-z, 0-9 and -, beginning with a letter, is needed');
export const statementId = id('st', 'a statement');
export const accountName = line(ACCOUNT_NAME_LENGTH);
export const note = line(NOTE_LENGTH);
/** Grosze net, not negative. */
export const grosze = wholeNumber(0, MAX_GROSZE, ' of grosze');
/** Grosze net, negative to take away. */
export const signedGrosze = wholeNumber(-MAX_GROSZE, MAX_GROSZE, ' of grosze').refine(
  (value) => value !== 0,
  'zero changes nothing',
);
/** Beyond which a send through a tool has to be agreed to. */
export const confirmRecipients = wholeNumber(0, MAX_CONFIRM_RECIPIENTS, '');
export const confirmGrosze = wholeNumber(0, MAX_CONFIRM_GROSZE, ' of grosze');
/** Grosze net per part, or per lookup. */
export const price = wholeNumber(0, MAX_PRICE, ' of grosze');
export const rateLimit = wholeNumber(1, MAX_RATE_LIMIT, '');
export const rows = wholeNumber(1, MAX_ROWS, '');
/** Words to choose from. */
export const oneOf = <const T extends [string, ...string[]]>(...words: T) =>
  z.enum(words, `one of ${words.join(', ')} is needed`);
export const yesOrNo = oneOf('yes', 'no').transform((word) => word === 'yes');
/** The same, or a word for null. */
const orWord = <T>(nothing: string, schema: z.ZodType<T, string>) =>
  z.string().transform((word, context): T | null => {
    if (word === nothing) return null;
    const read = schema.safeParse(word);
    if (read.success) return read.data;
    context.addIssue({
      code: 'custom',
      message: `${read.error.issues[0]?.message ?? 'cannot be read'}, or ${nothing}`,
    });
    return z.NEVER;
  });
export const orNone = <T>(schema: z.ZodType<T, string>) => orWord('none', schema);
export const orUsual = <T>(schema: z.ZodType<T, string>) => orWord('usual', schema);
/** The beginning of numbers in E.164, without plus; `all` for every number. */
export const numberPrefix = z
  .string()
  .regex(/^(all|\+?[1-9][0-9]{0,14})$/, 'the first digits of numbers such as 48 or 4850, or all, are needed')
  .transform((typed) => (typed === 'all' ? '' : typed.replace('+', '')));
/** Text that `run` judges by a rule of the domain. */
export const text = z.string().min(1, 'must not be empty');

/** An instant in ISO 8601 with its zone → epoch milliseconds. */
export const instant = z.iso
  .datetime({ offset: true, error: 'an instant such as 2026-11-21T10:00:00Z is needed' })
  .transform((typed) => Date.parse(typed));

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

/** `send,read` → those scopes in their usual order, each once. */
export const scopes = z
  .string()
  .refine(
    (list) => list.split(',').every((scope) => ALL_SCOPES.some((known) => known === scope)),
    'a list such as send,read,manage is needed',
  )
  .transform((list) => ALL_SCOPES.filter((scope) => list.split(',').includes(scope)));
/** Any address, or `none`; whether it will do, the operation knows. */
export const webhookUrlOrNone = orWord('none', line(URL_LENGTH));
