import { z } from 'zod';
import { COMPOSED_OF, EXACT_MAX, idPattern, type IdPrefix, isOneLine, isStorable } from '../domain/ids.ts';
import { parseInstant } from '../domain/calendar.ts';
import { isSenderName, numberProblem, parseMsisdn } from '../domain/msisdn.ts';
import { parseSendWindow } from '../domain/sendWindow.ts';
import type { Refusal } from '../domain/refusals.ts';

/**
 * A schema with what it means and how it may look, for whatever describes the interface; where there is no example, zod's
 * own `describe` does.
 */
export function documented<Schema extends z.ZodType>(
  schema: Schema,
  description: string,
  example: z.input<Schema>,
): Schema {
  // Not as `examples`: of what is transformed zod drops those, which it takes for results. `schemaWriter` reads this.
  return schema.meta({ description, example });
}

/**
 * For `meta`: what stands where a field that is transformed is left out, as a caller would write it. Not as `default`, for the same
 * reason: zod drops that too, and `schemaWriter` reads this.
 */
function withStandard(standard: unknown): { standard: unknown } {
  return { standard };
}

/** An id of the examples. */
export function exampleId(prefix: IdPrefix): string {
  return `${prefix}_01kaj4c9v7n3w8t5q2x6y0z1ab`;
}

/** An instant of the examples. */
export const EXAMPLE_INSTANT = '2026-11-21T10:00:00.000Z';

const REFERENCE_MAX = 255;
const SENDER_MAX = 15;
const DIGITS = /^[0-9]{1,9}$/;

/** How a phone number may be written, for descriptions of the interface; which ones exist no pattern can say. */
const PHONE_NUMBER = {
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

/** An instant of an answer. */
export const timestamp = z.iso.datetime({ precision: 3 });
/** Money. */
export const grosze = z.int();

export const createdAt = documented(timestamp, 'When it came to be.', EXAMPLE_INSTANT);
export const updatedAt = documented(timestamp, 'When it last changed.', EXAMPLE_INSTANT);

/** What the removal of a resource is answered with. */
export const deletedSchema = z.strictObject({ deleted: z.string().describe('The id of what was removed.') });
