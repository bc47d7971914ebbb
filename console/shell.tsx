import type { StaffSession } from '../db/people/staff.ts';
import type { StaffRole } from '../domain/staff.ts';
import { asset } from '../pages/assets.ts';
import { htmlAnswer } from '../pages/document.tsx';
import type { Answer, ShownAnswer, Visit } from '../panel/route.ts';
import { COPY, HTMX, PAGE_HEADERS, STYLE } from '../panel/shell.tsx';
import { PLACES } from './menu.ts';

const FOCUS = asset(new URL('focus.js', import.meta.url));

/** A page within the console: header with the search, navigation as far as the role goes, and the view. */
export function document(visit: Visit, staff: StaffSession | null, shown: ShownAnswer) {
  const { status, title, view, script, headers } = shown;
  const entered = staff?.isProved === true ? staff : null;
  return htmlAnswer(status, {
    lang: 'en',
    title: `${title} – Goniec console`,
    style: STYLE,
    headers: { ...PAGE_HEADERS, ...headers },
    body: (
      <>
        <a class="skip" href="#main">
          Skip to the content
        </a>
        <header class="top">
          <a class="brand" href="/console">
            Goniec console
          </a>
          {entered === null ? null : <Search typed={visit.query.get('q') ?? ''} />}
          {entered === null ? null : (
            <form method="post" action="/console/sign-out">
              <button class="quiet">Sign out {entered.name}</button>
            </form>
          )}
        </header>
        <div class={entered === null ? 'middle' : 'sides'}>
          {entered === null ? null : <Navigation role={entered.role} path={visit.path} />}
          <main id="main" class="page" tabIndex={-1}>
            <h1>{title}</h1>
            {view}
          </main>
        </div>
        {[...(entered === null ? [] : [HTMX, COPY, FOCUS]), ...(script === undefined ? [] : [script])].map(
          ({ path }) => (
            <script src={path} defer></script>
          ),
        )}
      </>
    ),
  });
}

function Search({ typed }: { typed: string }) {
  return (
    <form action="/console/search" role="search" aria-label="Find anything" class="search">
      <label class="visually-hidden" for="search">
        Search: a number, an address, any id, a sender or a reference
      </label>
      <input
        id="search"
        name="q"
        type="search"
        required
        maxLength={2000}
        value={typed}
        placeholder="Number, address, id, sender, reference ( / )"
      />
    </form>
  );
}

function Navigation({ role, path }: { role: StaffRole; path: string }) {
  return (
    <nav aria-label="Console">
      <details class="menu">
        <summary>Menu</summary>
        <ul>
          {PLACES.filter(({ roles }) => roles.includes(role)).map((place) => (
            <li>
              <a href={place.path} {...(isWithin(path, place.path) ? { 'aria-current': 'page' } : {})}>
                {place.name}
              </a>
            </li>
          ))}
        </ul>
      </details>
    </nav>
  );
}

const isWithin = (path: string, place: string): boolean =>
  path === place || (place !== '/console' && path.startsWith(`${place}/`));

const PROBLEMS: Readonly<Record<number, [title: string, text: string]>> = {
  400: ['This cannot be done', 'Go back and correct it.'],
  403: ['Not allowed', 'Your role does not open this, or the form came from elsewhere.'],
  404: ['Not found', 'There is nothing at this address.'],
  409: ['Not now', 'The state of things does not allow it.'],
  429: ['Too many requests', 'Wait a moment.'],
  500: ['Something failed', 'Try again; if it stays, look into the log.'],
};

/** A page in place of one that cannot be shown. */
export function problemPage(
  status: number,
  sentence?: string,
  headers: Readonly<Record<string, string>> = {},
): Answer {
  const kind = status >= 500 ? 500 : status in PROBLEMS ? status : 400;
  const [title, text] = PROBLEMS[kind]!;
  const view = (
    <>
      <p>{text}</p>
      {sentence === undefined ? null : <p>{sentence}</p>}
      <p>
        <a href="/console">Console</a>
      </p>
    </>
  );
  return { status, title, view, headers };
}
