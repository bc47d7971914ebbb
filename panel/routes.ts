import { keyRoutes } from './keys/routes.tsx';
import { overviewRoutes } from './overview/routes.tsx';
import { reportRoutes } from './reports/routes.tsx';
import { openPage, type Route } from './route.ts';
import { problemPage } from './shell.tsx';
import { senderRoutes } from './senders/routes.tsx';
import { settingRoutes } from './settings/routes.tsx';
import { signInRoutes } from './signIn/routes.tsx';
import { webhookRoutes } from './webhooks/routes.tsx';
import { youRoutes } from './you/routes.tsx';

// Last: what no page has.
const unknown = openPage('/panel/*rest', {
  get: (visit) => problemPage(visit, 404),
  post: (visit) => problemPage(visit, 404),
});

export const routes: readonly Route[] = [
  ...signInRoutes,
  ...overviewRoutes,
  ...reportRoutes,
  ...senderRoutes,
  ...keyRoutes,
  ...webhookRoutes,
  ...settingRoutes,
  ...youRoutes,
  unknown,
];
