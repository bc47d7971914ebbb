import { z } from 'zod';
import {
  type ContactFilter,
  type ContactRow,
  readContact,
  readContacts,
} from '../../db/contacts/contacts.ts';
import {
  createdAt,
  deletedSchema,
  documented,
  exampleId,
  issue,
  lineText,
  msisdn,
  pageLimit,
  pathId,
  plainText,
  updatedAt,
} from '../fields.ts';
import {
  CONTACT_GROUPS_MAX,
  CUSTOM_KEY,
  CUSTOM_VALUE_MAX,
  type CustomFieldChanges,
  EMAIL_MAX,
  PERSON_NAME_MAX,
  readCustomFields,
  SEARCH_TERMS_MAX,
  searchTerms,
} from '../../domain/contacts.ts';
import { EXACT_MAX, idPattern, isId } from '../../domain/ids.ts';
import { isBlank } from '../../domain/text.ts';
import { groupReference } from '../groups.ts';
import { hasGroup } from '../../db/contacts/groups.ts';
import { endpoint } from '../http/endpoint.ts';
import { ABOUT_CURSOR, ABOUT_LIMIT, PAGE_MAX, DEFAULT_PAGE_SIZE, pageOf, pageSchema } from '../paging.ts';
import { exportContacts } from './export.ts';
import { Refused } from '../../domain/refusals.ts';
import * as operations from '../../operations/addressBook/contacts.ts';

const FIRST_NAME = ['Fills `{{imie}}`.', 'Anna'] as const;
const LAST_NAME = ['Fills `{{nazwisko}}`.', 'Nowak'] as const;
const EMAIL = ['Fills `{{email}}`.', 'anna@example.com'] as const;

const membership = z.strictObject({
  id: documented(z.string(), 'The id.', exampleId('gr')),
  name: documented(z.string(), 'The name.', 'Klienci'),
});

export const contactSchema = z
  .strictObject({
    id: documented(z.string(), 'The id.', exampleId('ct')),
    msisdn: documented(z.string(), 'The number; one contact of the account has it.', '+48500100200'),
    first_name: documented(z.string().nullable(), ...FIRST_NAME),
    last_name: documented(z.string().nullable(), ...LAST_NAME),
    email: documented(z.string().nullable(), ...EMAIL),
    fields: documented(
      z.record(z.string(), z.string()),
      'Custom fields, up to 20. A key begins with a letter or underscore, then up to 30 letters, digits or underscores; a value has up to 200 characters. Each fills `{{key}}`.',
      { miasto: 'Kraków' },
    ),
    groups: documented(
      z.array(membership),
      'The groups that the contact is in: up to 100, unless it came into more before there was this limit.',
      [{ id: exampleId('gr'), name: 'Klienci' }],
    ),
    created_at: createdAt,
    updated_at: updatedAt,
  })
  .meta({ id: 'Contact', description: 'A person in the contact book.' });

/** A stored contact as JSON (v2.3.0, Contact). */
export function contactRecord(row: ContactRow) {
  return {
    id: row.id,
    msisdn: row.msisdn,
    first_name: row.firstName,
    last_name: row.lastName,
    email: row.email,
    fields: row.fields,
    groups: row.groups,
    created_at: row.createdAt.toISOString(),
    updated_at: row.updatedAt.toISOString(),
  };
}

const email = z.email();
const orNull = (value: string | null): string | null => (value === null || isBlank(value) ? null : value);

const personName = lineText.trim().max(PERSON_NAME_MAX).nullable().transform(orNull).optional();

const emailAddress = plainText
  .trim()
  .max(EMAIL_MAX)
  // zod's e-mail pattern overflows the stack on a text of megabytes.
  .refine(
    (value) => value === '' || (value.length <= EMAIL_MAX && email.safeParse(value).success),
    issue({ reason: 'field_malformed' }),
  )
  .meta({ anyOf: [{ format: 'email' }, { maxLength: 0 }] })
  .nullable()
  .transform(orNull)
  .optional();

// Parsed by hand: the refusal names the key, and a value may be a number.
const customFields = z
  .unknown()
  .meta({
    type: ['object', 'null'],
    propertyNames: { type: 'string', pattern: CUSTOM_KEY.source },
    additionalProperties: {
      type: ['string', 'number', 'null'],
      maxLength: CUSTOM_VALUE_MAX,
      minimum: -EXACT_MAX,
      maximum: EXACT_MAX,
    },
  })
  .transform((value, context): CustomFieldChanges | null => {
    if (value === null) return null;
    const read = readCustomFields(value);
    if ('fields' in read) return read.fields;
    context.addIssue({ code: 'custom', ...issue(read.problem) });
    return z.NEVER;
  })
  .optional();

const contactFields = {
  first_name: documented(personName, ...FIRST_NAME),
  last_name: documented(personName, ...LAST_NAME),
  email: documented(emailAddress, ...EMAIL),
  fields: documented(customFields, 'Custom fields to set; null or an empty text removes one.', {
    miasto: 'Kraków',
  }),
  groups: documented(
    z
      .array(groupReference)
      .max(CONTACT_GROUPS_MAX)
      .nullable()
      .transform((groups) => groups ?? [])
      .optional(),
    'Names or ids of the groups it is in from now on; unknown names are created.',
    ['Klienci'],
  ),
};

export const numberedContact = z
  .strictObject({
    msisdn: msisdn.describe('The number: by it a contact is found or created.'),
    ...contactFields,
  })
  .transform(({ msisdn: number, ...change }) => ({ msisdn: number, change }));

const contactPatch = z
  .strictObject({ msisdn: msisdn.optional().describe('Another number for the contact.'), ...contactFields })
  .transform(({ msisdn: number, ...change }) => ({ msisdn: number, change }));

const SEARCH_MAX = 254;

const search = lineText
  .max(SEARCH_MAX)
  .transform((value, context) => {
    const terms = searchTerms(value);
    if (terms.length <= SEARCH_TERMS_MAX) return terms;
    context.addIssue({ code: 'custom', ...issue({ reason: 'search_too_long', limit: SEARCH_TERMS_MAX }) });
    return z.NEVER;
  })
  .meta({ maxLength: SEARCH_MAX });

/** GET /v1/contacts (v2.3.0, Contacts): a page sorted by id, or the whole list as `text/csv`. */
export const listContacts = endpoint({
  method: 'GET',
  path: '/v1/contacts',
  scope: 'read',
  id: 'listContacts',
  summary: 'Lists or searches contacts.',
  description:
    'Contacts sorted by id; `next_cursor` is the last id of the page. With `Accept: text/csv` all of them as a table.',
  statusTexts: { 404: 'The group is unknown.' },
  errors: [404],
  query: z.strictObject({
    q: documented(
      search.optional(),
      'Words, at most 10, in any order: each is looked for as a fragment of the number, first name, last name or email. Groups of digits side by side are one number.',
      'jan kowalski',
    ),
    group_id: documented(z.string().optional(), 'Only contacts of this group.', exampleId('gr')),
    // No default: a CSV export without a limit contains all contacts.
    limit: pageLimit(PAGE_MAX, undefined).describe(ABOUT_LIMIT),
    cursor: z
      .string()
      .refine((id) => isId('ct', id), issue({ reason: 'cursor_malformed' }))
      .meta({ pattern: idPattern('ct').source, description: ABOUT_CURSOR })
      .optional(),
  }),
  csv: true,
  responses: { 200: pageSchema(contactSchema) },
  async handle({ services: { sql }, caller: { accountId }, query, csv }) {
    const { group_id: groupId = null, cursor: after = null } = query;
    if (groupId !== null && !(isId('gr', groupId) && (await hasGroup(sql, accountId, groupId)))) {
      throw new Refused({ reason: 'group_unknown', group: groupId }, 'group_id');
    }
    const filter: ContactFilter = { terms: query.q ?? [], groupId, after };
    if (csv) {
      const table = await exportContacts(sql, accountId, filter, query.limit ?? Infinity);
      return { status: 200, filename: 'contacts.csv', csv: table };
    }
    const pageSize = query.limit ?? DEFAULT_PAGE_SIZE;
    const found = await readContacts(sql, accountId, filter, pageSize + 1);
    const { page, last } = pageOf(found, pageSize);
    return { status: 200, body: { data: page.map(contactRecord), next_cursor: last?.id ?? null } };
  },
});

const byId = z.strictObject({ id: pathId('ct') });

export const getContact = endpoint({
  method: 'GET',
  path: '/v1/contacts/:id',
  scope: 'read',
  id: 'getContact',
  summary: 'Shows one contact.',
  description: 'One contact.',
  params: byId,
  responses: { 200: contactSchema },
  async handle({ services: { sql }, caller: { accountId }, params: { id } }) {
    const contact = await readContact(sql, accountId, id);
    if (contact === null) throw new Refused({ reason: 'contact_unknown' });
    return { status: 200, body: contactRecord(contact) };
  },
});

export const changeContact = endpoint({
  method: 'PATCH',
  path: '/v1/contacts/:id',
  scope: 'manage',
  id: 'changeContact',
  summary: 'Changes one contact.',
  description:
    'Changes the fields given: null or an empty text clears a field, omitted ones stay, `groups` replaces the memberships.',
  statusTexts: {
    404: 'There is no such contact, or a group id is unknown.',
    409: 'The number belongs to another contact.',
  },
  errors: [409],
  params: byId,
  body: contactPatch,
  example: { last_name: 'Nowak', email: null },
  responses: { 200: contactSchema },
  async handle(call) {
    const { id } = call.params;
    const contact = await operations.changeContact({ ...call, input: { id, ...call.body } });
    return { status: 200, body: contactRecord(contact) };
  },
});

export const deleteContact = endpoint({
  method: 'DELETE',
  path: '/v1/contacts/:id',
  scope: 'manage',
  id: 'deleteContact',
  summary: 'Removes one contact.',
  description: 'Removes a contact and its memberships. Does not put the number on the blacklist.',
  params: byId,
  responses: { 200: deletedSchema },
  async handle(call) {
    await operations.deleteContact({ ...call, input: call.params });
    return { status: 200, body: { deleted: call.params.id } };
  },
});
