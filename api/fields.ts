import { z } from 'zod';
import { COMPOSED_OF } from '../domain/composed.ts';
import { type IdPrefix, idPattern } from '../domain/ids.ts';
import { parseInstant } from '../domain/instants.ts';
import { numberProblem, parseMsisdn } from '../domain/msisdn.ts';
import { isSenderName } from '../domain/senders.ts';
import { parseSendWindow } from '../domain/sendWindow.ts';
import type { Refusal } from '../domain/refusals.ts';
import { EXACT_MAX, isOneLine, isStorable } from '../domain/storable.ts';
import { documented, withStandard } from './documented.ts';

const REFERENCE_MAX = 255;
const SENDER_MAX = 15;
const DIGITS = /^[0-9]{1,9}$/;

/** How a phone number may be written, for descriptions of the interface; which ones exist no pattern can say. */
export const PHONE_NUMBER = {
  format: 'phone-number',
  pattern: '^(?:\\+[0-9]{8,15}|[0-9]{9,15})$',
  example: '+48500100200',
};

/** Hands a problem of ours through zod's issue to the error envelope; the field's name is filled in there. */
export function issue(refusal: Refusal | { reason: Refusal['reason'] }): { params: { refusal: object } } {
  return { params: { refusal } };
}

/**
 * An optional field of a body whose null says what leaving it out says: answers are full of nulls, and programs send them
 * back. Where null has a meaning of its own (it clears a value, turns something off) the field is `nullable` instead.
 */
export function omissible<Schema extends z.ZodType>(schema: Schema) {
  return schema
    .nullable()
    .transform((value) => value ?? undefined)
    .optional();
}

/**
 * As `omissible`, with what stands where the field is left out or null.
 * @param written how a caller would write that, where it is read into another form
 */
export function omissibleWithDefault<Schema extends z.ZodType>(
  schema: Schema,
  standard: NonNullable<z.output<Schema>>,
  written: unknown = standard,
) {
  return schema
    .nullish()
    .transform((value) => value ?? standard)
    .meta(withStandard(written));
}

/** For descriptions of a body: the field has to be there, and not null. */
export function given(field: string, type: 'string' | 'array'): object {
  return { required: [field], properties: { [field]: { type } } };
}

/**
 * For `refine`, before a text is composed: refuses what is longer than `max` however it is composed, so that nobody has megabytes
 * composed to learn that.
 */
export function notFarBeyond(max: number): [(value: string) => boolean, { params: { refusal: object } }] {
  const refusal = { reason: 'field_too_long', limit: max, unit: 'characters' } as const;
  return [(value) => value.length <= COMPOSED_OF * max, { params: { refusal } }];
}

/** Text as it can be stored and shown: no NUL, no lone surrogates. */
export const plainText = z
  .string()
  .refine(isStorable, issue({ reason: 'characters_forbidden' }))
  .meta({ pattern: '^[^\\u0000]*$' });

/** Text on one line: no control characters either. */
export const lineText = plainText
  .refine(isOneLine, issue({ reason: 'characters_forbidden' }))
  .meta({ pattern: '^[^\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029]*$' });

/** The id of a resource in a path; what has another form is refused. */
export function pathId(prefix: IdPrefix) {
  return z.string().regex(idPattern(prefix)).describe('The id.');
}

/** The same of a resource where what has another form is unknown. */
export function lenientPathId(prefix: IdPrefix) {
  return z.string().meta({ pattern: idPattern(prefix).source, description: 'The id.' });
}

/** The caller's own identifier: 1 to 255 characters. */
export const reference = documented(
  plainText.min(1).max(REFERENCE_MAX),
  'Your own identifier; comes back in answers and webhooks.',
  'order-1042',
);

/** A sender as asked for: one that can be; whether it is registered is the account's matter. */
export const senderName = plainText
  .min(1)
  .max(SENDER_MAX)
  .refine(isSenderName, issue({ reason: 'sender_malformed' }))
  .meta({
    pattern: '^(?:(?=.*[A-Za-z])[A-Za-z0-9](?:[A-Za-z0-9 .&_-]{0,9}[A-Za-z0-9.&_-])?|[0-9]{3,15})$',
    example: 'SKLEP',
  });

/** ISO 8601 with `Z` or an offset → epoch milliseconds. */
export const instant = z
  .string()
  .transform((value, context) => {
    const parsed = parseInstant(value);
    if (parsed !== null) return parsed;
    context.addIssue({ code: 'custom', ...issue({ reason: 'instant_malformed' }) });
    return z.NEVER;
  })
  .meta({ format: 'date-time' });

/** `HH:MM-HH:MM`, at least 15 minutes, the end up to 24:00; stays text. */
export const sendWindow = z
  .string()
  .refine((value) => parseSendWindow(value) !== null, issue({ reason: 'window_malformed' }))
  .meta({ pattern: '^(?:[01][0-9]|2[0-3]):[0-5][0-9]-(?:(?:[01][0-9]|2[0-3]):[0-5][0-9]|24:00)$' });

/** A phone number in one of the three formats → MSISDN in E.164 with plus. */
export const msisdn = z
  .string()
  .transform((value, context) => {
    const parsed = parseMsisdn(value);
    if (parsed !== null) return parsed;
    context.addIssue({ code: 'custom', ...issue(numberProblem(value)) });
    return z.NEVER;
  })
  .meta(PHONE_NUMBER);

/** A phone number in a path, which its handler reads. */
export const pathNumber = z.string().meta({ ...PHONE_NUMBER, description: 'A phone number.' });

/** `msisdn` in a query, where a plus that is not encoded has become a space. */
export const queryMsisdn = z
  .string()
  .transform((value, context) => {
    const parsed = parseMsisdn(value);
    if (parsed !== null) return parsed;
    const meant = value.startsWith(' ') ? parseMsisdn(`+${value.slice(1)}`) : null;
    context.addIssue({
      code: 'custom',
      ...issue(meant === null ? numberProblem(value) : { reason: 'plus_not_encoded' }),
    });
    return z.NEVER;
  })
  .meta(PHONE_NUMBER);

/** A page size in a query: a whole number from 1 to `max`. */
export function pageLimit(max: number, standard: number) {
  return z
    .string()
    .optional()
    .transform((value, context) => {
      if (value === undefined) return standard;
      const limit = DIGITS.test(value) ? Number(value) : 0;
      if (limit >= 1 && limit <= max) return limit;
      const refusal: Refusal = { reason: 'number_out_of_range', field: 'limit', min: 1, max };
      context.addIssue({ code: 'custom', ...issue(refusal) });
      return z.NEVER;
    })
    .meta({ type: 'integer', minimum: 1, maximum: max, ...withStandard(standard) });
}

/** A yes or no in a query: `true` or `false`. */
export const queryBoolean = z
  .enum(['true', 'false'])
  .transform((value) => value === 'true')
  .meta({ type: 'boolean', enum: undefined });

/** A number that is to become text: of a greater one other digits than the caller's would be left. */
export const exactNumber = z
  .number()
  .refine((value) => Math.abs(value) <= EXACT_MAX, issue({ reason: 'field_malformed' }))
  .meta({ minimum: -EXACT_MAX, maximum: EXACT_MAX });
