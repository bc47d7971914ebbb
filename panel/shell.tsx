import type { ComponentChildren } from 'preact';
import { asset } from '../pages/assets.ts';
import { htmlAnswer } from '../pages/document.tsx';
import { withVat } from '../domain/vat.ts';
import { type Language, moment, month, pln } from './language.ts';
import { mayOpen, type PlaceName, PLACES, SECTIONS } from './menu.ts';
import type { Answer, ShownAnswer, Visit } from './route.ts';
import { words } from './words.ts';

/** Style sheet and scripts, which the console has, too. */
export const STYLE = asset(new URL('panel.css', import.meta.url));
export const HTMX = asset(new URL(import.meta.resolve('htmx.org/dist/htmx.min.js')));
const ICONS = asset(new URL('icons.svg', import.meta.url));
export const COPY = asset(new URL('copy.js', import.meta.url));

// Nothing but files and forms of this host. Without a referrer, forms would come from the origin `null`.
export const PAGE_HEADERS = {
  'Content-Security-Policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; " +
    "base-uri 'none'; frame-ancestors 'none'",
  'Referrer-Policy': 'same-origin',
  'Cross-Origin-Opener-Policy': 'same-origin',
};

/**
 * A page within the panel: header, navigation as far as the person may go, and the view.
 * @param banner for staff, above everything, in place of the forms that concern a person
 */
export function document(
  visit: Visit,
  { status, title, view, script, headers }: ShownAnswer,
  banner: ComponentChildren = null,
) {
  const { language, readOnly } = visit;
  const say = words[language];
  const signedIn = visit.session !== null;
  const entered = visit.session?.owesFactor === false;
  return htmlAnswer(status, {
    lang: language,
    title: `${title} – Goniec`,
    style: STYLE,
    headers: { ...PAGE_HEADERS, ...headers },
    body: (
      <>
        <a class="skip" href="#main">
          {say.skip}
        </a>
        {banner}
        <header class="top">
          <a class="brand" href="/panel">
            Goniec
          </a>
          {readOnly ? null : <LanguageForm language={language} path={pagePath(visit)} />}
          {signedIn && !readOnly ? (
            <form method="post" action="/panel/sign-out">
              <button class="quiet">{say.signOut}</button>
            </form>
          ) : null}
        </header>
        <div class={entered ? 'sides' : 'middle'}>
          {entered ? <Navigation visit={visit} /> : null}
          <main id="main" class="page" tabIndex={-1}>
            {entered ? <Unpaid visit={visit} /> : null}
            <h1>{title}</h1>
            {view}
          </main>
        </div>
        {[...(entered ? [HTMX, COPY] : []), ...(script === undefined ? [] : [script])].map(({ path }) => (
          <script src={path} defer></script>
        ))}
      </>
    ),
  });
}

function Navigation({ visit: { session, language, path, readOnly } }: { visit: Visit }) {
  const say = words[language];
  const account = session?.account ?? null;
  const isOpen = (name: PlaceName) =>
    name === 'you' ? !readOnly : account !== null && mayOpen(account.role, name);
  return (
    <nav aria-label={say.sections}>
      <details class="menu">
        <summary>{say.menu}</summary>
        {account === null ? null : <p class="account">{account.name}</p>}
        {SECTIONS.map((section) => (
          <ul>
            {section.filter(isOpen).map((name) => (
              <li>
                <a
                  href={PLACES[name].path}
                  {...(isWithin(path, PLACES[name].path) ? { 'aria-current': 'page' } : {})}
                >
                  <Icon of={name} />
                  {say.places[name]}
                </a>
              </li>
            ))}
          </ul>
        ))}
      </details>
    </nav>
  );
}

/** What a postpaid account has to pay next, before sends stop. */
function Unpaid({ visit: { session, language } }: { visit: Visit }) {
  const account = session?.account ?? null;
  if (account === null || account.unpaid === null) return null;
  const say = words[language];
  const { month: of, grosze, due, overdue } = account.unpaid;
  const about = [
    month(language, of),
    pln(language, withVat(grosze).grossGrosze),
    moment(language, new Date(due)),
  ] as const;
  return (
    <p class={overdue ? 'summary' : 'notice'}>
      {overdue ? say.overdue(...about) : say.due(...about)}{' '}
      {mayOpen(account.role, 'statements') ? <a href={PLACES.statements.path}>{say.toStatements}</a> : null}
    </p>
  );
}

const isWithin = (path: string, place: string): boolean => path === place || path.startsWith(`${place}/`);

function Icon({ of }: { of: PlaceName }) {
  return (
    <svg class="icon" aria-hidden="true">
      <use href={`${ICONS.path}#${of}`} />
    </svg>
  );
}

/** Of this page, or where the form is that it answers. */
function pagePath({ method, path }: Visit): string {
  return method === 'POST' ? path.split('/').slice(0, 3).join('/') : path;
}

function LanguageForm({ language, path }: { language: Language; path: string }) {
  const other = language === 'pl' ? 'en' : 'pl';
  return (
    <form method="post" action="/panel/language">
      <input type="hidden" name="back" value={path} />
      <button class="quiet" name="language" value={other} lang={other}>
        {words[language].otherLanguage}
      </button>
    </form>
  );
}

/** A page in place of one that cannot be shown. */
export function problemPage(
  visit: Visit,
  status: number,
  { headers = {}, sentence }: { headers?: Readonly<Record<string, string>>; sentence?: string } = {},
): Answer {
  const say = words[visit.language];
  const kind = status >= 500 ? 500 : status in say.problems ? status : 400;
  const [title, general] = say.problems[kind]!;
  const text = sentence ?? general;
  const view = (
    <>
      <p>{text}</p>
      {kind === 500 ? (
        <p>
          {say.event}: <code>{visit.requestId}</code>
        </p>
      ) : null}
      <p>
        <a href="/panel">{say.back}</a>
      </p>
    </>
  );
  return { status, title, view, headers };
}
