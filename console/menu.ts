import { prefixOf } from '../domain/ids.ts';
import { STAFF_ROLES, type StaffRole } from '../domain/staff.ts';

interface Place {
  path: string;
  name: string;
  roles: readonly StaffRole[];
}

/** The navigation in its order. */
export const PLACES: readonly Place[] = [
  { path: '/console', name: 'Needs a person', roles: STAFF_ROLES },
  { path: '/console/now', name: 'Now', roles: STAFF_ROLES },
  { path: '/console/accounts', name: 'Accounts', roles: STAFF_ROLES },
  { path: '/console/routes', name: 'Routes', roles: STAFF_ROLES },
  { path: '/console/bulks', name: 'Bulk actions', roles: STAFF_ROLES },
  { path: '/console/approvals', name: 'Approvals', roles: STAFF_ROLES },
  { path: '/console/commands', name: 'Commands', roles: STAFF_ROLES },
  { path: '/console/you', name: 'You', roles: STAFF_ROLES },
];

/** Who may see an account as its customer does, with numbers and texts in full. */
export const VISITORS: readonly StaffRole[] = ['support', 'admin'];

// By the type of an id.
const PAGES = new Map([
  ['msg', 'messages'],
  ['em', 'emails'],
  ['cl', 'accounts'],
  ['bulk', 'bulks'],
]);

/** The page of what has an id; null: it has none. */
export function pagePath(id: string): string | null {
  const page = PAGES.get(prefixOf(id) ?? '');
  return page === undefined ? null : `/console/${page}/${id}`;
}
