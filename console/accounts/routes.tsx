import { listAccounts } from '../../db/accounts/staff.ts';
import { isId } from '../../domain/ids.ts';
import { temporalView } from '../../domain/temporalViews.ts';
import { STAFF_ROLES } from '../../domain/staff.ts';
import { showAccount } from '../../operations/support/accountView.ts';
import { filled } from '../../panel/ask.ts';
import type { Answer } from '../../panel/route.ts';
import { askingOf, orMissing } from '../messages/shared.ts';
import { staffPage, type StaffVisit } from '../route.ts';
import { InTemporal } from '../temporal.tsx';
import { Account, AccountList } from './view.tsx';

const PAGE = 50;

async function list({ services, query: given }: StaffVisit): Promise<Answer> {
  const fields = filled(given, ['q', 'cursor']);
  const { q: name = '', cursor = '' } = fields;
  const after = isId('cl', cursor) ? cursor : '';
  const found = await listAccounts(services.sql, { name, after }, PAGE + 1);
  const rows = found.slice(0, PAGE);
  const next = found.length > PAGE ? rows.at(-1)!.id : null;
  const view = <AccountList {...{ rows, next }} query={new URLSearchParams(fields)} />;
  return { status: 200, title: 'Accounts', view };
}

function show(visit: StaffVisit): Promise<Answer> {
  return orMissing(async () => {
    const input = { account: visit.params['id'] ?? '' };
    const account = await showAccount({ ...askingOf(visit), input });
    const view = (
      <Account account={account} role={visit.staff.role}>
        <InTemporal visit={visit} views={[(ui) => temporalView(ui, 'account', { ACCOUNT: account.id })]} />
      </Account>
    );
    return { status: 200, title: account.name, view };
  });
}

export const accountRoutes = [
  staffPage('/console/accounts', STAFF_ROLES, { get: list }),
  staffPage('/console/accounts/:id', STAFF_ROLES, { get: show }),
];
