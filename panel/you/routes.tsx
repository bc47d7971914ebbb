import { membershipsOf } from '../../db/people/people.ts';
import { endSessions, sessionsOf, showAccount } from '../../db/people/sessions.ts';
import { type Answer, type PersonVisit, personPage } from '../route.ts';
import { problemPage } from '../shell.tsx';
import { You } from './view.tsx';
import { words } from './words.ts';

async function you({ services: { sql }, session, language }: PersonVisit): Promise<Answer> {
  const [memberships, sessions] = await Promise.all([
    membershipsOf(sql, session.personId),
    sessionsOf(sql, session.personId),
  ]);
  return {
    status: 200,
    title: words[language].heading,
    view: <You {...{ language, session, memberships, sessions }} />,
  };
}

export const youRoutes = [
  personPage('/panel/you', { get: you }),
  personPage('/panel/sessions/end', {
    async post({ services: { sql }, session, form }) {
      const id = form.get('id');
      await endSessions(sql, session.personId, id === undefined ? { except: session.id } : { only: id });
      return { to: '/panel/you' };
    },
  }),
  personPage('/panel/account', {
    async post(visit) {
      const { services, session, form } = visit;
      if (!(await showAccount(services.sql, session, form.get('account') ?? '')))
        return problemPage(visit, 404);
      return { to: '/panel/overview' };
    },
  }),
];
