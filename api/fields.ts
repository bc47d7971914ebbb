import { z } from 'zod';
import { EXACT_MAX, idPattern, type IdPrefix, isOneLine, isStorable } from '../domain/ids.ts';
import { parseInstant } from '../domain/calendar.ts';
import { isSenderName, numberProblem, parseMsisdn } from '../domain/msisdn.ts';
import { parseSendWindow } from '../domain/sendWindow.ts';
import { canonicalText, isBlank } from '../domain/text.ts';
import type { Refusal } from '../domain/refusals.ts';

/** A schema with description and example for OpenAPI, docs and tools; without an example, use zod's `describe`. */
export function documented<Schema extends z.ZodType>(
  schema: Schema,
  description: string,
  example: z.input<Schema>,
): Schema {
  // Not `examples`: zod drops them from transformed schemas, as it takes them for output values. `schemaWriter` reads this key.
  return schema.meta({ description, example });
}

/** `meta` for the default of a transformed field, as a caller writes it. zod drops `default` there; `schemaWriter` reads this key. */
function withDefault(standard: unknown): { standard: unknown } {
  return { standard };
}

export function exampleId(prefix: IdPrefix): string {
  return `${prefix}_01kaj4c9v7n3w8t5q2x6y0z1ab`;
}

export const EXAMPLE_INSTANT = '2026-11-21T10:00:00.000Z';

const REFERENCE_MAX = 255;
const SENDER_MAX = 15;
const DIGITS = /^[0-9]{1,9}$/;

/** Form of a phone number for OpenAPI; no pattern can say which numbers exist. */
const PHONE_NUMBER = {
  format: 'phone-number',
  pattern: '^(?:\\+[0-9]{8,15}|[0-9]{9,15})$',
  example: '+48500100200',
};

/** Parses a value by a schema chosen for it, in a transformation whose issues become those of that schema. */
export function parseAs<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  { issues }: { issues: z.core.$ZodRawIssue[] },
): z.output<Schema> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  issues.push(...parsed.error.issues.map((found) => ({ ...found, input: value }) as z.core.$ZodRawIssue));
  return z.NEVER;
}

/** JSON Schema of a schema's input, as part of a larger one. */
export function inputSchema(schema: z.ZodType): Record<string, unknown> {
  const written: Record<string, unknown> = z.toJSONSchema(schema, { io: 'input' });
  delete written['$schema'];
  return written;
}

/** Attaches a refusal to a zod issue; `validate` fills in the field's name. */
export function issue(refusal: Refusal | { reason: Refusal['reason'] }): { params: { refusal: object } } {
  return { params: { refusal } };
}

/**
 * An optional request field for which null means left out: responses contain nulls, and programs send them back. Where null clears a
 * value or turns something off, the field is `nullable` instead.
 */
export function omissible<Schema extends z.ZodType>(schema: Schema) {
  return schema
    .nullable()
    .transform((value) => value ?? undefined)
    .optional();
}

/** As `omissible`, with a default for a missing or null field. `written`: the default as a caller writes it, if that is another form. */
export function omissibleWithDefault<Schema extends z.ZodType>(
  schema: Schema,
  standard: NonNullable<z.output<Schema>>,
  written: unknown = standard,
) {
  return schema
    .nullish()
    .transform((value) => value ?? standard)
    .meta(withDefault(written));
}

/** JSON Schema: the field is present and not null. */
export function given(field: string, type: 'string' | 'array'): object {
  return { required: [field], properties: { [field]: { type } } };
}

/** A program's own identifier, kept as it is: no NUL, no lone surrogates. */
export const identifier = z
  .string()
  .refine(isStorable, issue({ reason: 'characters_forbidden' }))
  .meta({ pattern: '^[^\\u0000]*$' });

/** Text that people type or paste, made canonical: here, so that nothing measures, compares or stores another form. */
export const plainText = identifier.overwrite(canonicalText).meta({ pattern: '^[^\\u0000]*$' });

/** One line of text: no control characters. */
export const lineText = plainText
  .refine(isOneLine, issue({ reason: 'characters_forbidden' }))
  .meta({ pattern: '^[^\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029]*$' });

const somethingSeen = [(value: string) => !isBlank(value), issue({ reason: 'field_blank' })] as const;

/** Text that is not blank. */
export const filledText = plainText.refine(...somethingSeen).min(1);

/** One line that is not blank, without blanks around it. */
export const filledLine = lineText
  .trim()
  .refine(...somethingSeen)
  .min(1);

/** Id of a resource in a path; a malformed one is refused as `resource_unknown`. */
export function pathId(prefix: IdPrefix) {
  return z.string().regex(idPattern(prefix)).describe('The id.');
}

/** Id of a resource in a path, whose form the handler checks. */
export function lenientPathId(prefix: IdPrefix) {
  return z.string().meta({ pattern: idPattern(prefix).source, description: 'The id.' });
}

export const reference = documented(
  identifier.min(1).max(REFERENCE_MAX),
  'Your own identifier; comes back in answers and webhooks.',
  'order-1042',
);

/** A well-formed sender; the operation checks that it is active on the account. */
export const senderName = plainText
  .min(1)
  .max(SENDER_MAX)
  .refine(isSenderName, issue({ reason: 'sender_malformed' }))
  .meta({
    pattern: '^(?:(?=.*[A-Za-z])[A-Za-z0-9](?:[A-Za-z0-9 .&_-]{0,9}[A-Za-z0-9.&_-])?|[0-9]{3,15})$',
    example: 'SKLEP',
  });

/** ISO 8601 with `Z` or an offset, transformed to epoch milliseconds. */
export const instant = z
  .string()
  .transform((value, context) => {
    const parsed = parseInstant(value);
    if (parsed !== null) return parsed;
    context.addIssue({ code: 'custom', ...issue({ reason: 'instant_malformed' }) });
    return z.NEVER;
  })
  .meta({ format: 'date-time' });

/** `HH:MM-HH:MM`, at least 15 minutes, end up to 24:00; not transformed. */
export const sendWindow = z
  .string()
  .refine((value) => parseSendWindow(value) !== null, issue({ reason: 'window_malformed' }))
  .meta({ pattern: '^(?:[01][0-9]|2[0-3]):[0-5][0-9]-(?:(?:[01][0-9]|2[0-3]):[0-5][0-9]|24:00)$' });

/** A phone number in one of the three formats, transformed to E.164 with plus. */
export const msisdn = z
  .string()
  .transform((value, context) => {
    const parsed = parseMsisdn(value);
    if (parsed !== null) return parsed;
    context.addIssue({ code: 'custom', ...issue(numberProblem(value)) });
    return z.NEVER;
  })
  .meta(PHONE_NUMBER);

/** A phone number in a path, parsed by the handler. */
export const pathNumber = z.string().meta({ ...PHONE_NUMBER, description: 'A phone number.' });

/** A page size in a query, from 1 to `max`. */
export function pageLimit<Standard extends number | undefined>(max: number, standard: Standard) {
  return z
    .string()
    .optional()
    .transform((value, context): number | Standard => {
      if (value === undefined) return standard;
      const limit = DIGITS.test(value) ? Number(value) : 0;
      if (limit >= 1 && limit <= max) return limit;
      const refusal: Refusal = { reason: 'number_out_of_range', field: 'limit', min: 1, max };
      context.addIssue({ code: 'custom', ...issue(refusal) });
      return z.NEVER;
    })
    .meta({
      type: 'integer',
      minimum: 1,
      maximum: max,
      ...(standard === undefined ? {} : withDefault(standard)),
    });
}

export const queryBoolean = z
  .enum(['true', 'false'])
  .transform((value) => value === 'true')
  .meta({ type: 'boolean', enum: undefined });

/** A number to be converted to text: beyond this range it would lose digits. */
export const exactNumber = z
  .number()
  .refine((value) => Math.abs(value) <= EXACT_MAX, issue({ reason: 'field_malformed' }))
  .meta({ minimum: -EXACT_MAX, maximum: EXACT_MAX });

export const timestamp = z.iso.datetime({ precision: 3 });
export const grosze = z.int();

export const createdAt = documented(timestamp, 'When it came to be.', EXAMPLE_INSTANT);
export const updatedAt = documented(timestamp, 'When it last changed.', EXAMPLE_INSTANT);

export const deletedSchema = z.strictObject({ deleted: z.string().describe('The id of what was removed.') });
