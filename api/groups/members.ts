import { z } from 'zod';
import { addMembers, removeMember } from '../../operations/addressBook/members.ts';
import { contactId } from '../contacts/record.ts';
import { endpoint } from '../http/endpoint.ts';
import { exampleId } from '../documented.ts';
import { given, omissible } from '../fields.ts';
import { groupId } from './input.ts';

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
    'Adds contacts by id or number, up to 500 in all. Unknown numbers become contacts without a name; what is no number, or no contact of the account, is skipped and listed in `invalid`.',
  refusals: ['group_unknown', 'members_missing', 'members_too_many', 'quota_reached'],
  params: z.strictObject({ id: groupId }),
  body: z
    .strictObject({ contact_ids: values, msisdns: values })
    .meta({ anyOf: [given('contact_ids', 'array'), given('msisdns', 'array')] }),
  example: { contact_ids: [exampleId('ct')], msisdns: ['+48500100200'] },
  responses: {
    200: z.strictObject({
      id: z.string(),
      added: z.int().nonnegative(),
      invalid: z.array(z.string()),
      members: z.int().nonnegative(),
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
  params: z.strictObject({ id: groupId, contactId }),
  responses: { 200: z.strictObject({ removed: z.string() }) },
  async handle(call) {
    const { id, contactId: contact_id } = call.params;
    await removeMember({ ...call, input: { id, contact_id } });
    return { status: 200, body: { removed: contact_id } };
  },
});
