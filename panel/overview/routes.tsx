import { type AccountRow, readAccount } from '../../db/accounts/accounts.ts';
import { KEEPERS_OF_KEYS, SCOPES_OF } from '../../domain/actor.ts';
import { polishDay } from '../../domain/calendar.ts';
import type { ReportFigures } from '../../domain/reports.ts';
import type { Caller } from '../../operations/context.ts';
import { DeadlineError } from '../../operations/outages.ts';
import { report } from '../../operations/reports/report.ts';
import { type Answer, type PersonVisit, personPage } from '../route.ts';
import { Overview } from './view.tsx';
import { words } from './words.ts';

/** Who asks operations for a person, by the account that the session shows. */
function callerOf({ session, address, requestId }: PersonVisit): Caller | null {
  const { account, personId } = session;
  if (account === null) return null;
  const { id: accountId, mode: accountMode, role } = account;
  const actor = { kind: 'person', id: personId, accountId, role } as const;
  return { accountId, accountMode, actor, address, requestId, readOnly: false, scopes: SCOPES_OF[role] };
}

/** Null while other reports take too long. */
async function figuresOfToday(visit: PersonVisit, caller: Caller): Promise<ReportFigures | null> {
  const today = polishDay(Date.now());
  try {
    const asked = { ...visit, caller, input: { from: today, to: today, group_by: 'day', limit: 1 } } as const;
    return (await report(asked)).totals;
  } catch (error) {
    if (error instanceof DeadlineError) return null;
    throw error;
  }
}

async function overview(visit: PersonVisit): Promise<Answer> {
  const { language, services } = visit;
  const title = words[language].heading;
  const caller = callerOf(visit);
  const account =
    caller === null ? null : ((await readAccount(services.sql, caller.accountId)) as AccountRow);
  if (caller === null || account === null)
    return { status: 200, title, view: <p>{words[language].noAccount}</p> };
  const today = await figuresOfToday(visit, caller);
  const keeps = KEEPERS_OF_KEYS.includes(visit.session.account!.role);
  return {
    status: 200,
    title,
    view: <Overview language={language} account={account} today={today} keeps={keeps} />,
  };
}

export const overviewRoutes = [personPage('/panel/overview', { get: overview })];
