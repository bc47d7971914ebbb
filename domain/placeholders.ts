import { composed } from './composed.ts';

/** A text taken apart: what is sent as written, and what each recipient gets in its place. */
export type Piece =
  | { kind: 'text'; text: string }
  /** A named value; the key in lower case. */
  | { kind: 'value'; key: string }
  /** `{{opt_out}}` or `{{wypisz}}`, whichever the key says. */
  | { kind: 'opt-out'; key: string }
  | { kind: 'link'; url: string }
  /** Text with a `{{link:…}}` whose address cannot be one, or that does not end: refused wherever texts are taken. */
  | { kind: 'bad-link'; source: string };

/** Most placeholders per message for opt-out link, tracked links and contact fields together (v2.3.0, Limits). */
export const PLACEHOLDERS_MAX = 4;
/** Most different tracked addresses per message (v2.3.0, Limits). */
export const LINK_ADDRESSES_MAX = 2;
/** Keys that stand for something of the service's own; a contact's custom field cannot have them. */
export const RESERVED_KEYS: readonly string[] = ['imie', 'nazwisko', 'email', 'opt_out', 'wypisz'];

const OPT_OUT_KEYS: readonly string[] = ['opt_out', 'wypisz'];
const KEY = /^[\p{L}\p{M}0-9_]+$/u;
const LINK = /^link\s*:([^]*)$/i;
// Never closed, or around another placeholder: nobody means its braces to be read by the recipient.
const OPEN_LINK = /\{\{\s*link\s*:/i;
// In UTF-8: what the database can index together with account and number.
const URL_MAX_BYTES = 2000;
// What no address has unencoded; a lone surrogate would become another character on its way.
const NOT_IN_URL = /[\s\p{Cc}\p{Surrogate}{}"<>\\]/u;

/**
 * Takes a text apart at its placeholders (v2.3.0, Send, field `text`; Templates): `{{key}}` of letters, digits and
 * underscore, in any case, with or without spaces inside; `{{opt_out}}` and `{{wypisz}}`; `{{link:<url>}}`, whose
 * address holds no other placeholder. Braces around anything else are text. Linear in the length of the text.
 */
export function parsePlaceholders(text: string): Piece[] {
  const pieces: Piece[] = [];
  let from = 0;
  // The innermost pair counts: whatever was opened before and not closed is text.
  let open = -1;
  for (let at = 0; at < text.length - 1; at += 1) {
    if (text.startsWith('{{', at)) open = at;
    if (open < 0 || !text.startsWith('}}', at)) continue;
    const piece = pieceOf(text.slice(open + 2, at));
    if (piece !== null) {
      if (open > from) pieces.push(written(text.slice(from, open)));
      pieces.push(piece);
      from = at + 2;
      at += 1;
    }
    open = -1;
  }
  if (from < text.length) pieces.push(written(text.slice(from)));
  return pieces;
}

/** A placeholder's key as it is compared: in lower case, composed. */
export function placeholderKey(name: string): string {
  return composed(name).toLowerCase();
}

/** The names found in a template's body, lower-case, each once, in order (v2.3.0, Template, `placeholders`). */
export function placeholderNames(body: string): string[] {
  const names = parsePlaceholders(body).flatMap((piece) =>
    piece.kind === 'value' || piece.kind === 'opt-out' ? [piece.key] : [],
  );
  return [...new Set(names)];
}

/** The first `{{link:…}}` of a text whose address cannot be tracked, as written; null when there is none. */
export function malformedLink(pieces: readonly Piece[]): string | null {
  return pieces.find((piece) => piece.kind === 'bad-link')?.source ?? null;
}

/** The tracked addresses of a text, each once. */
export function linkAddresses(pieces: readonly Piece[]): string[] {
  return [...new Set(pieces.flatMap((piece) => (piece.kind === 'link' ? [piece.url] : [])))];
}

/** How many placeholders count towards the budget of 4: opt-out link, tracked links and values, each time they stand. */
export function placeholderCount(pieces: readonly Piece[]): number {
  return pieces.filter(({ kind }) => kind !== 'text').length;
}

/**
 * Puts values known for all recipients in their place; what they contain is text and never a placeholder itself.
 * @param values by key as `placeholderKey` gives it
 */
export function fillIn(pieces: readonly Piece[], values: ReadonlyMap<string, string>): Piece[] {
  return pieces.map((piece) => {
    const value = piece.kind === 'value' ? values.get(piece.key) : undefined;
    return value === undefined ? piece : { kind: 'text', text: value };
  });
}

/** What stands in place of one recipient's placeholders. */
export interface Substitutes {
  /** By key as `placeholderKey` gives it; a missing one becomes empty. */
  values: ReadonlyMap<string, string>;
  optOut: string;
  link: (url: string) => string;
}

/** The final text of one recipient. What values contain is text and never a placeholder itself. */
export function render(pieces: readonly Piece[], { values, optOut, link }: Substitutes): string {
  return pieces
    .map((piece) => {
      switch (piece.kind) {
        case 'text':
          return piece.text;
        case 'value':
          return values.get(piece.key) ?? '';
        case 'opt-out':
          return optOut;
        case 'link':
          return link(piece.url);
        case 'bad-link':
          return piece.source;
      }
    })
    .join('');
}

/** Whether an address can be tracked: an absolute http or https one, without blanks or credentials, at most 2,000 bytes. */
export function isTrackable(url: string): boolean {
  if (url.length > URL_MAX_BYTES || new TextEncoder().encode(url).length > URL_MAX_BYTES) return false;
  if (NOT_IN_URL.test(url) || !/^https?:\/\//i.test(url)) return false;
  try {
    const { username, password, hostname } = new URL(url);
    return username === '' && password === '' && hostname !== '';
  } catch {
    return false;
  }
}

function written(text: string): Piece {
  return OPEN_LINK.test(text) ? { kind: 'bad-link', source: text } : { kind: 'text', text };
}

function pieceOf(content: string): Piece | null {
  const inside = content.trim();
  const link = LINK.exec(inside);
  if (link !== null) {
    const url = link[1]!.trim();
    return isTrackable(url) ? { kind: 'link', url } : { kind: 'bad-link', source: `{{${content}}}` };
  }
  if (!KEY.test(inside)) return null;
  const key = placeholderKey(inside);
  return OPT_OUT_KEYS.includes(key) ? { kind: 'opt-out', key } : { kind: 'value', key };
}
