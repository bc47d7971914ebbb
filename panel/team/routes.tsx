import { invitationsOf } from '../../db/people/invitations.ts';
import { membersOf } from '../../db/people/members.ts';
import { type Role, ROLES } from '../../domain/actor.ts';
import { invitationPath, signInAddress } from '../../domain/people.ts';
import {
  invite,
  type Invited,
  resendInvitation,
  withdrawInvitation,
} from '../../operations/people/invitations.ts';
import { changeRole, leaveAccount, removeMember } from '../../operations/people/members.ts';
import type { Fault } from '../ask.ts';
import { timeIn } from '../language.ts';
import { accountPage, type Answer, type MemberVisit } from '../route.ts';
import { problemPage } from '../shell.tsx';
import { words as common } from '../words.ts';
import { Team, type Typed } from './view.tsx';
import { words } from './words.ts';

const OWNERS: readonly Role[] = ['owner'];
const UNTYPED: Typed = { address: '', role: 'reader', fault: null };
const DONE: Answer = { to: '/panel/team' };

async function page(visit: MemberVisit, fault: Fault | null = null, typed = UNTYPED): Promise<Answer> {
  const { services, account, session, language } = visit;
  const members = await membersOf(services.sql, account.id);
  const owned =
    account.role === 'owner'
      ? { invitations: await invitationsOf(services.sql, account.id), typed: { ...typed, fault } }
      : null;
  const view = <Team {...{ language, members, person: session.personId, owned, fault }} />;
  return { status: fault === null ? 200 : 422, title: words[language].heading, view };
}

const idOf = ({ params }: MemberVisit): string => params['id'] ?? '';
const roleIn = ({ form }: MemberVisit): Role | undefined => ROLES.find((role) => role === form.get('role'));

/** The e-mail of an invitation, in the language of who invites. */
function mailOf({ services, account, session, language }: MemberVisit) {
  const { mail } = words[language];
  return ({ id, role }: { id: string; role: Role }) => ({
    subject: mail.subject(account.name),
    text: mail.text({
      inviter: session.address,
      account: account.name,
      role: common[language].roles[role],
      link: services.panelUrl + invitationPath(id),
    }),
  });
}

async function send(visit: MemberVisit): Promise<Answer> {
  const say = words[visit.language];
  const given = (visit.form.get('address') ?? '').slice(0, 300);
  const [address, role] = [signInAddress(given), roleIn(visit)];
  const typed: Typed = { address: given, role: role ?? 'reader', fault: null };
  if (address === null) return page(visit, { field: 'address', text: say.addressFault }, typed);
  if (role === undefined) return page(visit, { field: 'role', text: say.roleFault }, typed);
  const outcome = await invite({ ...visit, input: { address, role, words: mailOf(visit) } });
  return await answer(visit, outcome, typed);
}

async function resend(visit: MemberVisit): Promise<Answer> {
  const outcome = await resendInvitation({
    ...visit,
    input: { invitation: idOf(visit), words: mailOf(visit) },
  });
  return await answer(visit, outcome, UNTYPED);
}

async function answer(visit: MemberVisit, outcome: Invited, typed: Typed): Promise<Answer> {
  const { faults, limited } = words[visit.language];
  if (outcome === 'sent') return DONE;
  if (outcome === 'missing') return problemPage(visit, 404);
  // It is stored: sent again by the form, it would be there already.
  if (outcome === 'unavailable') return page(visit, { field: null, text: faults.unavailable });
  const text =
    typeof outcome === 'string' ? faults[outcome] : limited[outcome.limited](timeIn(outcome.seconds));
  return page(visit, { field: typed.address === '' ? null : 'address', text }, typed);
}

/** What an operation about members did. */
function answerOf(visit: MemberVisit, outcome: 'changed' | 'missing' | 'last_owner', to = DONE) {
  if (outcome === 'changed') return to;
  if (outcome === 'missing') return problemPage(visit, 404);
  return page(visit, { field: null, text: words[visit.language].lastOwner });
}

export const teamRoutes = [
  accountPage('/panel/team', ROLES, { get: (visit) => page(visit) }),
  accountPage('/panel/team', OWNERS, { post: send, stepUp: true }),
  accountPage('/panel/team/leave', ROLES, {
    stepUp: true,
    post: async (visit) =>
      answerOf(visit, await leaveAccount({ ...visit, input: null }), { to: '/panel/you' }),
  }),
  accountPage('/panel/team/invitations/:id/resend', OWNERS, { post: resend, stepUp: true }),
  accountPage('/panel/team/invitations/:id/withdraw', OWNERS, {
    stepUp: true,
    post: async (visit) =>
      answerOf(visit, await withdrawInvitation({ ...visit, input: { invitation: idOf(visit) } })),
  }),
  accountPage('/panel/team/:id/role', OWNERS, {
    stepUp: true,
    async post(visit) {
      const role = roleIn(visit);
      if (role === undefined) return page(visit, { field: null, text: words[visit.language].roleFault });
      return answerOf(visit, await changeRole({ ...visit, input: { person: idOf(visit), role } }));
    },
  }),
  accountPage('/panel/team/:id/remove', OWNERS, {
    stepUp: true,
    post: async (visit) => answerOf(visit, await removeMember({ ...visit, input: { person: idOf(visit) } })),
  }),
];
