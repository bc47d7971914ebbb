import { readAccountDetails } from '../../db/accounts/staff.ts';
import { readLowBalance } from '../../db/money/balanceAlerts.ts';
import { membersOf } from '../../db/people/members.ts';
import { PAYERS } from '../../domain/actor.ts';
import { isId } from '../../domain/ids.ts';
import { parsePln } from '../../domain/money.ts';
import { changeAlerts } from '../../operations/money/alerts.ts';
import { asking, attempt, type Fault, requireActive } from '../ask.ts';
import { accountPage, type Answer, type MemberVisit } from '../route.ts';
import { Alerts, PERSON, type Typed } from './view.tsx';
import { words } from './words.ts';

const PATH = '/panel/alerts';

async function page(visit: MemberVisit, typed?: Typed, fault: Fault | null = null): Promise<Answer> {
  const { services, account, language, query } = visit;
  const [details, threshold, members] = await Promise.all([
    readAccountDetails(services.sql, account.id),
    readLowBalance(services.sql, account.id),
    membersOf(services.sql, account.id),
  ]);
  const form = typed ?? {
    lowBalance: threshold === null ? '' : (threshold / 100).toFixed(2).replace('.', ','),
    people: members.filter(({ alerted }) => alerted).map(({ id }) => id),
  };
  const view = (
    <Alerts
      {...{ language, members, form, fault }}
      contact={details?.contactEmail ?? null}
      saved={query.has('saved')}
    />
  );
  return { status: fault === null ? 200 : 422, title: words[language].heading, view };
}

async function change(visit: MemberVisit): Promise<Answer> {
  requireActive(visit);
  const { form, language, account } = visit;
  const typed = {
    lowBalance: (form.get('low_balance') ?? '').trim(),
    people: [...form.keys()].flatMap((name) => {
      const id = name.slice(PERSON.length);
      return name.startsWith(PERSON) && isId('per', id) ? [id] : [];
    }),
  };
  const lowBalance = typed.lowBalance === '' ? null : parsePln(typed.lowBalance);
  if (typed.lowBalance !== '' && (lowBalance ?? 0) === 0)
    return page(visit, typed, { field: 'low_balance', text: words[language].amountFault });
  const input = { account: account.id, lowBalance, people: typed.people };
  const { fault } = await attempt(language, changeAlerts(asking(visit, input)));
  return fault === null ? { to: `${PATH}?saved` } : page(visit, typed, fault);
}

export const alertRoutes = [accountPage(PATH, PAYERS, { get: (visit) => page(visit), post: change })];
