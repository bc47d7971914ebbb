import { listAccounts } from '../../db/accounts/staff.ts';
import { isId } from '../../domain/ids.ts';
import { temporalView } from '../../domain/temporalViews.ts';
import { STAFF_ROLES } from '../../domain/staff.ts';
import { showAccount } from '../../operations/support/accountView.ts';
import { type Fault, filled } from '../../panel/ask.ts';
import type { Answer } from '../../panel/route.ts';
import { askingOf, orMissing } from '../asking.ts';
import { masked, Reveal } from '../reason.tsx';
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

function show(visit: StaffVisit, reason: string | null, fault: Fault | null): Promise<Answer> {
  return orMissing(async () => {
    const input = { account: visit.params['id'] ?? '', addresses: reason !== null };
    const account = await showAccount({ ...askingOf(visit, reason), input });
    const { path, staff } = visit;
    const reveal = <Reveal {...{ fault }} role={staff.role} to={path} what="addresses and numbers in full" />;
    const view = (
      <Account account={account} role={staff.role} reveal={reason === null ? reveal : null}>
        <InTemporal visit={visit} views={[(ui) => temporalView(ui, 'account', { ACCOUNT: account.id })]} />
      </Account>
    );
    return { status: fault === null ? 200 : 422, title: account.name, view };
  });
}

export const accountRoutes = [
  staffPage('/console/accounts', STAFF_ROLES, { get: list }),
  staffPage('/console/accounts/:id', STAFF_ROLES, masked(show)),
];
