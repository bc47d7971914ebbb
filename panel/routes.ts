import { blacklistRoutes } from './blacklist/routes.tsx';
import { keyRoutes } from './keys/routes.tsx';
import { overviewRoutes } from './overview/routes.tsx';
import { linkRoutes } from './links/routes.tsx';
import { messageRoutes } from './messages/routes.tsx';
import { replyRoutes } from './replies/routes.tsx';
import { openPage, type Route } from './route.ts';
import { sendRoutes } from './send/routes.tsx';
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
  ...sendRoutes,
  ...messageRoutes,
  ...replyRoutes,
  ...blacklistRoutes,
  ...linkRoutes,
  ...keyRoutes,
  ...youRoutes,
  unknown,
];
