import { readAccount } from '../../db/accounts/accounts.ts';
import { KEY_MANAGERS, ROLES } from '../../domain/actor.ts';
import { polishDay } from '../../domain/calendar.ts';
import type { ReportFigures } from '../../domain/reports.ts';
import { DeadlineError } from '../../operations/outages.ts';
import { report } from '../../operations/reports/report.ts';
import { accountPage, type Answer, type MemberVisit } from '../route.ts';
import { Overview } from './view.tsx';
import { words } from './words.ts';

/** Null while other reports take too long. */
async function figuresOfToday(visit: MemberVisit): Promise<ReportFigures | null> {
  const today = polishDay(Date.now());
  try {
    const input = { from: today, to: today, group_by: 'day', limit: 1 } as const;
    return (await report({ ...visit, input })).totals;
  } catch (error) {
    if (error instanceof DeadlineError) return null;
    throw error;
  }
}

async function overview(visit: MemberVisit): Promise<Answer> {
  const { language, services, caller } = visit;
  const account = (await readAccount(services.sql, caller.accountId))!;
  const today = await figuresOfToday(visit);
  const managesKeys = KEY_MANAGERS.includes(visit.account.role);
  const view = <Overview language={language} account={account} today={today} managesKeys={managesKeys} />;
  return { status: 200, title: words[language].heading, view };
}

export const overviewRoutes = [accountPage('/panel/overview', ROLES, { get: overview })];
