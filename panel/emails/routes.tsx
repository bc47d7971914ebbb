import { getEmail, listEmails } from '../../api/email/read.ts';
import { ROLES } from '../../domain/actor.ts';
import { INTERFACE } from '../../domain/ids.ts';
import { ask, attempt, filled } from '../ask.ts';
import { accountPage, type Answer, type MemberVisit } from '../route.ts';
import { Email, List } from './view.tsx';
import { words } from './words.ts';

const emails = listEmails(INTERFACE);
const email = getEmail(INTERFACE);

async function list(visit: MemberVisit): Promise<Answer> {
  const { language, query } = visit;
  const asked = ask(visit, emails, { query: filled(query, ['status', 'to', 'idx', 'cursor']) });
  const { answer, fault } = await attempt(language, asked);
  const { emails: found = [], next_cursor: next = null } = answer?.data ?? {};
  const view = <List {...{ language, query, next, fault }} emails={found} />;
  return { status: fault === null ? 200 : 422, title: words[language].heading, view };
}

export const emailRoutes = [
  accountPage('/panel/emails', ROLES, { get: list }),
  accountPage('/panel/emails/:id', ROLES, {
    async get(visit) {
      const { language, params } = visit;
      const { data } = await ask(visit, email, { params });
      return { status: 200, title: data.subject, view: <Email language={language} email={data} /> };
    },
  }),
];
