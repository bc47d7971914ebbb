import { readActivity } from '../../db/accounts/audit.ts';
import { membersOf } from '../../db/people/members.ts';
import { isId } from '../../domain/ids.ts';
import { filled } from '../ask.ts';
import { accountPage, type Answer, type MemberVisit } from '../route.ts';
import { ActivityLog } from './view.tsx';
import { actionsOf, words } from './words.ts';

const PAGE = 50;
const CURSOR = /^\d{1,15}$/;

async function activity({
  services: { sql },
  account,
  language,
  query: given,
}: MemberVisit): Promise<Answer> {
  const { person = '', kind = '', cursor = '' } = filled(given, ['person', 'kind', 'cursor']);
  const filters = {
    actor: isId('per', person) ? person : null,
    actions: actionsOf(kind),
    before: CURSOR.test(cursor) ? Number(cursor) : null,
  };
  const [found, members] = await Promise.all([
    readActivity(sql, account.id, filters, PAGE + 1),
    membersOf(sql, account.id),
  ]);
  const rows = found.slice(0, PAGE);
  const next = found.length > PAGE ? String(rows.at(-1)!.id) : null;
  const query = new URLSearchParams(filled(given, ['person', 'kind', 'cursor']));
  const view = <ActivityLog {...{ language, rows, members, query, next }} />;
  return { status: 200, title: words[language].heading, view };
}

export const activityRoutes = [accountPage('/panel/activity', ['owner'], { get: activity })];
