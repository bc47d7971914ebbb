import { getLink, listLinks } from '../../api/links.ts';
import { ROLES } from '../../domain/actor.ts';
import { ask, filled, attempt } from '../ask.ts';
import { accountPage, type Answer, type MemberVisit } from '../route.ts';
import { Link, Links } from './view.tsx';
import { words } from './words.ts';

async function list(visit: MemberVisit): Promise<Answer> {
  const { language, query } = visit;
  const asked = filled(query, ['message_id', 'clicked', 'cursor']);
  const found = await attempt(language, ask(visit, listLinks, { query: asked }));
  return { status: 200, title: words[language].heading, view: <Links {...{ language, query, found }} /> };
}

async function show(visit: MemberVisit): Promise<Answer> {
  const { language, params } = visit;
  const link = await ask(visit, getLink, { params });
  return { status: 200, title: words[language].title(link.token), view: <Link {...{ language, link }} /> };
}

export const linkRoutes = [
  accountPage('/panel/links', ROLES, { get: list }),
  accountPage('/panel/links/:token', ROLES, { get: show }),
];
