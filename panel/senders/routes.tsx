import { changeAccount } from '../../api/account/account.ts';
import { listSenders } from '../../api/senders.ts';
import { readSenderRequests } from '../../db/accounts/senderRequests.ts';
import { MANAGERS, ROLES } from '../../domain/actor.ts';
import { requestSender } from '../../operations/accounts/senderRequests.ts';
import { staffServices } from '../../operations/staff.ts';
import { ask, type Fault, faultOf } from '../ask.ts';
import { accountPage, type Answer, type MemberVisit } from '../route.ts';
import { Senders, type Typed } from './view.tsx';
import { words } from './words.ts';

const PATH = '/panel/senders';
const BACK = { to: PATH };
// Requests; earlier ones are in the audit log.
const SHOWN_MAX = 50;
const UNTYPED: Typed = { name: '', purpose: '', applicant: '' };

async function page(visit: MemberVisit, typed = UNTYPED, fault: Fault | null = null): Promise<Answer> {
  const { services, account, language } = visit;
  const [senders, requests] = await Promise.all([
    ask(visit, listSenders),
    readSenderRequests(services.sql, account.id, null, SHOWN_MAX),
  ]);
  const manages = MANAGERS.includes(account.role);
  const view = <Senders {...{ language, senders, requests, manages, typed, fault }} />;
  return { status: fault === null ? 200 : 422, title: words[language].heading, view };
}

async function request(visit: MemberVisit): Promise<Answer> {
  const { services, caller, form, language } = visit;
  const field = (name: keyof Typed) => form.get(name) ?? '';
  const typed = { name: field('name'), purpose: field('purpose'), applicant: field('applicant') };
  try {
    const input = { account: caller.accountId, ...typed };
    await requestSender({ services: staffServices(services), actor: caller.actor, request: caller, input });
    return BACK;
  } catch (thrown) {
    return page(visit, typed, faultOf(language, thrown));
  }
}

export const senderRoutes = [
  accountPage(PATH, ROLES, { get: (visit) => page(visit) }),
  accountPage(`${PATH}/request`, MANAGERS, { post: request }),
  accountPage(`${PATH}/default`, MANAGERS, {
    async post(visit) {
      const name = visit.form.get('name') ?? '';
      await ask(visit, changeAccount, { body: { sender_name: name === '' ? null : name } });
      return BACK;
    },
  }),
];
