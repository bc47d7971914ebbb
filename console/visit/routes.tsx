import { readAccountDetails } from '../../db/accounts/staff.ts';
import { hasSqlState, SQLSTATE } from '../../db/connection.ts';
import { type StaffSession, visitAccount as showAccount } from '../../db/people/staff.ts';
import { visitAccount } from '../../operations/people/staff.ts';
import { staffServices } from '../../operations/staff.ts';
import type { Fault } from '../../panel/ask.ts';
import { preferredLanguage } from '../../panel/language.ts';
import { Summary } from '../../panel/parts.tsx';
import type { Answer, Route, ShownAnswer, Visit } from '../../panel/route.ts';
import { routes as panelRoutes } from '../../panel/routes.ts';
import { document as panelDocument } from '../../panel/shell.tsx';
import { VISITORS } from '../menu.ts';
import { NO_REASON, ReasonField, reasonIn } from '../reason.tsx';
import { askerOf, type ConsoleRoute, staffPage, type StaffVisit } from '../route.ts';
import { document, problemPage } from '../shell.tsx';

const FRONT = { to: '/panel/overview' };
const REFUSED: Answer = {
  status: 403,
  title: 'Nothing can be changed here',
  view: <p>You see this account as its customer, who could do this: you only look.</p>,
};

async function form(visit: StaffVisit, fault: Fault | null = null): Promise<Answer> {
  const id = visit.params['id'] ?? '';
  const account = await readAccountDetails(visit.services.sql, id);
  if (account === undefined) return problemPage(404);
  const view = (
    <>
      <Summary language="en" fault={fault} />
      <p>You see every page of the panel as an owner of {account.name} does. Nothing can be changed there.</p>
      <form method="post" action={`/console/accounts/${id}/visit`} class="stack" noValidate>
        <ReasonField
          fault={fault}
          hint="The owners of the account read it in their activity, without your name."
        />
        <button>See it as the customer</button>
      </form>
    </>
  );
  return { status: fault === null ? 200 : 422, title: account.name, view };
}

async function begin(visit: StaffVisit): Promise<Answer> {
  const { services, staff, params } = visit;
  const account = params['id'] ?? '';
  const reason = reasonIn(visit);
  if (reason === null || (await readAccountDetails(services.sql, account)) === undefined)
    return form(visit, NO_REASON);
  const input = { account, session: staff.sessionId };
  await visitAccount({ ...askerOf(visit), services: staffServices(services), grounds: { reason }, input });
  return FRONT;
}

async function end({ services, staff: { sessionId, visited } }: StaffVisit): Promise<Answer> {
  await showAccount(services.sql, sessionId, null);
  return { to: visited === null ? '/console' : `/console/accounts/${visited.id}` };
}

/** A visit of staff as pages of the panel know it: of an owner who only reads. */
function asCustomer(visit: Visit, { id, sessionId, address, visited: account }: StaffSession) {
  const session = { id: sessionId, personId: id, address, account };
  const proof = { hasFactor: true, owesFactor: false, isFresh: false };
  const language = preferredLanguage(visit.headers);
  return { ...visit, language, readOnly: true, session: { ...session, ...proof } };
}

/** Opens a page of the panel, by services that change nothing. */
async function open(visit: StaffVisit, { handle }: Pick<Route, 'handle'>): Promise<Answer> {
  const { staff, settings } = visit;
  if (staff.visited === null) return problemPage(404);
  try {
    const shown = await handle({ ...asCustomer(visit, staff), services: settings.readOnlyServices });
    return shown ?? problemPage(404);
  } catch (error) {
    if (hasSqlState(error, SQLSTATE.readOnly)) return REFUSED;
    throw error;
  }
}

/** A page of the panel under a banner. */
function panelPage(visit: Visit, staff: StaffSession | null, shown: ShownAnswer) {
  const visited = staff?.visited ?? null;
  if (staff === null || visited === null) return document(visit, staff, shown);
  const banner = (
    <aside class="viewing" aria-label="As the customer sees it" lang="en">
      <p>
        You see <strong>{visited.name}</strong> as its customer. Nothing can be changed here.
      </p>
      <form method="post" action="/console/visit/end">
        <button class="second">Back to the console</button>
      </form>
    </aside>
  );
  return panelDocument(asCustomer(visit, staff), shown, banner);
}

// Pages about the account. Those to sign in, and about a person, are nobody's here.
const pages = panelRoutes
  .filter(({ access, methods }) => Array.isArray(access) && methods.includes('GET'))
  .map((route) => staffPage(route.path, VISITORS, { get: (visit) => open(visit, route) }));

const ofPanel: readonly ConsoleRoute[] = [
  ...pages,
  staffPage('/panel', VISITORS, {
    get: (visit) => open(visit, { handle: () => FRONT }),
    post: () => REFUSED,
  }),
  staffPage('/panel/*rest', VISITORS, { get: () => problemPage(404), post: () => REFUSED }),
];

export const visitRoutes: readonly ConsoleRoute[] = [
  staffPage('/console/accounts/:id/visit', VISITORS, { get: (visit) => form(visit), post: begin }),
  staffPage('/console/visit/end', VISITORS, { post: end }),
  ...ofPanel.map((route) => ({ ...route, document: panelPage })),
];
