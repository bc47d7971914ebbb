import { contactImportRoutes } from './contactImport/routes.tsx';
import { contactRoutes } from './contacts/routes.tsx';
import { domainRoutes } from './domains/routes.tsx';
import { emailRoutes } from './emails/routes.tsx';
import { groupRoutes } from './groups/routes.tsx';
import { keyRoutes } from './keys/routes.tsx';
import { overviewRoutes } from './overview/routes.tsx';
import { openPage, type Route } from './route.ts';
import { problemPage } from './shell.tsx';
import { signInRoutes } from './signIn/routes.tsx';
import { suppressionRoutes } from './suppressions/routes.tsx';
import { templateRoutes } from './templates/routes.tsx';
import { youRoutes } from './you/routes.tsx';

// Last: what no page has.
const unknown = openPage('/panel/*rest', {
  get: (visit) => problemPage(visit, 404),
  post: (visit) => problemPage(visit, 404),
});

export const routes: readonly Route[] = [
  ...signInRoutes,
  ...overviewRoutes,
  ...keyRoutes,
  ...contactImportRoutes,
  ...groupRoutes,
  ...contactRoutes,
  ...templateRoutes,
  ...domainRoutes,
  ...suppressionRoutes,
  ...emailRoutes,
  ...youRoutes,
  unknown,
];
