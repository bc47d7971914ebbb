import { z } from 'zod';
import { deleteContact, listContacts, numberedContact } from '../../api/contacts/contacts.ts';
import { saveContacts } from '../../api/contacts/import.ts';
import { addGroupContacts, listGroups } from '../../api/groups.ts';
import { IMPORT_MAX } from '../../domain/contacts.ts';
import { Refused } from '../../domain/refusals.ts';
import { CURSOR, tool } from '../tool.ts';

export const contactTools = [
  tool({
    name: 'list_contacts',
    title: 'List or search contacts',
    description:
      'Lists contacts, or searches them by fragments of number, name or e-mail (`q`), or within a group (`group_id`). A page holds what fits: pass `next_cursor` as `cursor` for the next.',
    subsets: ['contacts'],
    endpoint: listContacts,
    reads: true,
    thirdParty: true,
  }),
  tool({
    name: 'upsert_contacts',
    title: 'Create or update contacts',
    description:
      'Creates contacts, or updates those whose number is known: up to 500 at once. Given fields overwrite, omitted ones stay, `groups` replaces the memberships (unknown group names are created). Bad elements are listed in `invalid` by their place and do not stop the others.',
    subsets: ['contacts'],
    endpoint: saveContacts,
    extraArguments: z.strictObject({
      contacts: z
        .array(numberedContact)
        .min(1)
        .max(IMPORT_MAX)
        .describe('The contacts; each needs `msisdn`, the number.'),
    }),
    destroys: true,
    repeatable: true,
    thirdParty: true,
    // The endpoint also accepts a single contact, with another response.
    toEndpointCall({ contacts }) {
      if (!Array.isArray(contacts)) {
        throw new Refused({ reason: 'field_type', field: 'contacts', expected: 'array' }, 'contacts');
      }
      return { endpoint: saveContacts, params: {}, query: {}, body: contacts };
    },
    counts: ['created', 'updated'],
  }),
  tool({
    name: 'delete_contact',
    title: 'Delete a contact',
    description:
      'Deletes one contact (ct_…) with its group memberships. It cannot be undone. The number is not blocked: for that use `add_to_blacklist`.',
    subsets: ['contacts'],
    endpoint: deleteContact,
    deletes: { field: 'id', question: 'Delete this contact?' },
    destroys: true,
    repeatable: true,
  }),
  tool({
    name: 'list_groups',
    title: 'List contact groups',
    description:
      'Lists the contact groups by name with their number of members. Send to one with "group:<name or id>" as `to` of `send_sms`.',
    subsets: ['contacts'],
    endpoint: listGroups,
    extraArguments: CURSOR,
    reads: true,
    thirdParty: true,
  }),
  tool({
    name: 'add_to_group',
    title: 'Add contacts to a group',
    description:
      'Adds contacts by id (`contact_ids`) or number (`msisdns`), up to 500 in all, to a group (gr_…). Unknown numbers become contacts without a name. A contact may be in 100 groups. To create a group, name it in `groups` of `upsert_contacts`.',
    subsets: ['contacts'],
    endpoint: addGroupContacts,
    repeatable: true,
    counts: ['added'],
  }),
];
