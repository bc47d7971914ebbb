import { z } from 'zod';
import { type GroupRow, listGroups as readGroups, readGroup } from '../../db/contacts/groups.ts';
import * as operations from '../../operations/addressBook/groups.ts';
import { endpoint } from '../http/endpoint.ts';
import { documented, exampleId } from '../documented.ts';
import { pathId } from '../fields.ts';
import { createdAt, deletedSchema } from '../schemas.ts';
import { groupName } from './input.ts';

/** Group. */
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

/** GET /v1/groups (v2.3.0, Groups): all of them, by name in the order of the Polish alphabet. */
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

/** POST /v1/groups. */
export const createGroup = endpoint({
  method: 'POST',
  path: '/v1/groups',
  scope: 'manage',
  id: 'createGroup',
  summary: 'Creates a group.',
  description: 'Names are unique, whatever their case.',
  statusTexts: { 409: 'A group of this name exists.' },
  refusals: ['group_exists', 'quota_reached'],
  body: named,
  example: { name: 'Klienci' },
  responses: { 201: groupSchema },
  async handle(call) {
    const group = await operations.createGroup({ ...call, input: call.body });
    return { status: 201, body: groupRecord(group) };
  },
});

/** GET /v1/groups/{id}. */
export const getGroup = endpoint({
  method: 'GET',
  path: '/v1/groups/:id',
  scope: 'read',
  id: 'getGroup',
  summary: 'Shows one group.',
  description: 'One group.',
  refusals: ['group_unknown'],
  params: byId,
  responses: { 200: groupSchema },
  async handle({ services: { sql }, caller: { accountId }, params: { id } }) {
    const group = await readGroup(sql, accountId, id);
    if (group === null) throw operations.unknownGroup(id);
    return { status: 200, body: groupRecord(group) };
  },
});

/** PATCH /v1/groups/{id}: another name. */
export const renameGroup = endpoint({
  method: 'PATCH',
  path: '/v1/groups/:id',
  scope: 'manage',
  id: 'renameGroup',
  summary: 'Renames a group.',
  description: 'Gives a group another name.',
  statusTexts: { 409: 'A group of this name exists.' },
  refusals: ['group_unknown', 'group_exists'],
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

/** DELETE /v1/groups/{id}: its contacts stay. */
export const deleteGroup = endpoint({
  method: 'DELETE',
  path: '/v1/groups/:id',
  scope: 'manage',
  id: 'deleteGroup',
  summary: 'Removes a group; its contacts stay.',
  description: 'Removes a group; its contacts stay.',
  refusals: ['group_unknown'],
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
