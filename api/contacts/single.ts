import { z } from 'zod';
import { readContact } from '../../db/contacts/contacts.ts';
import * as operations from '../../operations/addressBook/contacts.ts';
import { endpoint } from '../http/endpoint.ts';
import { pathId } from '../fields.ts';
import { deletedSchema } from '../schemas.ts';
import { contactPatch } from './input.ts';
import { contactRecord, contactSchema } from './record.ts';
import { Refused } from '../../domain/refusals.ts';

const byId = z.strictObject({ id: pathId('ct') });

/** GET /v1/contacts/{id} (v2.3.0, Contacts). */
export const getContact = endpoint({
  method: 'GET',
  path: '/v1/contacts/:id',
  scope: 'read',
  id: 'getContact',
  summary: 'Shows one contact.',
  description: 'One contact.',
  refusals: ['contact_unknown'],
  params: byId,
  responses: { 200: contactSchema },
  async handle({ services: { sql }, caller: { accountId }, params: { id } }) {
    const contact = await readContact(sql, accountId, id);
    if (contact === null) throw new Refused({ reason: 'contact_unknown' });
    return { status: 200, body: contactRecord(contact) };
  },
});

/** PATCH /v1/contacts/{id}: null and empty text clear a field, what is not given stays. */
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
  refusals: ['contact_unknown', 'contact_number_taken', 'group_unknown', 'fields_too_many', 'quota_reached'],
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

/** DELETE /v1/contacts/{id}: memberships go with it; the number is not put on the blacklist. */
export const deleteContact = endpoint({
  method: 'DELETE',
  path: '/v1/contacts/:id',
  scope: 'manage',
  id: 'deleteContact',
  summary: 'Removes one contact.',
  description: 'Removes a contact and its memberships. Does not put the number on the blacklist.',
  refusals: ['contact_unknown'],
  params: byId,
  responses: { 200: deletedSchema },
  async handle(call) {
    await operations.deleteContact({ ...call, input: call.params });
    return { status: 200, body: { deleted: call.params.id } };
  },
});
