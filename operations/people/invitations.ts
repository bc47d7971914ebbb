import { type Request, writeAudit } from '../../db/accounts/audit.ts';
import { type Database, type Sql, transaction } from '../../db/connection.ts';
import { newId } from '../../db/ids.ts';
import { countEmail, type EmailLimit } from '../../db/people/emailLimits.ts';
import {
  deleteInvitation,
  extendInvitation,
  insertInvitation,
  type Invitation,
  invitationsOf,
  readInvitation,
} from '../../db/people/invitations.ts';
import { membersOf } from '../../db/people/members.ts';
import { addMembership } from '../../db/people/people.ts';
import type { Role } from '../../domain/actor.ts';
import { maskAddress } from '../../domain/email/address.ts';
import { findOpenAccountForUpdate } from '../accounts/accounts.ts';
import { sendOwnEmail } from '../email/ownEmail.ts';
import { changing, type MemberRequest } from './members.ts';
import { budgetOf, type MailServices } from './signIn.ts';

/** Open invitations, and people, of an account. */
const INVITATIONS_MAX = 20;
const MEMBERS_MAX = 50;

interface Wording {
  /** The e-mail about this invitation. */
  words: (invitation: Pick<Invitation, 'id' | 'role'>) => { subject: string; text: string };
}
type Inviting<Input> = MemberRequest<Input> & { services: MailServices };

/** What became of an invitation. `unavailable`: it is stored, but no e-mail can be sent now. */
export type Invited =
  | 'sent'
  | 'unavailable'
  | 'missing'
  | 'member'
  | 'invited'
  | 'invitations_too_many'
  | 'members_too_many'
  | EmailLimit;

/** Invites an address to the account, by an e-mail. */
export async function invite(request: Inviting<{ address: string; role: Role } & Wording>): Promise<Invited> {
  const { caller, input } = request;
  const { accountId: account, actor } = caller;
  const { address, role } = input;
  const made = { id: newId('inv'), address, role };
  return await inviting(request, async (tx) => {
    await findOpenAccountForUpdate(tx, account);
    const [members, open] = [await membersOf(tx, account), await invitationsOf(tx, account)];
    if (members.some((member) => member.address === address)) return 'member';
    if (open.some((one) => one.address === address)) return 'invited';
    if (open.length >= INVITATIONS_MAX) return 'invitations_too_many';
    if (members.length >= MEMBERS_MAX) return 'members_too_many';
    const limit = await limitOf(tx, request, address);
    if (limit !== null) return limit;
    await insertInvitation(tx, { ...made, account, invitedBy: actor.id });
    await record(tx, request, 'invitations create', made);
    return made;
  });
}

/** Sends an open invitation once more, and keeps it open for another seven days. */
export async function resendInvitation(
  request: Inviting<{ invitation: string } & Wording>,
): Promise<Invited> {
  return await inviting(request, async (tx) => {
    await findOpenAccountForUpdate(tx, request.caller.accountId);
    const found = await ownInvitation(tx, request);
    if (found === undefined) return 'missing';
    const limit = await limitOf(tx, request, found.address);
    if (limit !== null) return limit;
    await extendInvitation(tx, found.id);
    await record(tx, request, 'invitations resend', found);
    return found;
  });
}

/** Withdraws an open invitation. */
export async function withdrawInvitation(
  request: MemberRequest<{ invitation: string }>,
): Promise<'changed' | 'missing'> {
  return await changing(request, async (tx) => {
    const found = await ownInvitation(tx, request);
    if (found === undefined) return 'missing';
    await deleteInvitation(tx, found.id);
    await record(tx, request, 'invitations withdraw', found);
    return 'changed';
  });
}

type Shown = Pick<Invitation, 'id' | 'address' | 'role'>;

async function limitOf(
  tx: Sql,
  { services, caller }: Inviting<unknown>,
  address: string,
): Promise<EmailLimit | null> {
  const email = { kind: 'invitation', address, asker: caller.accountId, forPerson: true } as const;
  const counted = await countEmail(tx, email, budgetOf(services));
  return 'limited' in counted ? counted : null;
}

/** Stores an invitation, and sends its e-mail afterwards. */
async function inviting(
  request: Inviting<Wording>,
  store: (tx: Sql) => Promise<Exclude<Invited, 'sent' | 'unavailable'> | Shown>,
): Promise<Invited> {
  const { services, caller, input } = request;
  const stored = await changing(request, store);
  if (typeof stored === 'string' || !('id' in stored)) return stored;
  const email = { to: stored.address, ...input.words(stored), idx: caller.requestId };
  const { state } = await sendOwnEmail(services, email);
  return state === 'accepted' ? 'sent' : 'unavailable';
}

async function ownInvitation(
  tx: Sql,
  { caller, input }: MemberRequest<{ invitation: string }>,
): Promise<Shown | undefined> {
  return (await invitationsOf(tx, caller.accountId)).find(({ id }) => id === input.invitation);
}

async function record(
  tx: Sql,
  { caller }: MemberRequest<unknown>,
  action: string,
  { id, address, role }: Shown,
): Promise<void> {
  const { accountId: account, actor } = caller;
  const details = { address: maskAddress(address), role };
  await writeAudit(tx, { actor: actor.id, action, account, subject: id, details, request: caller });
}

interface Acceptance {
  invitation: string;
  person: { id: string; address: string };
  request: Request;
}

/**
 * Makes the invited person a member, once.
 * @returns the account; `over`: no such invitation is open; `of_another`: it is for another address; `member`: owners change the role
 * @throws StaffRefused where the account is closed
 */
export async function acceptInvitation(
  sql: Database,
  { invitation: id, person, request }: Acceptance,
): Promise<{ account: string } | 'over' | 'of_another' | 'member' | 'members_too_many'> {
  return await transaction(sql, async (tx) => {
    const found = await readInvitation(tx, id);
    if (found === undefined) return 'over';
    const { accountId: account, address, role } = found;
    if (address !== person.address) return 'of_another';
    await findOpenAccountForUpdate(tx, account);
    // Others may have accepted or withdrawn it while this one waited for the account.
    if ((await readInvitation(tx, id)) === undefined) return 'over';
    const members = await membersOf(tx, account);
    if (members.some((member) => member.id === person.id)) return 'member';
    if (members.length >= MEMBERS_MAX) return 'members_too_many';
    await deleteInvitation(tx, id);
    await addMembership(tx, person.id, account, role);
    const details = { address: maskAddress(address), role };
    await writeAudit(tx, {
      actor: person.id,
      action: 'invitations accept',
      account,
      subject: id,
      details,
      request,
    });
    return { account };
  });
}
