import type { Mount } from '../api/app.ts';
import type { Admitted } from '../api/http/admission.ts';
import { RESPONSE_TIMEOUT_MS } from '../api/http/invoke.ts';
import { errorAnswer, HttpRefused, isFault } from '../api/http/refusals.ts';
import type { Context } from '../api/http/serve.ts';
import type { Services } from '../api/services.ts';
import { hashSecret } from '../db/ids.ts';
import { type SessionRow, useSession } from '../db/people/sessions.ts';
import { StaffRefused } from '../domain/refusals.ts';
import { within } from '../operations/outages.ts';
import { changesRefusal } from '../operations/settings.ts';
import { SECRET } from '../operations/people/signIn.ts';
import { addIds } from '../telemetry/ids.ts';
import { isSameOrigin } from '../pages/sameOrigin.ts';
import { sentenceOf } from './ask.ts';
import { readCookie } from './cookies.ts';
import { openVisit, readForm, writeAnswer } from './http.ts';
import type { Answer, Route, Visit } from './route.ts';
import { routes } from './routes.ts';
import { document, problemPage } from './shell.tsx';
import { readUpload, UPLOAD_MS } from './upload.ts';

/** The pages for customers, `/panel`. */
export function panel(): Mount[] {
  return routes.map((route) => ({
    paths: [route.path],
    methods: route.methods,
    serve: (services, context) => serve(route, services, context),
  }));
}

async function serve(route: Route, services: Services, context: Context): Promise<void> {
  const { panelHost } = services;
  if (panelHost !== null && context.headers.host?.toLowerCase() !== panelHost)
    throw new HttpRefused({ reason: 'route_unknown' });
  // Never the path, which may hold the token of a link; and visitors' addresses are not logged.
  Object.assign(context.state, { route: route.path, visitor: true });
  const receivedAt = Date.now();
  const visit = openVisit(services, context, receivedAt);
  const { uploadBytes: limitBytes } = route;
  const timeoutMs = RESPONSE_TIMEOUT_MS + (limitBytes === 0 ? 0 : UPLOAD_MS);
  try {
    // What one network may occupy, signed in or not, so that its visits leave room for others.
    const admitted = services.admission.enter(`panel of ${visit.network}`, context.res);
    visit.acquireHeavySlot = () => admitted.acquireHeavySlot();
    visit.readUpload = () => readUpload(context.req, { limitBytes, onLarge: visit.acquireHeavySlot });
    write(context, visit, await within(receivedAt + timeoutMs, answer(route, visit, context)));
  } catch (thrown) {
    if (thrown instanceof StaffRefused) return write(context, visit, refusalPage(visit, thrown));
    const { status, problem, cause, headers } = errorAnswer(changesRefusal(thrown) ?? thrown);
    context.state.refusal = problem.reason;
    if (isFault(problem)) services.log.error({ err: cause, requestId: visit.requestId }, 'page failed');
    const told = isFault(problem) ? {} : { sentence: sentenceOf(visit.language, problem) };
    write(context, visit, problemPage(visit, status, { headers, ...told }));
  }
}

const MISSING: ReadonlySet<string> = new Set(['account_missing', 'key_missing', 'token_missing']);

function refusalPage(visit: Visit, { refusal }: StaffRefused): Answer {
  return problemPage(visit, MISSING.has(refusal.reason) ? 404 : 409);
}

async function answer(route: Route, visit: Visit, context: Context): Promise<Answer> {
  const { services, headers } = visit;
  if (visit.method === 'POST' && !isSameOrigin(headers)) return problemPage(visit, 403);
  const token = readCookie(headers, services.panelUrl, 'session');
  if (token !== null && SECRET.test(token))
    visit.session = (await useSession(services.sql, hashSecret(token))) ?? null;
  const { session } = visit;
  if (session !== null) context.state.personId = session.personId;
  const accountId = session?.account?.id;
  if (accountId !== undefined) {
    context.state.accountId = accountId;
    addIds({ accountId });
  }
  if (session !== null && !isProved(route, visit.method, session)) return { to: provePath(route, visit) };
  if (accountId !== undefined)
    shareLimits(visit, services.admission.enter(`panel of ${accountId}`, context.res));
  // Of strangers, only the forms to sign in by are read.
  if (session === null && route.access !== 'anybody') return { to: signInPath(visit) };
  if (visit.method === 'POST' && route.uploadBytes === 0)
    visit.form = await readForm(context, route.formBytes);
  const answered = await route.handle(visit);
  if (answered !== null) return answered;
  return session?.account === null ? { to: '/panel/you' } : problemPage(visit, 403);
}

/** What an account may occupy with its keys, it may once more with its people, from however many networks: keys must not lock them out. */
function shareLimits(visit: Visit, ofAccount: Admitted): void {
  const { acquireHeavySlot } = visit;
  visit.acquireHeavySlot = () => {
    acquireHeavySlot();
    ofAccount.acquireHeavySlot();
  };
}

function signInPath({ method, path }: Visit): string {
  return method === 'POST' ? '/panel' : `/panel?next=${encodeURIComponent(path)}`;
}

/** Whether the person has proved enough: the second factor, if there is one, and that lately for some forms. */
function isProved(
  { beforeSecondFactor, stepUp }: Route,
  method: string,
  { owesFactor, isFresh }: SessionRow,
): boolean {
  if (owesFactor) return beforeSecondFactor;
  return isFresh || !stepUp || method !== 'POST';
}

/** Where proof is asked for. It leads back to the page, or to that of the form, which has to be sent again. */
function provePath({ access }: Route, { method, path, headers: { referer = '' } }: Visit): string {
  // Pages to sign in are left, with the tokens in their paths.
  if (access === 'anybody') return '/panel/confirm';
  const formPath = URL.canParse(referer) ? new URL(referer).pathname : '';
  return `/panel/confirm?next=${encodeURIComponent(method === 'POST' ? formPath : path)}`;
}

function write(context: Context, visit: Visit, answered: Answer): void {
  writeAnswer(context, answered, (shown) => document(visit, shown));
}
