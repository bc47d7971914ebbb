import { hashSecret } from '../../db/ids.ts';
import { latestSignIn } from '../../db/people/signIns.ts';
import { endStaffSession } from '../../db/people/staff.ts';
import { STAFF_ROLES } from '../../domain/staff.ts';
import { signInAddress } from '../../domain/people.ts';
import { hasPasskeys } from '../../operations/people/passkeys.ts';
import { newSecret, SECRET } from '../../operations/people/signIn.ts';
import {
  beginStaffSession,
  passkeyQuestion,
  proveStaffSession,
  requestStaffSignIn,
  signInByPasskey,
} from '../../operations/people/staffSignIn.ts';
import { PASSKEY_SCRIPT } from '../../panel/confirm/view.tsx';
import { cookieHeader, readCookie } from '../../panel/cookies.ts';
import { timeIn } from '../../panel/language.ts';
import { type Answer, typedCode, type Visit } from '../../panel/route.ts';
import { deviceOf } from '../../panel/signIn/device.ts';
import { consolePath, openPage, staffPage, type StrangerVisit } from '../route.ts';
import { problemPage } from '../shell.tsx';
import { AppForm, CodeForm, LinkForm, SignInForm } from './view.tsx';

const BROWSER_S = 15 * 60;

function browserOf({ headers, services }: Visit): string | null {
  const secret = readCookie(headers, services.panelUrl, 'browser');
  return secret !== null && SECRET.test(secret) ? secret : null;
}

const browserCookie = ({ services }: Visit, browser: string) =>
  cookieHeader(services.panelUrl, 'browser', browser, BROWSER_S);

const cameFrom = ({ address, headers }: Visit) => ({ address, device: deviceOf(headers['user-agent']) });

function enter({ services: { panelUrl } }: Visit, token: string, to: string): Answer {
  const cookies = [cookieHeader(panelUrl, 'console', token, null), cookieHeader(panelUrl, 'browser', '', 0)];
  return { to, cookies };
}

async function signInPage(visit: Visit, next: string, fault: string | null): Promise<Answer> {
  const browser = browserOf(visit) ?? newSecret();
  const question = hasPasskeys(visit.services) ? await passkeyQuestion(visit.services, browser) : null;
  return {
    status: fault === null ? 200 : 422,
    title: 'Sign in',
    view: <SignInForm next={next} question={question} fault={fault} />,
    cookies: [browserCookie(visit, browser)],
    ...(question === null ? {} : { script: PASSKEY_SCRIPT }),
  };
}

async function byPasskey(visit: Visit): Promise<Answer> {
  const { services, form } = visit;
  const next = consolePath(form.get('next') ?? null);
  const browser = browserOf(visit);
  const answered = { challenge: form.get('challenge') ?? '', response: form.get('response') ?? '' };
  const signedIn =
    browser === null ? null : await signInByPasskey(services, { browser, ...answered }, cameFrom(visit));
  if (signedIn === null)
    return await signInPage(visit, next, 'This passkey signs nobody in. Use the e-mail, or try again.');
  return enter(visit, signedIn.token, next);
}

async function askForEmail(visit: Visit): Promise<Answer> {
  const { services, form } = visit;
  if (form.has('response')) return await byPasskey(visit);
  const next = consolePath(form.get('next') ?? null);
  const address = signInAddress(form.get('address') ?? '');
  if (address === null) return await signInPage(visit, next, 'An address such as jan@example.com is needed.');
  const browser = browserOf(visit) ?? newSecret();
  const asked = await requestStaffSignIn(services, {
    ...{ address, browser, next: null, network: visit.network },
    words: (token, code) => ({
      subject: 'Sign in to the Goniec console',
      text: `Code: ${code}\n\nOr open this link in the browser that asked for it:\n${services.panelUrl}/console/link/${token}\n\nBoth work for 15 minutes. The console then asks for the code of your authenticator app.\nIf you did not ask for this e-mail, tell your administrator.\n`,
    }),
  });
  if (asked === 'unavailable' || asked === 'to_people')
    return problemPage(503, 'E-mails cannot be sent now. A passkey works without them.');
  if (asked !== 'sent')
    return problemPage(429, `Too many e-mails were asked for. Try again at ${timeIn(asked.seconds)}.`);
  const view = <CodeForm address={address} next={next} fault={null} />;
  return { status: 200, title: 'Check your e-mail', view, cookies: [browserCookie(visit, browser)] };
}

async function enterCode(visit: Visit): Promise<Answer> {
  const { services, form } = visit;
  const next = consolePath(form.get('next') ?? null);
  const browser = browserOf(visit);
  const again = async (fault: string): Promise<Answer> => {
    const began = browser === null ? undefined : await latestSignIn(services.sql, hashSecret(browser));
    const view = <CodeForm address={began?.address ?? ''} next={next} fault={fault} />;
    return { status: 422, title: 'Check your e-mail', view };
  };
  const code = typedCode(visit);
  if (browser === null || !/^\d{6}$/.test(code)) return await again('Enter the six digits of the e-mail.');
  const begun = await beginStaffSession(services.sql, { browser, code }, cameFrom(visit));
  if (begun === 'over' || ('left' in begun && begun.left === 0))
    return await again('This code does not work any more. Ask for another e-mail.');
  if ('left' in begun) return await again(`This code is wrong. ${begun.left} more can be tried.`);
  return enter(visit, begun.token, `/console/confirm?next=${encodeURIComponent(next)}`);
}

async function enterByLink(visit: Visit): Promise<Answer> {
  const link = visit.params['token'] ?? '';
  const begun = SECRET.test(link)
    ? await beginStaffSession(visit.services.sql, { link }, cameFrom(visit))
    : 'over';
  if (begun === 'over' || 'left' in begun)
    return problemPage(404, 'This link was used, has expired, or is none of ours. Ask for another e-mail.');
  return enter(visit, begun.token, '/console/confirm');
}

async function prove(visit: StrangerVisit): Promise<Answer> {
  const { services, form, owing } = visit;
  if (owing === null) return { to: '/console/sign-in' };
  const next = consolePath(form.get('next') ?? null);
  const proved = await proveStaffSession(services, owing, typedCode(visit));
  if (typeof proved === 'object') return enter(visit, proved.token, next);
  const fault =
    proved === 'paused'
      ? 'Too many wrong codes. Wait 15 minutes.'
      : 'This code is wrong, or was used already. Wait for the next one.';
  return { status: 422, title: 'Confirm', view: <AppForm next={next} fault={fault} /> };
}

const nextOf = ({ query }: Visit) => consolePath(query.get('next'));

export const signInRoutes = [
  openPage('/console/sign-in', { get: (visit) => signInPage(visit, nextOf(visit), null), post: askForEmail }),
  openPage('/console/code', { get: () => ({ to: '/console/sign-in' }), post: enterCode }),
  openPage('/console/link/:token', {
    // Opening it changes nothing: programs that check mail open it, too.
    get: ({ path }) => ({ status: 200, title: 'Sign in', view: <LinkForm path={path} /> }),
    post: enterByLink,
  }),
  openPage('/console/confirm', {
    get: (visit) =>
      visit.owing === null
        ? { to: '/console/sign-in' }
        : { status: 200, title: 'Confirm', view: <AppForm next={nextOf(visit)} fault={null} /> },
    post: prove,
  }),
  staffPage('/console/sign-out', STAFF_ROLES, {
    async post({ services, staff }) {
      await endStaffSession(services.sql, staff.sessionId);
      return { to: '/console/sign-in', cookies: [cookieHeader(services.panelUrl, 'console', '', 0)] };
    },
  }),
];
