import { readInvitation } from '../../db/people/invitations.ts';
import { showAccount } from '../../db/people/sessions.ts';
import { acceptInvitation } from '../../operations/people/invitations.ts';
import { type Answer, type PersonVisit, personPage } from '../route.ts';
import { words as common } from '../words.ts';
import { words } from './words.ts';

const idOf = ({ params }: PersonVisit): string => params['id'] ?? '';

function over({ language }: PersonVisit): Answer {
  const say = words[language].invitation;
  return { status: 404, title: say.overHeading, view: <p>{say.over}</p> };
}

function ofAnother({ language, session }: PersonVisit): Answer {
  const say = words[language].invitation;
  return { status: 403, title: say.otherHeading, view: <p>{say.other(session.address)}</p> };
}

/** What an invitation offers. Opening it changes nothing. */
async function show(visit: PersonVisit): Promise<Answer> {
  const { services, session, language, path } = visit;
  const found = await readInvitation(services.sql, idOf(visit));
  if (found === undefined) return over(visit);
  if (found.address !== session.address) return ofAnother(visit);
  const say = words[language].invitation;
  const view = (
    <form method="post" action={path}>
      <p>{say.text(found.accountName, common[language].roles[found.role])}</p>
      <button>{say.accept}</button>
    </form>
  );
  return { status: 200, title: say.heading, view };
}

async function accept(visit: PersonVisit): Promise<Answer> {
  const { services, session, language } = visit;
  const outcome = await acceptInvitation(services.sql, {
    invitation: idOf(visit),
    person: { id: session.personId, address: session.address },
    request: visit,
  });
  if (outcome === 'over') return over(visit);
  if (outcome === 'of_another') return ofAnother(visit);
  const say = words[language].invitation;
  if (typeof outcome === 'string') {
    const text = outcome === 'member' ? say.member : say.full;
    return { status: 409, title: say.overHeading, view: <p>{text}</p> };
  }
  await showAccount(services.sql, session, outcome.account);
  return { to: '/panel/overview' };
}

export const invitationRoutes = [personPage('/panel/invitation/:id', { get: show, post: accept })];
