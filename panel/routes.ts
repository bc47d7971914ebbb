import { confirmRoutes } from './confirm/routes.tsx';
import { factorRoutes } from './factors/routes.tsx';
import { activityRoutes } from './activity/routes.tsx';
import { companyRoutes } from './company/routes.tsx';
import { contactImportRoutes } from './contactImport/routes.tsx';
import { contactRoutes } from './contacts/routes.tsx';
import { domainRoutes } from './domains/routes.tsx';
import { emailRoutes } from './emails/routes.tsx';
import { groupRoutes } from './groups/routes.tsx';
import { billingRoutes } from './billing/routes.tsx';
import { alertRoutes } from './alerts/routes.tsx';
import { blacklistRoutes } from './blacklist/routes.tsx';
import { keyRoutes } from './keys/routes.tsx';
import { numberRoutes } from './numbers/routes.tsx';
import { overviewRoutes } from './overview/routes.tsx';
import { ledgerRoutes } from './ledger/routes.tsx';
import { linkRoutes } from './links/routes.tsx';
import { messageRoutes } from './messages/routes.tsx';
import { replyRoutes } from './replies/routes.tsx';
import { reportRoutes } from './reports/routes.tsx';
import { openPage, type Route } from './route.ts';
import { sendRoutes } from './send/routes.tsx';
import { problemPage } from './shell.tsx';
import { senderRoutes } from './senders/routes.tsx';
import { settingRoutes } from './settings/routes.tsx';
import { signInRoutes } from './signIn/routes.tsx';
import { invitationRoutes } from './team/invitation.tsx';
import { teamRoutes } from './team/routes.tsx';
import { addressRoutes } from './you/address.tsx';
import { statementRoutes } from './statements/routes.tsx';
import { suppressionRoutes } from './suppressions/routes.tsx';
import { templateRoutes } from './templates/routes.tsx';
import { webhookRoutes } from './webhooks/routes.tsx';
import { youRoutes } from './you/routes.tsx';

// Last: what no page has.
const unknown = openPage('/panel/*rest', {
  get: (visit) => problemPage(visit, 404),
  post: (visit) => problemPage(visit, 404),
});

export const routes: readonly Route[] = [
  ...signInRoutes,
  ...confirmRoutes,
  ...overviewRoutes,
  ...sendRoutes,
  ...messageRoutes,
  ...replyRoutes,
  ...blacklistRoutes,
  ...linkRoutes,
  ...numberRoutes,
  ...keyRoutes,
  ...teamRoutes,
  ...invitationRoutes,
  ...activityRoutes,
  ...contactImportRoutes,
  ...groupRoutes,
  ...contactRoutes,
  ...templateRoutes,
  ...domainRoutes,
  ...suppressionRoutes,
  ...emailRoutes,
  ...reportRoutes,
  ...ledgerRoutes,
  ...alertRoutes,
  ...senderRoutes,
  ...webhookRoutes,
  ...billingRoutes,
  ...companyRoutes,
  ...settingRoutes,
  ...statementRoutes,
  ...youRoutes,
  ...factorRoutes,
  ...addressRoutes,
  unknown,
];
