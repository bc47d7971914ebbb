import { createHash } from 'node:crypto';
import type { PageAnswer } from '../http/page.ts';

/** Safe markup: made only by `html`, which escapes text. */
export interface Html {
  readonly markup: string;
}

/** Text is escaped, markup is not, lists are joined, null is omitted. */
type HtmlValue = string | number | Html | readonly Html[] | null;

/** Template tag for HTML; values may stand between tags and in quoted attributes. */
export function html(parts: TemplateStringsArray, ...values: HtmlValue[]): Html {
  return { markup: parts.map((part, i) => part + markupOf(values[i] ?? null)).join('') };
}

interface HtmlDocument {
  lang: string;
  title: string;
  body: Html;
  style?: string;
}

/**
 * A whole page as a response. Its headers allow only its own style sheet and forms to this host, and forbid caching, framing, indexing
 * and referrers.
 */
export function htmlAnswer(status: number, { lang, title, body, style = STYLE }: HtmlDocument): PageAnswer {
  // Not part of the template: a formatter would change the text that the policy hashes.
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

/** Light and dark, with the contrast of WCAG AAA. */
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

/** A short page in Polish. */
export function shortPage(status: number, heading: string, text: Html): PageAnswer {
  const body = html`<main>
    <h1>${heading}</h1>
    ${text}
  </main>`;
  return htmlAnswer(status, { lang: 'pl', title: heading, body });
}

/** Error page of a public link. */
export function failurePage(status: number, heading: string, requestId: string): PageAnswer {
  return shortPage(
    status,
    heading,
    html`<p>Usługa jest chwilowo niedostępna. Otwórz ten link jeszcze raz za kilka minut.</p>
      <p>Identyfikator zdarzenia: ${requestId}</p>`,
  );
}
