import { z } from 'zod';
import * as stored from '../../db/contacts/groups.ts';
import { endpoint } from '../http/endpoint.ts';
import { withinQuota } from '../../operations/quotas.ts';
import { groupSchema } from '../schemas.ts';
import { groupId, groupName } from './input.ts';
import { Refused } from '../../domain/refusals.ts';

const byId = z.strictObject({ id: groupId });
const named = z.strictObject({ name: groupName });

/** GET /v1/groups (v2.3.0, Groups): all of them, by name in the order of the Polish alphabet. */
export const listGroups = endpoint({
  method: 'GET',
  path: '/v1/groups',
  scope: 'read',
  summary: 'Lists the groups by name.',
  responses: { 200: z.strictObject({ data: z.array(groupSchema) }) },
  async handle({ services: { sql }, caller: { accountId } }) {
    const groups = await stored.listGroups(sql, accountId);
    return { status: 200, body: { data: groups.map(groupRecord) } };
  },
});

/** POST /v1/groups. */
export const createGroup = endpoint({
  method: 'POST',
  path: '/v1/groups',
  scope: 'manage',
  summary: 'Creates a group.',
  body: named,
  responses: { 201: groupSchema },
  async handle({ services: { sql }, caller: { accountId }, body: { name } }) {
    const group = await withConflicts(name, stored.createGroup(sql, accountId, name));
    return { status: 201, body: groupRecord(group) };
  },
});

/** GET /v1/groups/{id}. */
export const getGroup = endpoint({
  method: 'GET',
  path: '/v1/groups/:id',
  scope: 'read',
  summary: 'Shows one group.',
  params: byId,
  responses: { 200: groupSchema },
  async handle({ services: { sql }, caller: { accountId }, params: { id } }) {
    const group = await stored.readGroup(sql, accountId, id);
    if (group === null) throw unknown(id);
    return { status: 200, body: groupRecord(group) };
  },
});

/** PATCH /v1/groups/{id}: another name. */
export const renameGroup = endpoint({
  method: 'PATCH',
  path: '/v1/groups/:id',
  scope: 'manage',
  summary: 'Renames a group.',
  params: byId,
  body: named,
  responses: { 200: z.strictObject({ id: z.string(), name: z.string() }) },
  async handle({ services: { sql }, caller: { accountId }, params: { id }, body: { name } }) {
    const renamed = await withConflicts(name, stored.renameGroup(sql, accountId, id, name));
    if (!renamed) throw unknown(id);
    return { status: 200, body: { id, name } };
  },
});

/** DELETE /v1/groups/{id}: its contacts stay. */
export const deleteGroup = endpoint({
  method: 'DELETE',
  path: '/v1/groups/:id',
  scope: 'manage',
  summary: 'Removes a group; its contacts stay.',
  params: byId,
  responses: { 200: z.strictObject({ deleted: z.string() }) },
  async handle({ services: { sql }, caller: { accountId }, params: { id } }) {
    if (!(await stored.deleteGroup(sql, accountId, id))) throw unknown(id);
    return { status: 200, body: { deleted: id } };
  },
});

async function withConflicts<T>(name: string, writing: Promise<T>): Promise<T> {
  try {
    return await withinQuota({ groups: 'name' }, writing);
  } catch (error) {
    if (!(error instanceof stored.GroupExistsError)) throw error;
    throw new Refused({ reason: 'group_exists', group: name }, 'name');
  }
}

function unknown(id: string): Refused {
  return new Refused({ reason: 'group_unknown', group: id });
}

function groupRecord({ id, name, members, created_at }: stored.GroupRow) {
  return { id, name, members, created_at: created_at.toISOString() };
}
