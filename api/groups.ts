import { z } from 'zod';
import { GROUP_NAME_MAX, isMeantAsGroupId } from '../domain/contacts.ts';
import {
  createdAt,
  deletedSchema,
  documented,
  exampleId,
  given,
  issue,
  filledLine,
  omissible,
  pathId,
} from './fields.ts';
import { type GroupRow, readGroup, listGroups as readGroups } from '../db/contacts/groups.ts';
import * as operations from '../operations/addressBook/groups.ts';
import { endpoint } from './http/endpoint.ts';

// `lineText` that is not blank.
const SOMETHING_ON_ONE_LINE =
  '^[^\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029]*[^\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029\\s][^\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029]*$';

/** A group's name or id (v2.3.0, Contacts, `groups`). */
export const groupReference = filledLine.max(GROUP_NAME_MAX).meta({ pattern: SOMETHING_ON_ONE_LINE });

/** 1 to 80 characters (v2.3.0, Group), not in the form of an id. */
const groupName = groupReference.refine(
  (value) => !isMeantAsGroupId(value),
  issue({ reason: 'group_name_like_id' }),
);

const groupSchema = z
  .strictObject({
    id: documented(z.string(), 'The id.', exampleId('gr')),
    name: documented(z.string(), 'The name: up to 80 characters, unique whatever its case.', 'Klienci'),
    members: documented(z.int().nonnegative(), 'How many contacts are in it.', 2),
    created_at: createdAt,
  })
  .meta({ id: 'Group', description: 'A group of contacts.' });

const byId = z.strictObject({ id: pathId('gr') });
const named = z.strictObject({ name: documented(groupName, 'The name.', 'Klienci') });

/** GET /v1/groups (v2.3.0, Groups), in the order of the Polish alphabet. */
export const listGroups = endpoint({
  method: 'GET',
  path: '/v1/groups',
  scope: 'read',
  id: 'listGroups',
  summary: 'Lists the groups by name.',
  description: 'All groups, sorted by name.',
  responses: { 200: z.strictObject({ data: z.array(groupSchema).describe('The page.') }) },
  async handle({ services: { sql }, caller: { accountId } }) {
    const groups = await readGroups(sql, accountId);
    return { status: 200, body: { data: groups.map(groupRecord) } };
  },
});

export const createGroup = endpoint({
  method: 'POST',
  path: '/v1/groups',
  scope: 'manage',
  id: 'createGroup',
  summary: 'Creates a group.',
  description: 'Names are unique, whatever their case.',
  statusTexts: { 409: 'A group of this name exists.' },
  errors: [409],
  body: named,
  example: { name: 'Klienci' },
  responses: { 201: groupSchema },
  async handle(call) {
    const group = await operations.createGroup({ ...call, input: call.body });
    return { status: 201, body: groupRecord(group) };
  },
});

export const getGroup = endpoint({
  method: 'GET',
  path: '/v1/groups/:id',
  scope: 'read',
  id: 'getGroup',
  summary: 'Shows one group.',
  description: 'One group.',
  params: byId,
  responses: { 200: groupSchema },
  async handle({ services: { sql }, caller: { accountId }, params: { id } }) {
    const group = await readGroup(sql, accountId, id);
    if (group === null) throw operations.unknownGroup(id);
    return { status: 200, body: groupRecord(group) };
  },
});

export const renameGroup = endpoint({
  method: 'PATCH',
  path: '/v1/groups/:id',
  scope: 'manage',
  id: 'renameGroup',
  summary: 'Renames a group.',
  description: 'Gives a group another name.',
  statusTexts: { 409: 'A group of this name exists.' },
  errors: [409],
  params: byId,
  body: named,
  example: { name: 'Stali klienci' },
  responses: {
    200: z.strictObject({
      id: z.string().describe('The id.'),
      name: documented(z.string(), 'The name.', 'Klienci'),
    }),
  },
  async handle(call) {
    const renamed = { ...call.params, ...call.body };
    await operations.renameGroup({ ...call, input: renamed });
    return { status: 200, body: renamed };
  },
});

export const deleteGroup = endpoint({
  method: 'DELETE',
  path: '/v1/groups/:id',
  scope: 'manage',
  id: 'deleteGroup',
  summary: 'Removes a group; its contacts stay.',
  description: 'Removes a group; its contacts stay.',
  params: byId,
  responses: { 200: deletedSchema },
  async handle(call) {
    await operations.deleteGroup({ ...call, input: call.params });
    return { status: 200, body: { deleted: call.params.id } };
  },
});

function groupRecord({ id, name, members, createdAt: since }: GroupRow) {
  return { id, name, members, created_at: since.toISOString() };
}

// Longer values are refused; shorter invalid ones are listed in `invalid`.
const VALUE_MAX = 100;

const values = omissible(z.array(z.string().max(VALUE_MAX)));

export const addGroupContacts = endpoint({
  method: 'POST',
  path: '/v1/groups/:id/contacts',
  scope: 'manage',
  id: 'addGroupContacts',
  summary: 'Adds contacts to a group.',
  description:
    'Adds contacts by id or number, up to 500 in all. Unknown numbers become contacts without a name; what is no number, or no contact of the account, is skipped and listed in `invalid`. A contact may be in 100 groups: where one would be in more, nobody is added.',
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
    const grown = await operations.addMembers({ ...call, input: { id, ...call.body } });
    return { status: 200, body: { id, ...grown } };
  },
});

export const removeGroupContact = endpoint({
  method: 'DELETE',
  path: '/v1/groups/:id/contacts/:contactId',
  scope: 'manage',
  id: 'removeGroupContact',
  summary: 'Takes a contact out of a group.',
  description: 'Takes a contact out of a group; the contact stays.',
  statusTexts: { 404: 'There is no such group, or the contact is not in it.' },
  params: z.strictObject({
    id: pathId('gr'),
    contactId: documented(pathId('ct'), 'The id of the contact.', exampleId('ct')),
  }),
  responses: {
    200: z.strictObject({ removed: documented(z.string(), 'The id of the contact.', exampleId('ct')) }),
  },
  async handle(call) {
    const { id, contactId: contact_id } = call.params;
    await operations.removeMember({ ...call, input: { id, contact_id } });
    return { status: 200, body: { removed: contact_id } };
  },
});
