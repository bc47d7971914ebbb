import { z } from 'zod';
import { parseInstant } from '../domain/instants.ts';
import { parseMsisdn } from '../domain/msisdn.ts';
import { isSenderName } from '../domain/senders.ts';
import { parseSendWindow } from '../domain/sendWindow.ts';
import type { Problem } from './errors.ts';

const REFERENCE_MAX = 255;
const SENDER_MAX = 15;
const DIGITS = /^[0-9]{1,9}$/;
// A lone surrogate is no character, and PostgreSQL stores no NUL.
const UNSTORABLE = /[\0\p{Surrogate}]/u;

/** Hands a problem of ours through zod's issue to the error envelope; the field's name is filled in there. */
export function issue(problem: Problem | { reason: Problem['reason'] }): { params: { problem: object } } {
  return { params: { problem } };
}

/** Text as it can be stored and shown: no NUL, no lone surrogates. */
export const plainText = z
  .string()
  .refine((value) => !UNSTORABLE.test(value), issue({ reason: 'characters_forbidden' }));

/** The caller's own identifier: 1 to 255 characters. */
export const reference = plainText.min(1).max(REFERENCE_MAX);

/** A sender as asked for: one that can be; whether it is registered is the account's matter. */
export const senderName = plainText
  .min(1)
  .max(SENDER_MAX)
  .refine(isSenderName, issue({ reason: 'sender_malformed' }));

/** ISO 8601 with `Z` or an offset → epoch milliseconds. */
export const instant = z.string().transform((value, context) => {
  const parsed = parseInstant(value);
  if (parsed !== null) return parsed;
  context.addIssue({ code: 'custom', ...issue({ reason: 'instant_malformed' }) });
  return z.NEVER;
});

/** `HH:MM-HH:MM`, at least 15 minutes; stays text. */
export const sendWindow = z
  .string()
  .refine((value) => parseSendWindow(value) !== null, issue({ reason: 'window_malformed' }));

/** A phone number in one of the three formats → MSISDN in E.164 with plus. */
export const msisdn = z.string().transform((value, context) => {
  const parsed = parseMsisdn(value);
  if (parsed !== null) return parsed;
  context.addIssue({ code: 'custom', ...issue({ reason: 'field_malformed' }) });
  return z.NEVER;
});

/** `msisdn` in a query, where a plus that is not encoded has become a space. */
export const queryMsisdn = z.string().transform((value, context) => {
  const parsed = parseMsisdn(value);
  if (parsed !== null) return parsed;
  const meant = value.startsWith(' ') ? parseMsisdn(`+${value.slice(1)}`) : null;
  context.addIssue({
    code: 'custom',
    ...issue({ reason: meant === null ? 'field_malformed' : 'plus_not_encoded' }),
  });
  return z.NEVER;
});

/** A page size in a query: a whole number from 1 to `max`. */
export function pageLimit(max: number, standard: number) {
  return z
    .string()
    .default(String(standard))
    .transform((value, context) => {
      const limit = DIGITS.test(value) ? Number(value) : 0;
      if (limit >= 1 && limit <= max) return limit;
      const problem: Problem = { reason: 'number_out_of_range', field: 'limit', min: 1, max };
      context.addIssue({ code: 'custom', ...issue(problem) });
      return z.NEVER;
    });
}
