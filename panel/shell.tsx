import type { ComponentChildren } from 'preact';
import { KEY_MANAGERS } from '../domain/actor.ts';
import { asset } from '../pages/assets.ts';
import { htmlAnswer } from '../pages/document.tsx';
import type { Language } from './language.ts';
import type { Answer, Visit } from './route.ts';
import { words } from './words.ts';

const STYLE = asset(new URL('panel.css', import.meta.url));
const SCRIPT = asset(new URL('submit.js', import.meta.url));

// Nothing but files and forms of this host. Without a referrer, forms would come from the origin `null`.
const HEADERS = {
  'Content-Security-Policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; " +
    "base-uri 'none'; frame-ancestors 'none'",
  'Referrer-Policy': 'same-origin',
  'Cross-Origin-Opener-Policy': 'same-origin',
};

type Shown = Extract<Answer, { view: ComponentChildren }>;

/** A page within the panel: header, navigation as far as the person may go, and the view. */
export function document(visit: Visit, { status, title, view, script, headers }: Shown) {
  const { language } = visit;
  const say = words[language];
  return htmlAnswer(status, {
    lang: language,
    title: `${title} – Goniec`,
    style: STYLE,
    headers: { ...HEADERS, ...headers },
    body: (
      <>
        <a class="skip" href="#main">
          {say.skip}
        </a>
        <header class="top">
          <a class="brand" href="/panel">
            Goniec
          </a>
          <Navigation visit={visit} />
          <LanguageForm language={language} path={visit.path} />
        </header>
        <main id="main" class="page" tabIndex={-1}>
          <h1>{title}</h1>
          {view}
        </main>
        {script === true ? <script src={SCRIPT.path} defer></script> : null}
      </>
    ),
  });
}

function Navigation({ visit: { session, language, path } }: { visit: Visit }) {
  if (session === null) return null;
  const say = words[language];
  const { account } = session;
  const managesKeys = account !== null && KEY_MANAGERS.includes(account.role);
  const places = [
    { to: '/panel/overview', name: say.overview },
    ...(managesKeys ? [{ to: '/panel/keys', name: say.keys }] : []),
    { to: '/panel/you', name: say.you },
  ];
  return (
    <>
      <nav aria-label={say.sections}>
        <ul>
          {places.map(({ to, name }) => (
            <li>
              <a href={to} {...(path.startsWith(to) ? { 'aria-current': 'page' } : {})}>
                {name}
              </a>
            </li>
          ))}
        </ul>
      </nav>
      <form method="post" action="/panel/sign-out">
        <button class="quiet">{say.signOut}</button>
      </form>
    </>
  );
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
export function problemPage(visit: Visit, status: number, headers: Record<string, string> = {}): Answer {
  const say = words[visit.language];
  const kind = status >= 500 ? 500 : status in say.problems ? status : 400;
  const [title, text] = say.problems[kind]!;
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
