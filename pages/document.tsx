import type { ComponentChildren } from 'preact';
import { renderToString } from 'preact-render-to-string';
import { type Asset, asset } from './assets.ts';

interface HtmlDocument {
  lang: string;
  title: string;
  body: ComponentChildren;
  /** A style sheet beside the common one. */
  style?: Asset;
  /** In place of those of every page. */
  headers?: Readonly<Record<string, string>>;
}

interface HtmlAnswer {
  status: number;
  headers: Record<string, string>;
  body: string;
}

const STYLE = asset(new URL('style.css', import.meta.url));

// Style sheets and forms of this host alone; nothing is kept, framed, indexed or told to other sites.
const HEADERS: Readonly<Record<string, string>> = {
  'Content-Type': 'text/html; charset=utf-8',
  'Content-Security-Policy':
    "default-src 'none'; style-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  'Referrer-Policy': 'no-referrer',
  'X-Robots-Tag': 'noindex, nofollow',
  'Cache-Control': 'no-store',
};

/** A whole page as a response. */
export function htmlAnswer(status: number, { lang, title, body, style, headers }: HtmlDocument): HtmlAnswer {
  const markup = renderToString(
    <html lang={lang}>
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="format-detection" content="telephone=no" />
        <title>{title}</title>
        {[STYLE, ...(style === undefined ? [] : [style])].map(({ path }) => (
          <link rel="stylesheet" href={path} />
        ))}
      </head>
      <body>{body}</body>
    </html>,
  );
  return { status, headers: { ...HEADERS, ...headers }, body: `<!doctype html>${markup}` };
}
