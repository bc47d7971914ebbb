import { STAFF_ROLES } from '../domain/staff.ts';
import { accountRoutes } from './accounts/routes.tsx';
import { approvalRoutes } from './approvals/routes.tsx';
import { commandRoutes } from './commands/routes.tsx';
import { emailRoutes } from './emails/routes.tsx';
import { messageRoutes } from './messages/routes.tsx';
import { type ConsoleRoute, staffPage } from './route.ts';
import { searchRoutes } from './search/routes.tsx';
import { signInRoutes } from './signIn/routes.tsx';
import { youRoutes } from './you/routes.tsx';

/** Every page of the console. */
export const routes: readonly ConsoleRoute[] = [
  ...signInRoutes,
  staffPage('/console', STAFF_ROLES, { get: () => ({ to: '/console/commands' }) }),
  ...messageRoutes,
  ...emailRoutes,
  ...accountRoutes,
  ...searchRoutes,
  ...commandRoutes,
  ...approvalRoutes,
  ...youRoutes,
];
