import { emailCallbacks } from './callbacks/email.ts';
import { callbacks } from './callbacks/pages.ts';
import { paymentEvents } from './callbacks/payments.ts';
import { endpoints } from './endpoints.ts';
import type { Page } from './http/page.ts';
import { assetPage } from './pages/assets.ts';
import { docsPage, earlierDocsPage } from './pages/docs.tsx';
import { redirect } from './pages/redirect.tsx';
import { optOutPage } from './pages/optOut.tsx';
import { unsubscribePage } from './pages/unsubscribe.tsx';

export const pages: readonly Page[] = [
  optOutPage,
  unsubscribePage,
  redirect,
  docsPage(() => endpoints),
  earlierDocsPage(),
  assetPage,
  ...callbacks,
  ...emailCallbacks,
  paymentEvents,
];
