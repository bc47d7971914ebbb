import { accountRoutes } from './accounts/routes.tsx';
import { approvalRoutes } from './approvals/routes.tsx';
import { attentionRoutes } from './attention/routes.tsx';
import { bulkRoutes } from './bulks/routes.tsx';
import { commandRoutes } from './commands/routes.tsx';
import { emailRoutes } from './emails/routes.tsx';
import { messageRoutes } from './messages/routes.tsx';
import { nowRoutes } from './now/routes.tsx';
import type { ConsoleRoute } from './route.ts';
import { carrierRoutes } from './routes/routes.tsx';
import { searchRoutes } from './search/routes.tsx';
import { signInRoutes } from './signIn/routes.tsx';
import { visitRoutes } from './visit/routes.tsx';
import { youRoutes } from './you/routes.tsx';

/** Every page of the console. */
export const routes: readonly ConsoleRoute[] = [
  ...signInRoutes,
  ...attentionRoutes,
  ...messageRoutes,
  ...emailRoutes,
  ...accountRoutes,
  ...searchRoutes,
  ...nowRoutes,
  ...carrierRoutes,
  ...commandRoutes,
  ...bulkRoutes,
  ...approvalRoutes,
  ...visitRoutes,
  ...youRoutes,
];
