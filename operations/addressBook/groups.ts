import * as stored from '../../db/contacts/groups.ts';
import { Refused } from '../../domain/refusals.ts';
import type { OperationContext } from '../context.ts';
import { withinQuota } from '../quotas.ts';
import { CONTACT_GROUPS_MAX, MEMBERS_ADDED_MAX } from '../../domain/contacts.ts';
import { isId } from '../../domain/ids.ts';
import { parseMsisdn } from '../../domain/msisdn.ts';

/** Creates a group. @throws Refused for a name in use (case-insensitive) and above the account's quota */
export async function createGroup({
  services: { sql },
  caller: { accountId },
  input: { name },
}: OperationContext<{ name: string }>): Promise<stored.GroupRow> {
  return await withinQuota({ groups: 'name' }, uniquely(name, stored.createGroup(sql, accountId, name)));
}

/** Renames a group. @throws Refused if it does not exist or the name is in use */
export async function renameGroup({
  services: { sql },
  caller: { accountId },
  input: { id, name },
}: OperationContext<{ id: string; name: string }>): Promise<void> {
  if (!(await uniquely(name, stored.renameGroup(sql, accountId, id, name)))) throw unknownGroup(id);
}

/** Deletes a group; its contacts remain. @throws Refused if it does not exist */
export async function deleteGroup({
  services: { sql },
  caller: { accountId },
  input: { id },
}: OperationContext<{ id: string }>): Promise<void> {
  if (!(await stored.deleteGroup(sql, accountId, id))) throw unknownGroup(id);
}

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

interface NewMembers {
  id: string;
  contact_ids?: readonly string[] | undefined;
  /** In any of the three accepted formats; unknown numbers become contacts without a name. */
  msisdns?: readonly string[] | undefined;
}

interface AddedMembers {
  added: number;
  /** Unknown ids and invalid numbers, as given. */
  invalid: string[];
  members: number;
}

/** Adds up to 500 contacts to a group, by id and by number (v2.3.0, Groups). @throws Refused and adds none */
export async function addMembers({
  services: { sql },
  caller: { accountId },
  input,
}: OperationContext<NewMembers>): Promise<AddedMembers> {
  const { id, contact_ids: ids = [], msisdns: numbers = [] } = input;
  if (input.contact_ids === undefined && input.msisdns === undefined) {
    throw new Refused({ reason: 'members_missing' }, 'contact_ids');
  }
  if (ids.length + numbers.length > MEMBERS_ADDED_MAX) {
    const param = ids.length > MEMBERS_ADDED_MAX ? 'contact_ids' : 'msisdns';
    throw new Refused({ reason: 'members_too_many', limit: MEMBERS_ADDED_MAX }, param);
  }
  const parsed = numbers.map((given) => ({ given, msisdn: parseMsisdn(given) }));
  const msisdns = [...new Set(parsed.flatMap(({ msisdn }) => msisdn ?? []))];
  const memberships = ids.length === 0 ? 'msisdns' : 'contact_ids';
  const adding = stored.addMembers(
    sql,
    accountId,
    id,
    ids.filter((given) => isId('ct', given)),
    msisdns,
  );
  const quotas = { contacts: 'msisdns', contact_bytes: 'msisdns', memberships };
  const grown = await withinGroups(ids, parsed, withinQuota(quotas, adding));
  if (grown === null) throw unknownGroup(id);
  const { added, members, known } = grown;
  const invalid = [
    ...ids.filter((given) => !known.has(given)),
    ...parsed.filter(({ msisdn }) => msisdn === null).map(({ given }) => given),
  ];
  return { added, invalid, members };
}

/** @throws Refused if some contacts are already in the maximum number of groups */
async function withinGroups<T>(
  ids: readonly string[],
  numbers: readonly { given: string; msisdn: string | null }[],
  adding: Promise<T>,
): Promise<T> {
  try {
    return await adding;
  } catch (error) {
    if (!(error instanceof stored.ContactGroupsTooManyError)) throw error;
    const { contacts } = error;
    const id = ids.find((given) => contacts.some((contact) => contact.id === given));
    const first =
      id ?? numbers.find(({ msisdn }) => contacts.some((contact) => contact.msisdn === msisdn))!.given;
    throw new Refused(
      { reason: 'contact_groups_too_many', contacts: contacts.length, first, limit: CONTACT_GROUPS_MAX },
      id === undefined ? 'msisdns' : 'contact_ids',
    );
  }
}

/** Removes a contact from a group. @throws Refused if it is not a member or the group does not exist */
export async function removeMember({
  services: { sql },
  caller: { accountId },
  input: { id, contact_id: contactId },
}: OperationContext<{ id: string; contact_id: string }>): Promise<void> {
  const removed = await stored.removeMember(sql, accountId, id, contactId);
  if (!removed) throw new Refused({ reason: 'contact_not_in_group' });
}
