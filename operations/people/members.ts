import { writeAudit } from '../../db/accounts/audit.ts';
import { type Database, type Sql, transaction } from '../../db/connection.ts';
import {
  hideAccount,
  type Member,
  membersOf,
  removeMembership,
  setRole as storeRole,
} from '../../db/people/members.ts';
import type { PersonActor, Role } from '../../domain/actor.ts';
import { maskAddress } from '../../domain/email/address.ts';
import type { Caller } from '../context.ts';
import { lockAsPerson } from '../staff.ts';

/** What a person asks about the people of the account. */
export interface MemberRequest<Input> {
  services: { sql: Database };
  caller: Caller & { actor: PersonActor };
  input: Input;
}

/** Makes a change with the account locked, while the role of who asks is still the one of the request. @throws StaffRefused */
export async function changing<Done>(
  { services, caller }: MemberRequest<unknown>,
  change: (tx: Sql) => Promise<Done>,
): Promise<Done> {
  return await transaction(services.sql, async (tx) => {
    await lockAsPerson(tx, caller.actor);
    return await change(tx);
  });
}

/** Why nothing changed. `missing`: the account has no such person; `last_owner`: an account keeps one. */
export type MemberRefusal = 'missing' | 'last_owner';

/** Changes the role of a person, which ends the person's sessions of this account. Owners may. */
export async function changeRole(
  request: MemberRequest<{ person: string; role: Role }>,
): Promise<'changed' | MemberRefusal> {
  const { person, role } = request.input;
  return await changeMember(request, 'members role', person, async (tx, member, lastOwner) => {
    if (member.role === role) return null;
    if (lastOwner) return 'last_owner';
    await storeRole(tx, request.caller.accountId, person, role);
    return { role: { from: member.role, to: role } };
  });
}

/** Removes a person from the account, who is out at once. Owners may. */
export async function removeMember(
  request: MemberRequest<{ person: string }>,
): Promise<'changed' | MemberRefusal> {
  const { person } = request.input;
  return await changeMember(request, 'members remove', person, async (tx, member, lastOwner) => {
    if (lastOwner) return 'last_owner';
    await removeMembership(tx, request.caller.accountId, person);
    return { role: member.role };
  });
}

/** Ends the own membership; the sessions go on without the account. Everybody may. */
export async function leaveAccount(request: MemberRequest<unknown>): Promise<'changed' | MemberRefusal> {
  const { accountId, actor } = request.caller;
  return await changeMember(request, 'members leave', actor.id, async (tx, member, lastOwner) => {
    if (lastOwner) return 'last_owner';
    await hideAccount(tx, accountId, actor.id);
    await removeMembership(tx, accountId, actor.id);
    return { role: member.role };
  });
}

/**
 * Changes a member with the account locked, so that an owner stays whoever asks at once.
 * @param change returns why not, or the details to be recorded; null: nothing is to be changed
 */
async function changeMember(
  request: MemberRequest<unknown>,
  action: string,
  person: string,
  change: (tx: Sql, member: Member, lastOwner: boolean) => Promise<'last_owner' | object | null>,
): Promise<'changed' | MemberRefusal> {
  const { caller } = request;
  const { accountId: account, actor } = caller;
  return await changing(request, async (tx) => {
    const members = await membersOf(tx, account);
    const owners = members.filter(({ role }) => role === 'owner');
    const member = members.find(({ id }) => id === person);
    if (member === undefined) return 'missing';
    const done = await change(tx, member, member.role === 'owner' && owners.length === 1);
    if (done === 'last_owner') return done;
    const details = { address: maskAddress(member.address), ...(done as object) };
    if (done !== null)
      await writeAudit(tx, {
        ...{ actor: actor.id, action, account, subject: person, details, request: caller },
        protective: true,
      });
    return 'changed';
  });
}
