import { execute, readArguments } from '../../commands/command.ts';
import type { FindResult } from '../../commands/find.ts';
import { STAFF_ROLES } from '../../domain/staff.ts';
import type { FoundThing } from '../../operations/support/search.ts';
import type { Answer } from '../../panel/route.ts';
import { faultOf } from '../commands/form.tsx';
import { commandPath, OFFERS } from '../commands/offered.ts';
import { pagePath } from '../menu.ts';
import { askerOf, staffPage, type StaffVisit } from '../route.ts';
import { searchPage } from './view.tsx';

const { command } = OFFERS.get('find')!;

/** What was sought, over all accounts; the only thing found opens its page. */
async function get(visit: StaffVisit): Promise<Answer> {
  const text = visit.query.get('q') ?? '';
  if (text.trim() === '') return searchPage({ fault: null, shown: null });
  visit.acquireHeavySlot();
  try {
    const values = readArguments(command, { text });
    const shown = await execute(visit.services.sql, askerOf(visit), command, values, visit.settings.tools);
    const { data, tooSlow = [] } = shown.result as FindResult;
    const [path, ...others] = new Set(data.map(pathOf));
    if (typeof path === 'string' && others.length === 0 && tooSlow.length === 0) return { to: path };
    return searchPage({ fault: null, shown });
  } catch (error) {
    return searchPage({ fault: faultOf(command, error), shown: null });
  }
}

/** Where a thing is shown; itself if nowhere. */
function pathOf(thing: FoundThing): string | FoundThing {
  const { kind, id, accountId, about } = thing;
  const asking = (name: string, values: Record<string, string>) =>
    commandPath(name, { ...values, show: 'yes' });
  if (id !== null) {
    const page = pagePath(id);
    if (page !== null) return page;
    if (kind === 'payment') return asking('payments show', { payment: id });
    if (kind === 'route') return asking('routes show', { name: id });
  }
  // What an event tells of stands last.
  const subject = kind === 'event' ? pagePath(about.split(' ').at(-1)!) : null;
  if (subject !== null) return subject;
  if (kind === 'approval') return '/console/approvals';
  if (kind === 'staff') return asking('staff list', {});
  const list = LISTS[kind];
  return list === undefined || accountId === null ? thing : asking(list, { account: accountId });
}

/** Commands that list what an account has of a kind. */
const LISTS: Partial<Record<FoundThing['kind'], string>> = {
  ...{
    statement: 'statements list',
    'ledger entry': 'ledger',
    domain: 'domains list',
    sender: 'senders list',
  },
  ...{ 'sender request': 'senders requests', 'verified number': 'numbers list' },
};

export const searchRoutes = [staffPage('/console/search', STAFF_ROLES, { get })];
