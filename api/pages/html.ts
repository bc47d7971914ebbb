import { createHash } from 'node:crypto';
import type { PageAnswer } from '../http/page.ts';

/** Markup that may be put out as it is: only `html` makes it, and it escapes whatever it is given as text. */
export interface Html {
  readonly markup: string;
}

/** Something to be put into markup: text is escaped, markup stays, lists are joined, null is nothing. */
type HtmlValue = string | number | Html | readonly Html[] | null;

/** Template tag for HTML; values may stand between tags and in quoted attributes. */
export function html(parts: TemplateStringsArray, ...values: HtmlValue[]): Html {
  return { markup: parts.map((part, i) => part + markupOf(values[i] ?? null)).join('') };
}

/** What a page is made of. */
interface HtmlDocument {
  /** BCP 47, such as `pl`. */
  lang: string;
  title: string;
  /** Everything in `<body>`. */
  body: Html;
  /** The style sheet; `STYLE` by default. */
  style?: string;
}

/**
 * A whole page as an answer. Its policy lets nothing be loaded or run but its own style sheet, and nothing be sent
 * anywhere but here; nobody stores, frames or indexes it, and no other site learns its address.
 */
export function htmlAnswer(status: number, { lang, title, body, style = STYLE }: HtmlDocument): PageAnswer {
  // Put together by hand: the policy names the very text of the sheet, so no formatter may add to it.
  const sheet = { markup: `<style>${style}</style>` };
  const { markup } = html`<!doctype html>
    <html lang="${lang}">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="format-detection" content="telephone=no" />
        <title>${title}</title>
        ${sheet}
      </head>
      <body>
        ${body}
      </body>
    </html> `;
  return { status, headers: headersFor(style), body: markup };
}

/** The style of the short pages: readable on any telephone, light and dark, with the contrast of WCAG AAA. */
const STYLE = `
:root { color-scheme: light dark; --ink: #1b1d21; --paper: #fff; --accent: #12397a; --on-accent: #fff; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #eceef2; --paper: #16181c; --accent: #b3cdff; --on-accent: #10131a; }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 1.125rem/1.6 system-ui, sans-serif; }
main { max-width: 36rem; margin: 0 auto; padding: 2rem 1.25rem; overflow-wrap: anywhere; }
h1 { margin: 0 0 1rem; font-size: 1.75rem; line-height: 1.25; }
p { margin: 0 0 1rem; }
a { color: var(--accent); }
button { padding: 0.75rem 1.5rem; border: 2px solid var(--accent); border-radius: 0.5rem; background: var(--accent);
  color: var(--on-accent); font: inherit; font-weight: 600; cursor: pointer; }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 3px; }
`;

function headersFor(style: string): Record<string, string> {
  const hash = createHash('sha256').update(style).digest('base64');
  return {
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Security-Policy':
      `default-src 'none'; style-src 'sha256-${hash}'; form-action 'self'; base-uri 'none'; ` +
      "frame-ancestors 'none'",
    'Referrer-Policy': 'no-referrer',
    'X-Robots-Tag': 'noindex, nofollow',
    'Cache-Control': 'no-store',
  };
}

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function markupOf(value: HtmlValue): string {
  if (value === null) return '';
  if (typeof value === 'string' || typeof value === 'number') {
    return String(value).replace(/[&<>"']/g, (character) => ESCAPES[character]!);
  }
  return 'markup' in value ? value.markup : value.map(({ markup }) => markup).join('');
}

/** A short page in Polish: a heading and what there is to say. */
export function shortPage(status: number, heading: string, text: Html): PageAnswer {
  const body = html`<main>
    <h1>${heading}</h1>
    ${text}
  </main>`;
  return htmlAnswer(status, { lang: 'pl', title: heading, body });
}

/** What a person sees of a public link when something behind it does not work. */
export function failurePage(status: number, heading: string, requestId: string): PageAnswer {
  return shortPage(
    status,
    heading,
    html`<p>Usługa jest chwilowo niedostępna. Otwórz ten link jeszcze raz za kilka minut.</p>
      <p>Identyfikator zdarzenia: ${requestId}</p>`,
  );
}
