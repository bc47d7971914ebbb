import { z } from 'zod';
import { importContacts, saveContact } from '../../db/contacts/contactChanges.ts';
import type { Imported } from '../../db/contacts/contactPlan.ts';
import type { Database } from '../../db/connection.ts';
import { endpoint } from '../http/endpoint.ts';
import { issue } from '../fields.ts';
import type { Pace } from '../../operations/pace.ts';
import { contactSchema } from '../schemas.ts';
import { problemText } from '../http/texts.ts';
import { validate } from '../http/validation.ts';
import { readContactsCsv } from './import.ts';
import { numberedContact } from './input.ts';
import { contactRecord } from './record.ts';
import { refusalError, withRefusals } from './refusals.ts';
import { Refused } from '../../domain/refusals.ts';

const IMPORT_MAX = 500;
// 500 contacts with 20 fields of 31 + 200 characters, two names of 100 and an address of 254, all of two bytes each where they may be, are
// 500 * (20 * (462 + 6) + 2 * 200 + 254 + 150) = 5.1 MB; what is left is for groups. Nearly all imports are under 0.5 MB.
const REQUEST_LIMIT = 6 * 1024 * 1024;

interface Invalid {
  index: number;
  message: string;
}
type Body = { single: z.output<typeof numberedContact> } | { elements: unknown[] };

// One object is validated here, the elements of an array one by one later: a bad one does not stop the others.
const oneOrMany = z
  .unknown()
  .meta(described())
  .transform((value, context): Body => {
    if (Array.isArray(value)) {
      if (value.length <= IMPORT_MAX) return { elements: value };
      context.addIssue({ code: 'custom', ...issue({ reason: 'contacts_too_many', limit: IMPORT_MAX }) });
      return z.NEVER;
    }
    const parsed = numberedContact.safeParse(value);
    if (parsed.success) return { single: parsed.data };
    context.issues.push(
      ...parsed.error.issues.map((found) => ({ ...found, input: value }) as z.core.$ZodRawIssue),
    );
    return z.NEVER;
  });

/** POST /v1/contacts (v2.3.0, Contacts): creates or updates by number; an array, or a table as `text/csv`, imports. */
export const saveContacts = endpoint({
  method: 'POST',
  path: '/v1/contacts',
  scope: 'manage',
  summary: 'Creates or updates contacts by number.',
  body: oneOrMany,
  bodyLimit: REQUEST_LIMIT,
  parseCsv: readContactsCsv,
  responses: {
    200: contactSchema,
    201: z.union([
      contactSchema,
      z.strictObject({
        created: z.int().nonnegative(),
        updated: z.int().nonnegative(),
        invalid: z.array(z.strictObject({ index: z.int().nonnegative(), message: z.string() })),
      }),
    ]),
  },
  async handle({ services: { sql }, caller: { accountId }, body, pace }) {
    if ('elements' in body)
      return { status: 201, body: await importAll(sql, accountId, body.elements, pace) };
    const { created, contact } = await withRefusals(saveContact(sql, accountId, body.single));
    const record = contactRecord(contact);
    return created ? { status: 201, body: record } : { status: 200, body: record };
  },
});

async function importAll(sql: Database, accountId: string, elements: readonly unknown[], pace: Pace) {
  const invalid: Invalid[] = [];
  const valid: { index: number; contact: z.output<typeof numberedContact> }[] = [];
  for (const [index, element] of elements.entries()) {
    if (pace.due()) await pace.rest();
    const read = readElement(element);
    if (read instanceof Refused) invalid.push({ index, message: problemText(read.refusal) });
    else valid.push({ index, contact: read });
  }
  const contacts = valid.map(({ contact }) => contact);
  const outcomes = contacts.length === 0 ? [] : await withRefusals(importContacts(sql, accountId, contacts));
  for (const [position, outcome] of outcomes.entries()) {
    if (typeof outcome === 'string') continue;
    invalid.push({ index: valid[position]!.index, message: problemText(refusalError(outcome).refusal) });
  }
  const count = (kind: Imported) => outcomes.filter((outcome) => outcome === kind).length;
  return {
    created: count('created'),
    updated: count('updated'),
    invalid: invalid.sort((a, b) => a.index - b.index),
  };
}

function readElement(element: unknown): z.output<typeof numberedContact> | Refused {
  if (typeof element !== 'object' || element === null || Array.isArray(element)) {
    return new Refused({ reason: 'contact_not_object' });
  }
  try {
    return validate(numberedContact, element);
  } catch (error) {
    if (error instanceof Refused) return error;
    throw error;
  }
}

/** What the body may be, in JSON Schema: the schema itself is read by hand. */
function described(): Record<string, unknown> {
  const contact = z.toJSONSchema(numberedContact, { io: 'input' });
  delete contact.$schema;
  return { oneOf: [contact, { type: 'array', maxItems: IMPORT_MAX, items: contact }] };
}
