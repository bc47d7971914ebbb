import type { Mount } from '../api/app.ts';
import { RESPONSE_TIMEOUT_MS } from '../api/http/invoke.ts';
import { errorAnswer, HttpRefused, isFault } from '../api/http/refusals.ts';
import type { Context } from '../api/http/serve.ts';
import type { Services } from '../api/services.ts';
import { hashSecret } from '../db/ids.ts';
import { type StaffSession, useStaffSession } from '../db/people/staff.ts';
import { LOOPBACK_HOSTS } from '../domain/addresses.ts';
import { within } from '../operations/outages.ts';
import { SECRET } from '../operations/people/signIn.ts';
import { isSameOrigin } from '../pages/sameOrigin.ts';
import { sentenceOf } from '../panel/ask.ts';
import { readCookie } from '../panel/cookies.ts';
import { openVisit, readForm, writeAnswer } from '../panel/http.ts';
import type { Answer, Visit } from '../panel/route.ts';
import type { ConsoleRoute, ConsoleSettings, StaffVisit } from './route.ts';
import { routes } from './routes.ts';
import { document, problemPage } from './shell.tsx';

const FORM_BYTES = 64 * 1024;
// A page of a list has a box to tick for each row.
const FIELDS_MAX = 150;
// Refunds, erasures and resends wait for others. Given up earlier, they would go on unseen and be asked for again.
const ACT_TIMEOUT_MS = 70_000;

/** The pages for staff, `/console`. */
export function consolePages(settings: ConsoleSettings): Mount[] {
  const pages = routes.map((route) => ({
    paths: [route.path],
    methods: route.methods,
    serve: (services: Services, context: Context) => serve(route, settings, services, context),
  }));
  return [{ paths: ['/'], methods: ['GET'], serve: front }, ...pages];
}

function front(_services: Services, context: Context): Promise<void> {
  context.redirect('/console');
  return Promise.resolve();
}

async function serve(
  route: ConsoleRoute,
  settings: ConsoleSettings,
  services: Services,
  context: Context,
): Promise<void> {
  requireHost(services, context);
  // Never the path, which may hold the token of a link.
  Object.assign(context.state, { route: route.path, visitor: true });
  const receivedAt = Date.now();
  const visit: Visit = { ...openVisit(services, context, receivedAt), language: 'en' };
  const write = (answered: Answer, staff: StaffSession | null) =>
    writeAnswer(context, answered, (shown) => (route.document ?? document)(visit, staff, shown));
  let session: StaffSession | null = null;
  try {
    const admitted = services.admission.enter(`console of ${visit.network}`, context.res);
    visit.acquireHeavySlot = () => admitted.acquireHeavySlot();
    if (visit.method === 'POST' && !isSameOrigin(context.headers)) return write(problemPage(403), null);
    session = await sessionOf(visit);
    if (session !== null) {
      // Through a tunnel, all of staff come from one address.
      const own = services.admission.enter(`console of ${session.id}`, context.res);
      visit.acquireHeavySlot = () => own.acquireHeavySlot();
    }
    const timeout = visit.method === 'POST' ? ACT_TIMEOUT_MS : RESPONSE_TIMEOUT_MS;
    write(await within(receivedAt + timeout, answer(route, settings, visit, session, context)), session);
  } catch (thrown) {
    const { status, problem, cause, headers } = errorAnswer(thrown);
    context.state.refusal = problem.reason;
    if (isFault(problem)) services.log.error({ err: cause, requestId: visit.requestId }, 'page failed');
    const sentence = isFault(problem) ? `Event: ${visit.requestId}.` : sentenceOf('en', problem);
    write(problemPage(status, sentence, headers), session);
  }
}

/** What another name leads here, a page of another site may ask for it as its own. @throws HttpRefused */
function requireHost({ panelUrl, panelHost }: Services, { headers }: Context): void {
  const host = headers.host?.toLowerCase() ?? '';
  const name = host.replace(/:\d+$/, '');
  const isOurs = panelHost === null ? LOOPBACK_HOSTS.has(name) : host === new URL(panelUrl).host;
  if (!isOurs) throw new HttpRefused({ reason: 'route_unknown' });
}

async function sessionOf({ headers, services }: Visit): Promise<StaffSession | null> {
  const token = readCookie(headers, services.panelUrl, 'console');
  if (token === null || !SECRET.test(token)) return null;
  // A page that follows by itself keeps nobody signed in.
  const isSeen = headers['hx-request'] !== 'true';
  return (await useStaffSession(services.sql, hashSecret(token), isSeen)) ?? null;
}

async function answer(
  route: ConsoleRoute,
  settings: ConsoleSettings,
  visit: Visit,
  session: StaffSession | null,
  context: Context,
): Promise<Answer> {
  const { access } = route;
  const readFields = async () => {
    if (visit.method === 'POST') visit.form = await readForm(context, FORM_BYTES, FIELDS_MAX);
  };
  if (access === 'anybody') {
    await readFields();
    return await route.handle({ ...visit, owing: session?.isProved === false ? session : null });
  }
  if (session?.isProved !== true) return { to: signInPath(visit, session) };
  if (!access.includes(session.role)) return problemPage(403);
  await readFields();
  const staff: StaffVisit = { ...visit, staff: session, settings };
  return await route.handle(staff);
}

function signInPath({ method, path, query }: Visit, session: StaffSession | null): string {
  const at = session === null ? '/console/sign-in' : '/console/confirm';
  const back = query.size === 0 ? path : `${path}?${query.toString()}`;
  return method === 'POST' ? at : `${at}?next=${encodeURIComponent(back)}`;
}
