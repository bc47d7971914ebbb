import { emailCallbacks } from './callbacks/email.ts';
import { callbacks } from './callbacks/pages.ts';
import { endpoints } from './endpoints.ts';
import type { Page } from './http/page.ts';
import { docsPage, earlierDocsPage } from './pages/docs.ts';
import { redirect } from './pages/redirect.ts';
import { optOutPage } from './pages/optOut.ts';
import { unsubscribePage } from './pages/unsubscribe.ts';

export const pages: readonly Page[] = [
  optOutPage,
  unsubscribePage,
  redirect,
  docsPage(() => endpoints),
  earlierDocsPage(),
  ...callbacks,
  ...emailCallbacks,
];
