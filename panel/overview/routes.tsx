import { readAccount } from '../../db/accounts/accounts.ts';
import { readStanding } from '../../db/accounts/standing.ts';
import { ROLES } from '../../domain/actor.ts';
import type { DailySums } from '../../db/reports/daily.ts';
import { outageOf } from '../../operations/outages.ts';
import { lastDays } from '../../operations/reports/report.ts';
import { accountPage, type Answer, type MemberVisit } from '../route.ts';
import { Overview } from './view.tsx';
import { words } from './words.ts';

/** Null while reports take too long. */
async function daysOf(visit: MemberVisit): Promise<DailySums[] | null> {
  try {
    return await lastDays(visit);
  } catch (error) {
    if (outageOf(error) === 'timed_out') return null;
    throw error;
  }
}

async function overview(visit: MemberVisit): Promise<Answer> {
  const { language, services, caller } = visit;
  const [account, standing, days] = await Promise.all([
    readAccount(services.sql, caller.accountId),
    readStanding(services.sql, caller.accountId),
    daysOf(visit),
  ]);
  const { role } = visit.account;
  const view = <Overview {...{ language, account: account!, role, standing, days }} />;
  return { status: 200, title: words[language].heading, view };
}

export const overviewRoutes = [accountPage('/panel/overview', ROLES, { get: overview })];
