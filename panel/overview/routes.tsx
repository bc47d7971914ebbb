import { readAccount } from '../../db/accounts/accounts.ts';
import { readStanding } from '../../db/accounts/standing.ts';
import { readRunway } from '../../db/money/ledger.ts';
import { ROLES } from '../../domain/actor.ts';
import { lastDays, readBriefly } from '../../operations/reports/report.ts';
import { unlessSlow } from '../ask.ts';
import { accountPage, type Answer, type MemberVisit } from '../route.ts';
import { Overview } from './view.tsx';
import { words } from './words.ts';

async function overview(visit: MemberVisit): Promise<Answer> {
  const { language, services, caller } = visit;
  const [account, standing, days, runway] = await Promise.all([
    readAccount(services.sql, caller.accountId),
    readStanding(services.sql, caller.accountId),
    unlessSlow(lastDays(visit)),
    unlessSlow(readBriefly(visit, readRunway)),
  ]);
  const { role } = visit.account;
  const view = <Overview {...{ language, account: account!, role, standing, days, runway }} />;
  return { status: 200, title: words[language].heading, view };
}

export const overviewRoutes = [accountPage('/panel/overview', ROLES, { get: overview })];
