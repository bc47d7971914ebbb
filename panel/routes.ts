import { keyRoutes } from './keys/routes.tsx';
import { numberRoutes } from './numbers/routes.tsx';
import { overviewRoutes } from './overview/routes.tsx';
import { openPage, type Route } from './route.ts';
import { problemPage } from './shell.tsx';
import { signInRoutes } from './signIn/routes.tsx';
import { youRoutes } from './you/routes.tsx';

// Last: what no page has.
const unknown = openPage('/panel/*rest', {
  get: (visit) => problemPage(visit, 404),
  post: (visit) => problemPage(visit, 404),
});

export const routes: readonly Route[] = [
  ...signInRoutes,
  ...overviewRoutes,
  ...numberRoutes,
  ...keyRoutes,
  ...youRoutes,
  unknown,
];
