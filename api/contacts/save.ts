import { z } from 'zod';
import type { NumberedChange } from '../../domain/contactPlan.ts';
import { IMPORT_MAX } from '../../domain/contacts.ts';
import { Refused } from '../../domain/refusals.ts';
import { saveContact } from '../../operations/addressBook/contacts.ts';
import { importContacts } from '../../operations/addressBook/importContacts.ts';
import { endpoint } from '../http/endpoint.ts';
import { documented } from '../documented.ts';
import { problemText } from '../http/texts.ts';
import { validate } from '../http/validation.ts';
import { readContactsCsv } from './import.ts';
import { numberedContact } from './input.ts';
import { contactRecord, contactSchema } from './record.ts';

// 500 contacts with 20 fields of 31 + 200 characters, two names of 100 and an address of 254, all of two bytes each where they may be, are
// 500 * (20 * (462 + 6) + 2 * 200 + 254 + 150) = 5.1 MB; what is left is for groups. Nearly all imports are under 0.5 MB.
const REQUEST_LIMIT = 6 * 1024 * 1024;

type Body = { single: NumberedChange } | { elements: unknown[] };

// One object is validated here, the elements of an array one by one later: a bad one does not stop the others.
const oneOrMany = z
  .unknown()
  .meta(described())
  .transform((value, context): Body => {
    if (Array.isArray(value)) return { elements: value };
    const parsed = numberedContact.safeParse(value);
    if (parsed.success) return { single: parsed.data };
    context.issues.push(
      ...parsed.error.issues.map((found) => ({ ...found, input: value }) as z.core.$ZodRawIssue),
    );
    return z.NEVER;
  });

const invalidElement = z.strictObject({
  index: documented(z.int().nonnegative(), 'Its place in the array, from 0.', 0),
  message: documented(
    z.string(),
    'What is wrong with it, in Polish.',
    'Pole „msisdn” ma nieprawidłową wartość.',
  ),
});
export const importSchema = z.strictObject({
  created: documented(z.int().nonnegative(), 'Contacts that are new.', 1),
  updated: documented(z.int().nonnegative(), 'Contacts that were known.', 0),
  invalid: documented(z.array(invalidElement), 'Elements that were left out.', []),
});

/** POST /v1/contacts (v2.3.0, Contacts): creates or updates by number; an array, or a table as `text/csv`, imports. */
export const saveContacts = endpoint({
  method: 'POST',
  path: '/v1/contacts',
  scope: 'manage',
  id: 'saveContacts',
  summary: 'Creates or updates contacts by number.',
  description:
    'Creates contacts or updates those whose number is known: given fields overwrite, omitted ones stay, `groups` replaces the memberships. One object is answered with the Contact; an array with counts, its bad elements listed in `invalid`. Takes `text/csv` as an array.',
  statusTexts: { 404: 'A group id is unknown.' },
  refusals: [
    'group_unknown',
    'fields_too_many',
    'quota_reached',
    'contacts_too_many',
    'csv_malformed',
    'csv_header_too_wide',
    'csv_column_repeated',
    'field_key_malformed',
    'field_key_reserved',
  ],
  body: oneOrMany,
  example: {
    msisdn: '+48500100200',
    first_name: 'Anna',
    fields: { miasto: 'Kraków' },
    groups: ['Klienci'],
  },
  bodyLimit: REQUEST_LIMIT,
  parseCsv: readContactsCsv,
  responses: {
    200: contactSchema,
    201: z.union([contactSchema, importSchema]),
  },
  async handle(call) {
    const { body } = call;
    if ('elements' in body) {
      const { invalid, ...counts } = await importContacts({ ...call, input: body.elements }, readElement);
      const listed = invalid.map(({ index, refusal }) => ({ index, message: problemText(refusal) }));
      return { status: 201, body: { ...counts, invalid: listed } };
    }
    const { created, contact } = await saveContact({ ...call, input: body.single });
    const record = contactRecord(contact);
    return created ? { status: 201, body: record } : { status: 200, body: record };
  },
});

function readElement(element: unknown): NumberedChange {
  if (typeof element !== 'object' || element === null || Array.isArray(element)) {
    throw new Refused({ reason: 'contact_not_object' });
  }
  return validate(numberedContact, element);
}

/** What the body may be, in JSON Schema: the schema itself is read by hand. */
function described(): Record<string, unknown> {
  const contact = z.toJSONSchema(numberedContact, { io: 'input' });
  delete contact.$schema;
  return { oneOf: [contact, { type: 'array', maxItems: IMPORT_MAX, items: contact }] };
}
