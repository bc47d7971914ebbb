import * as stored from '../../db/contacts/groups.ts';
import { Refused } from '../../domain/refusals.ts';
import type { Asked } from '../asked.ts';
import { withinQuota } from '../quotas.ts';

/** Creates a group. @throws Refused where another one has the name, whatever the case, and beyond the account's quota */
export async function createGroup({
  services: { sql },
  caller: { accountId },
  input: { name },
}: Asked<{ name: string }>): Promise<stored.GroupRow> {
  return await withinQuota({ groups: 'name' }, uniquely(name, stored.createGroup(sql, accountId, name)));
}

/** Gives a group another name. @throws Refused where there is none, and where another one has the name */
export async function renameGroup({
  services: { sql },
  caller: { accountId },
  input: { id, name },
}: Asked<{ id: string; name: string }>): Promise<void> {
  if (!(await uniquely(name, stored.renameGroup(sql, accountId, id, name)))) throw unknownGroup(id);
}

/** Removes a group; its contacts stay. @throws Refused where there is none */
export async function deleteGroup({
  services: { sql },
  caller: { accountId },
  input: { id },
}: Asked<{ id: string }>): Promise<void> {
  if (!(await stored.deleteGroup(sql, accountId, id))) throw unknownGroup(id);
}

/** The account has no group of this id. */
export function unknownGroup(id: string): Refused {
  return new Refused({ reason: 'group_unknown', group: id });
}

async function uniquely<T>(name: string, naming: Promise<T>): Promise<T> {
  try {
    return await naming;
  } catch (error) {
    if (!(error instanceof stored.GroupExistsError)) throw error;
    throw new Refused({ reason: 'group_exists', group: name }, 'name');
  }
}
