import { STAFF_ROLES } from '../domain/staff.ts';
import { approvalRoutes } from './approvals/routes.tsx';
import { commandRoutes } from './commands/routes.tsx';
import { type ConsoleRoute, staffPage } from './route.ts';
import { signInRoutes } from './signIn/routes.tsx';
import { visitRoutes } from './visit/routes.tsx';
import { youRoutes } from './you/routes.tsx';

/** Every page of the console. */
export const routes: readonly ConsoleRoute[] = [
  ...signInRoutes,
  staffPage('/console', STAFF_ROLES, { get: () => ({ to: '/console/commands' }) }),
  ...commandRoutes,
  ...approvalRoutes,
  ...visitRoutes,
  ...youRoutes,
];
