import { z } from 'zod';
import {
  CUSTOM_KEY,
  CUSTOM_VALUE_MAX,
  type CustomFieldChanges,
  readCustomFields,
} from '../../domain/contactFields.ts';
import { CONTACT_GROUPS_MAX, EMAIL_MAX, PERSON_NAME_MAX } from '../../domain/contacts.ts';
import { composed } from '../../domain/composed.ts';
import { EXACT_MAX } from '../../domain/storable.ts';
import { documented } from '../documented.ts';
import { issue, lineText, msisdn, notFarBeyond, plainText } from '../fields.ts';
import { groupReference } from '../groups/input.ts';
import { EMAIL, FIRST_NAME, LAST_NAME } from './record.ts';

const email = z.email();
const orNull = (value: string | null): string | null => (value === '' ? null : value);

const personName = lineText
  .refine(...notFarBeyond(PERSON_NAME_MAX))
  .transform(composed)
  .pipe(z.string().trim().max(PERSON_NAME_MAX))
  .meta({ maxLength: PERSON_NAME_MAX })
  .nullable()
  .transform(orNull)
  .optional();

const emailAddress = plainText
  .trim()
  .max(EMAIL_MAX)
  // The pattern of an address overflows the stack with a text of megabytes.
  .refine(
    (value) => value === '' || (value.length <= EMAIL_MAX && email.safeParse(value).success),
    issue({ reason: 'field_malformed' }),
  )
  .meta({ anyOf: [{ format: 'email' }, { maxLength: 0 }] })
  .nullable()
  .transform(orNull)
  .optional();

// Read by hand: the key is named in the problem, and a value that is no text may be a number.
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

/** What may be said of a contact; as a body's fields (v2.3.0, Contact). */
export const contactFields = {
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

/** A contact to be created or updated by its number. */
export const numberedContact = z
  .strictObject({
    msisdn: msisdn.describe('The number: by it a contact is found or created.'),
    ...contactFields,
  })
  .transform(({ msisdn: number, ...change }) => ({ msisdn: number, change }));

/** A change of a contact that exists. */
export const contactPatch = z
  .strictObject({
    msisdn: msisdn.optional().describe('Another number for the contact.'),
    ...contactFields,
  })
  .transform(({ msisdn: number, ...change }) => ({ msisdn: number, change }));
