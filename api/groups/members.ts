import { z } from 'zod';
import { addMembers, removeMember } from '../../db/contacts/groupMembers.ts';
import { parseMsisdn } from '../../domain/msisdn.ts';
import { contactId, isContactId } from '../contacts/record.ts';
import { endpoint } from '../http/endpoint.ts';
import { given, omissible } from '../fields.ts';
import { withinQuota } from '../../operations/quotas.ts';
import { groupId } from './input.ts';
import { Refused } from '../../domain/refusals.ts';

const ADD_MAX = 500;
// Longer than any id or number; what is longer is no slip of the pen.
const VALUE_MAX = 100;

const values = omissible(z.array(z.string().max(VALUE_MAX)));

/** POST /v1/groups/{id}/contacts (v2.3.0, Groups): adds contacts by id, numbers as contacts. */
export const addGroupContacts = endpoint({
  method: 'POST',
  path: '/v1/groups/:id/contacts',
  scope: 'manage',
  summary: 'Adds contacts to a group.',
  params: z.strictObject({ id: groupId }),
  body: z
    .strictObject({ contact_ids: values, msisdns: values })
    .meta({ anyOf: [given('contact_ids', 'array'), given('msisdns', 'array')] }),
  responses: {
    200: z.strictObject({
      id: z.string(),
      added: z.int().nonnegative(),
      invalid: z.array(z.string()),
      members: z.int().nonnegative(),
    }),
  },
  async handle({ services: { sql }, caller: { accountId }, params: { id }, body }) {
    if (body.contact_ids === undefined && body.msisdns === undefined) {
      throw new Refused({ reason: 'members_missing' }, 'contact_ids');
    }
    const { contact_ids: ids = [], msisdns: numbers = [] } = body;
    if (ids.length + numbers.length > ADD_MAX) {
      const param = ids.length > ADD_MAX ? 'contact_ids' : 'msisdns';
      throw new Refused({ reason: 'members_too_many', limit: ADD_MAX }, param);
    }
    const parsed = numbers.map((given) => ({ given, msisdn: parseMsisdn(given) }));
    const msisdns = [...new Set(parsed.flatMap(({ msisdn }) => msisdn ?? []))];
    const memberships = ids.length === 0 ? 'msisdns' : 'contact_ids';
    const adding = addMembers(sql, accountId, id, ids.filter(isContactId), msisdns);
    const grown = await withinQuota({ contacts: 'msisdns', contact_bytes: 'msisdns', memberships }, adding);
    if (grown === null) throw new Refused({ reason: 'group_unknown', group: id });
    const { added, members, known } = grown;
    const invalid = [
      ...ids.filter((given) => !known.has(given)),
      ...parsed.filter(({ msisdn }) => msisdn === null).map(({ given }) => given),
    ];
    return { status: 200, body: { id, added, invalid, members } };
  },
});

/** DELETE /v1/groups/{id}/contacts/{contactId}: takes a contact out of a group. */
export const removeGroupContact = endpoint({
  method: 'DELETE',
  path: '/v1/groups/:id/contacts/:contactId',
  scope: 'manage',
  summary: 'Takes a contact out of a group.',
  params: z.strictObject({ id: groupId, contactId }),
  responses: { 200: z.strictObject({ removed: z.string() }) },
  async handle({ services: { sql }, caller: { accountId }, params }) {
    const removed = await removeMember(sql, accountId, params.id, params.contactId);
    if (!removed) throw new Refused({ reason: 'contact_not_in_group' });
    return { status: 200, body: { removed: params.contactId } };
  },
});
