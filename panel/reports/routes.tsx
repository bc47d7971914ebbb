import { getReport } from '../../api/reports.ts';
import { ROLES } from '../../domain/actor.ts';
import { addDays, polishDay } from '../../domain/calendar.ts';
import { ask, askForCsv, type Fault, faultOf, filled } from '../ask.ts';
import { accountPage, type Answer, type MemberVisit } from '../route.ts';
import { type Report, ReportPage } from './view.tsx';
import { words } from './words.ts';

const FILTERS = ['from', 'to', 'group_by', 'type', 'status', 'sender', 'country', 'reference'];

// Days, unless a period is asked for.
const SHOWN_DAYS = 7;

function asked({ query }: MemberVisit) {
  const given = filled(query, FILTERS);
  const isOpen = given['from'] === undefined && given['to'] === undefined;
  return { query: isOpen ? { ...given, from: addDays(polishDay(Date.now()), 1 - SHOWN_DAYS) } : given };
}

async function page(visit: MemberVisit): Promise<Answer> {
  const { language, query } = visit;
  let [report, fault]: [Report | null, Fault | null] = [null, null];
  try {
    report = await ask(visit, getReport, asked(visit));
  } catch (thrown) {
    fault = faultOf(language, thrown);
  }
  const view = <ReportPage {...{ language, query, report, fault }} />;
  return { status: fault === null ? 200 : 422, title: words[language].heading, view };
}

export const reportRoutes = [
  accountPage('/panel/reports', ROLES, {
    get: (visit) =>
      visit.query.get('format') === 'csv' ? askForCsv(visit, getReport, asked(visit)) : page(visit),
  }),
];
