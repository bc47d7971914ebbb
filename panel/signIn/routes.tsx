import { secondsOfToday } from '../../db/dailyUse.ts';
import { hashSecret } from '../../db/ids.ts';
import { endSessionOf } from '../../db/people/sessions.ts';
import { latestSignIn, readLink, type SignIn } from '../../db/people/signIns.ts';
import { ownPath, signInAddress } from '../../domain/people.ts';
import {
  type Arrival,
  type GivenUp,
  requestSignIn,
  newSecret,
  type NotSignedIn,
  SECRET,
  type SignedIn,
  signInByCode,
  signInByLink,
} from '../../operations/people/signIn.ts';
import { asset } from '../../pages/assets.ts';
import type { Fault } from '../ask.ts';
import { cookieHeader, readCookie } from '../cookies.ts';
import { LANGUAGES, timeIn } from '../language.ts';
import { type Answer, openPage, personPage, typedCode, type Visit } from '../route.ts';
import { deviceOf } from './device.ts';
import { AddressForm, Again, CodeForm, LinkForm } from './views.tsx';
import { words } from './words.ts';

const SUBMIT = asset(new URL('submit.js', import.meta.url));
const YEAR_S = 366 * 24 * 3600;
const BROWSER_S = 15 * 60;

const faultIn = (field: string, text: string | null): Fault | null =>
  text === null ? null : { field, text };

function addressPage(visit: Visit, typed: string, next: string | null, fault: string | null): Answer {
  const { language } = visit;
  const view = <AddressForm {...{ language, typed, next, fault: faultIn('address', fault) }} />;
  return { status: fault === null ? 200 : 422, title: words[language].heading, view };
}

/** The secret of this browser, while an e-mail that it asked for may be used; null: it has none. */
function browserOf({ headers, services: { panelUrl } }: Visit): string | null {
  const secret = readCookie(headers, panelUrl, 'browser');
  return secret !== null && SECRET.test(secret) ? secret : null;
}

async function ask(visit: Visit): Promise<Answer> {
  const { services, form, language } = visit;
  const say = words[language];
  const typed = form.get('address') ?? '';
  const next = ownPath(form.get('next') ?? '');
  const address = signInAddress(typed);
  if (address === null) return addressPage(visit, typed.slice(0, 300), next, say.addressFault);
  const browser = browserOf(visit) ?? newSecret();
  const asked = await requestSignIn(services, {
    ...{ address, browser, next, network: visit.network },
    words: (token, code) => ({
      subject: say.mail.subject,
      text: say.mail.text(code, `${services.panelUrl}/panel/link/${token}`),
    }),
  });
  if (asked === 'unavailable')
    return { status: 503, title: say.unavailableHeading, view: <p>{say.unavailable}</p> };
  const cookies = [cookieHeader(services.panelUrl, 'browser', browser, BROWSER_S)];
  if (asked === 'to_people') return { ...peopleOnly(visit, address, next), cookies };
  if (asked !== 'sent') {
    const headers = { 'Retry-After': String(asked.seconds) };
    return {
      status: 429,
      title: say.limitedHeading,
      view: <p>{say.limited[asked.limited](timeIn(asked.seconds))}</p>,
      headers,
    };
  }
  return { to: '/panel/code', cookies };
}

/** The same for who has an account, and finds the code in the mailbox, and for who has none. */
function peopleOnly(
  { services: { settings }, language }: Visit,
  address: string,
  next: string | null,
): Answer {
  const say = words[language];
  const isStopped = settings.SIGN_UP_EMAILS_A_DAY === 0;
  return {
    ...{ status: 429, title: say.closedHeading },
    view: (
      <CodeForm {...{ language, address, next, fault: null }} lead={isStopped ? say.stopped : say.closed} />
    ),
    headers: isStopped ? {} : { 'Retry-After': String(secondsOfToday()) },
  };
}

function arrivalOf({ headers, address, requestId, services: { panelUrl } }: Visit): Arrival {
  const replaced = readCookie(headers, panelUrl, 'session');
  return { address, requestId, device: deviceOf(headers['user-agent']), replaced };
}

/** Opens the panel for who has signed in, by a session made now; who has given the address up can have it back. */
function enter({ services: { panelUrl } }: Visit, outcome: SignedIn | GivenUp): Answer {
  const forgotten = cookieHeader(panelUrl, 'browser', '', 0);
  if ('undo' in outcome) return { to: `/panel/address/undo/${outcome.undo}`, cookies: [forgotten] };
  const { token, next } = outcome;
  const cookies = [cookieHeader(panelUrl, 'session', token, null), forgotten];
  return { to: next ?? '/panel/overview', cookies };
}

async function codePage(visit: Visit, fault: string | null): Promise<Answer> {
  const browser = browserOf(visit);
  const began = browser === null ? undefined : await latestSignIn(visit.services.sql, hashSecret(browser));
  if (began === undefined) return { to: '/panel' };
  const { language } = visit;
  const view = (
    <CodeForm {...{ language, address: began.address, next: began.next, fault: faultIn('code', fault) }} />
  );
  return { status: fault === null ? 200 : 422, title: words[language].codeHeading, view };
}

async function enterCode(visit: Visit): Promise<Answer> {
  const { services, language } = visit;
  const say = words[language];
  const browser = browserOf(visit);
  if (browser === null) return { to: '/panel' };
  const code = typedCode(visit);
  if (!/^\d{6}$/.test(code)) return codePage(visit, say.codeFault);
  const outcome = await signInByCode(services.sql, { browser, code }, arrivalOf(visit));
  if (outcome === 'too_many_accounts') return tooManyAccounts(visit);
  if (outcome === 'over') return codePage(visit, say.codeOver);
  if (!('left' in outcome)) return enter(visit, outcome);
  return codePage(visit, outcome.left === 0 ? say.codeOver : say.codeWrong(outcome.left));
}

function tooManyAccounts({ language }: Visit): Answer {
  const say = words[language];
  return { status: 429, title: say.accountsHeading, view: <p>{say.accounts}</p> };
}

/** The sign-in of the link that is open; undefined: it is none of ours. */
async function linkOf(visit: Visit): Promise<SignIn | undefined> {
  const token = visit.params['token'] ?? '';
  const browser = browserOf(visit);
  if (!SECRET.test(token)) return undefined;
  return await readLink(visit.services.sql, hashSecret(token), browser === null ? null : hashSecret(browser));
}

async function linkPage(visit: Visit): Promise<Answer> {
  const link = await linkOf(visit);
  if (link?.state !== 'open') return brokenLink(visit, link);
  const { language, path } = visit;
  const view = <LinkForm language={language} address={link.address} here={link.here} path={path} />;
  return { status: 200, title: words[language].linkHeading, view, ...(link.here ? { script: SUBMIT } : {}) };
}

async function enterByLink(visit: Visit): Promise<Answer> {
  const token = visit.params['token'] ?? '';
  const outcome: SignedIn | GivenUp | NotSignedIn = SECRET.test(token)
    ? await signInByLink(visit.services.sql, token, arrivalOf(visit))
    : 'over';
  if (outcome === 'too_many_accounts') return tooManyAccounts(visit);
  return outcome === 'over' ? brokenLink(visit, await linkOf(visit)) : enter(visit, outcome);
}

/** Why a link does not work, with a way on. */
function brokenLink({ language, session }: Visit, link: SignIn | undefined): Answer {
  const say = words[language];
  // Opened once more, or pressed twice, by who has signed in with it.
  if (link?.state === 'used' && session?.address === link.address) return { to: '/panel/overview' };
  if (link === undefined) {
    const view = (
      <>
        <p>{say.unknownText}</p>
        <p>
          <a href="/panel">{say.heading}</a>
        </p>
      </>
    );
    return { status: 404, title: say.unknownHeading, view };
  }
  const view = (
    <>
      <p>{say.overText}</p>
      <Again address={link.address} next={link.next} label={say.again} />
    </>
  );
  return { status: 410, title: link.state === 'used' ? say.usedHeading : say.expiredHeading, view };
}

export const signInRoutes = [
  openPage('/panel', {
    get(visit) {
      if (visit.session !== null) return { to: '/panel/overview' };
      return addressPage(visit, '', ownPath(visit.query.get('next') ?? ''), null);
    },
    post: ask,
  }),
  openPage('/panel/code', { get: (visit) => codePage(visit, null), post: enterCode }),
  openPage('/panel/link/:token', { get: linkPage, post: enterByLink }),
  openPage('/panel/language', {
    beforeSecondFactor: true,
    post({ form, services: { panelUrl } }) {
      const language = LANGUAGES.find((one) => one === form.get('language')) ?? 'pl';
      const to = ownPath(form.get('back') ?? '') ?? '/panel';
      return { to, cookies: [cookieHeader(panelUrl, 'language', language, YEAR_S)] };
    },
  }),
  personPage('/panel/sign-out', {
    beforeSecondFactor: true,
    async post(visit) {
      const { services, headers } = visit;
      await endSessionOf(services.sql, hashSecret(readCookie(headers, services.panelUrl, 'session')!));
      return { to: '/panel', cookies: [cookieHeader(services.panelUrl, 'session', '', 0)] };
    },
  }),
];
