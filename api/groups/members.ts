import { z } from 'zod';
import { addMembers, removeMember } from '../../operations/addressBook/members.ts';
import { documented, exampleId } from '../documented.ts';
import { endpoint } from '../http/endpoint.ts';
import { given, omissible, pathId } from '../fields.ts';

// Longer than any id or number; what is longer is no slip of the pen.
const VALUE_MAX = 100;

const values = omissible(z.array(z.string().max(VALUE_MAX)));

/** POST /v1/groups/{id}/contacts (v2.3.0, Groups): adds contacts by id, numbers as contacts. */
export const addGroupContacts = endpoint({
  method: 'POST',
  path: '/v1/groups/:id/contacts',
  scope: 'manage',
  id: 'addGroupContacts',
  summary: 'Adds contacts to a group.',
  description:
    'Adds contacts by id or number, up to 500 in all. Unknown numbers become contacts without a name; what is no number, or no contact of the account, is skipped and listed in `invalid`. A contact may be in 100 groups: where one would be in more, nobody is added.',
  refusals: [
    'group_unknown',
    'members_missing',
    'members_too_many',
    'contact_groups_too_many',
    'quota_reached',
  ],
  params: z.strictObject({ id: pathId('gr') }),
  body: z
    .strictObject({
      contact_ids: documented(
        values,
        'Ids of contacts; those that are not of the account are skipped and listed in `invalid`.',
        [exampleId('ct')],
      ),
      msisdns: documented(values, 'Numbers; unknown ones become contacts without a name.', ['+48500100200']),
    })
    .meta({ anyOf: [given('contact_ids', 'array'), given('msisdns', 'array')] }),
  example: { contact_ids: [exampleId('ct')], msisdns: ['+48500100200'] },
  responses: {
    200: z.strictObject({
      id: z.string().describe('The id.'),
      added: documented(z.int().nonnegative(), 'Contacts that were not in the group before.', 2),
      invalid: documented(
        z.array(z.string()),
        'The numbers that are malformed, and the ids of no contact of the account.',
        [],
      ),
      members: documented(z.int().nonnegative(), 'How many contacts are in the group now.', 2),
    }),
  },
  async handle(call) {
    const { id } = call.params;
    const grown = await addMembers({ ...call, input: { id, ...call.body } });
    return { status: 200, body: { id, ...grown } };
  },
});

/** DELETE /v1/groups/{id}/contacts/{contactId}: takes a contact out of a group. */
export const removeGroupContact = endpoint({
  method: 'DELETE',
  path: '/v1/groups/:id/contacts/:contactId',
  scope: 'manage',
  id: 'removeGroupContact',
  summary: 'Takes a contact out of a group.',
  description: 'Takes a contact out of a group; the contact stays.',
  statusTexts: { 404: 'There is no such group, or the contact is not in it.' },
  refusals: ['group_unknown', 'contact_not_in_group'],
  params: z.strictObject({
    id: pathId('gr'),
    contactId: documented(pathId('ct'), 'The id of the contact.', exampleId('ct')),
  }),
  responses: {
    200: z.strictObject({ removed: documented(z.string(), 'The id of the contact.', exampleId('ct')) }),
  },
  async handle(call) {
    const { id, contactId: contact_id } = call.params;
    await removeMember({ ...call, input: { id, contact_id } });
    return { status: 200, body: { removed: contact_id } };
  },
});
