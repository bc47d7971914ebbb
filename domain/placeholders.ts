import { canonicalText } from './text.ts';

export type Piece =
  | { kind: 'text'; text: string }
  /** A named value; lower-case key. */
  | { kind: 'value'; key: string }
  /** `{{opt_out}}` or `{{wypisz}}`, as the key says. */
  | { kind: 'opt-out'; key: string }
  | { kind: 'link'; url: string }
  | Malformed;

// A `{{` that begins no placeholder: always refused, as it is a mistake rather than text for the recipient.
interface Malformed {
  kind: 'malformed';
  /** `link` for a `{{link:…}}` with an invalid URL, or without an end. */
  what: 'placeholder' | 'link';
  /** As written, from its braces on. */
  source: string;
  /** Of its braces in the text: characters, from 1. */
  position: number;
}

/** Per message: opt-out links, tracked links and contact fields together (v2.3.0, Limits). */
export const PLACEHOLDERS_MAX = 4;
/** Distinct tracked URLs per message (v2.3.0, Limits). */
export const LINK_ADDRESSES_MAX = 2;
/** Keys of the service's own values; not available to custom fields. */
export const RESERVED_KEYS: readonly string[] = ['imie', 'nazwisko', 'email', 'opt_out', 'wypisz'];

const OPT_OUT_KEYS: readonly string[] = ['opt_out', 'wypisz'];
const KEY = /^[\p{L}\p{M}0-9_]+$/u;
const LINK = /^link\s*:([^]*)$/i;
const OPEN_LINK = /^\{\{\s*link\s*:/i;
// Bytes of UTF-8: what the database can index together with account and number.
const URL_MAX_BYTES = 2000;
// Not allowed unencoded in a URL; a lone surrogate would be replaced on its way.
const NOT_IN_URL = /[\s\p{Cc}\p{Surrogate}{}"<>\\]/u;

/**
 * Splits a text at its placeholders (v2.3.0, Send, field `text`; Templates): `{{key}}` of letters, digits and underscore, in any case,
 * with or without spaces; `{{opt_out}}` and `{{wypisz}}`; `{{link:<url>}}` without placeholders inside. Any other `{{` is malformed. Single
 * and unmatched closing braces are text: JSON ends with them. Linear in the length of the text.
 * @param unescapeText decodes a piece of the text where it is markup, before its URL is read
 */
export function parsePlaceholders(text: string, unescapeText = (part: string): string => part): Piece[] {
  const pieces: Piece[] = [];
  const readText = segmentReader(text);
  let from = 0;
  // The innermost pair counts: an earlier `{{` is not closed.
  let open = -1;
  for (let at = 0; at < text.length - 1; at += 1) {
    if (text.startsWith('{{', at)) open = at;
    if (open < 0 || !text.startsWith('}}', at)) continue;
    const piece = pieceOf(text.slice(open + 2, at), unescapeText);
    if (piece !== null) {
      pieces.push(...readText(from, open));
      pieces.push(piece);
      from = at + 2;
      at += 1;
    }
    open = -1;
  }
  pieces.push(...readText(from, text.length));
  return pieces;
}

/** A placeholder's key for comparison: lower case, canonical. */
export function placeholderKey(name: string): string {
  return canonicalText(name).toLowerCase();
}

/** Distinct placeholder names of a template's body, lower case, in order (v2.3.0, Template, `placeholders`). */
export function placeholderNames(body: string): string[] {
  const names = parsePlaceholders(body).flatMap((piece) =>
    piece.kind === 'value' || piece.kind === 'opt-out' ? [piece.key] : [],
  );
  return [...new Set(names)];
}

export function firstMalformed(pieces: readonly Piece[]): Malformed | null {
  return pieces.find((piece) => piece.kind === 'malformed') ?? null;
}

export function linkAddresses(pieces: readonly Piece[]): string[] {
  return [...new Set(pieces.flatMap((piece) => (piece.kind === 'link' ? [piece.url] : [])))];
}

/** Placeholders that count towards {@link PLACEHOLDERS_MAX}, repeated ones included. */
export function placeholderCount(pieces: readonly Piece[]): number {
  return pieces.filter(({ kind }) => kind !== 'text').length;
}

/** Fills in values that are the same for all recipients; they are text, never placeholders. @param values by `placeholderKey` */
export function fillIn(pieces: readonly Piece[], values: ReadonlyMap<string, string>): Piece[] {
  return pieces.map((piece) => {
    const value = piece.kind === 'value' ? values.get(piece.key) : undefined;
    return value === undefined ? piece : { kind: 'text', text: value };
  });
}

export interface Substitutes {
  /** By `placeholderKey`; a missing value is empty. */
  values: ReadonlyMap<string, string>;
  optOut: string;
  link: (url: string) => string;
  /** Escapes a value for the text. */
  escapeText: (value: string) => string;
}

/** The final text for one recipient. Values are text, never placeholders. */
export function render(pieces: readonly Piece[], { values, optOut, link, escapeText }: Substitutes): string {
  return pieces
    .map((piece) => {
      switch (piece.kind) {
        case 'text':
          return piece.text;
        case 'value':
          return escapeText(values.get(piece.key) ?? '');
        case 'opt-out':
          return escapeText(optOut);
        case 'link':
          return escapeText(link(piece.url));
        case 'malformed':
          return piece.source;
      }
    })
    .join('');
}

/** Whether a URL can be tracked: absolute, http or https, canonical, without blanks or credentials, at most 2,000 bytes. */
export function isTrackable(url: string): boolean {
  if (url.length > URL_MAX_BYTES || new TextEncoder().encode(url).length > URL_MAX_BYTES) return false;
  if (NOT_IN_URL.test(url) || canonicalText(url) !== url || !/^https?:\/\//i.test(url)) return false;
  try {
    const { username, password, hostname } = new URL(url);
    return username === '' && password === '' && hostname !== '';
  } catch {
    return false;
  }
}

// Reads the text between placeholders, in order: plain text, then the first `{{` left in it as malformed.
function segmentReader(text: string): (from: number, to: number) => Piece[] {
  let counted = 0;
  let characters = 0;
  const charactersBefore = (end: number): number => {
    for (; counted < end; characters += 1) counted += text.codePointAt(counted)! > 0xffff ? 2 : 1;
    return characters;
  };
  return (from, to) => {
    const segment = text.slice(from, to);
    const open = segment.indexOf('{{');
    const plain = open < 0 ? segment : segment.slice(0, open);
    const pieces: Piece[] = plain === '' ? [] : [{ kind: 'text', text: plain }];
    if (open < 0) return pieces;
    const source = segment.slice(open);
    const what = OPEN_LINK.test(source) ? 'link' : 'placeholder';
    return [...pieces, { kind: 'malformed', what, source, position: charactersBefore(from + open) + 1 }];
  };
}

function pieceOf(content: string, unescapeText: (part: string) => string): Piece | null {
  const inside = content.trim();
  const link = LINK.exec(inside);
  if (link !== null) {
    const url = unescapeText(link[1]!.trim());
    return isTrackable(url) ? { kind: 'link', url } : null;
  }
  if (!KEY.test(inside)) return null;
  const key = placeholderKey(inside);
  return OPT_OUT_KEYS.includes(key) ? { kind: 'opt-out', key } : { kind: 'value', key };
}

export const TEMPLATE_TYPES = ['sms', 'mms', 'vms'] as const;
type TemplateType = (typeof TEMPLATE_TYPES)[number];

/** A template as its account writes it (v2.3.0, Template). */
export interface TemplateContent {
  name: string;
  type: TemplateType;
  /** Text with `{{key}}` placeholders; a SMIL document for `mms`. */
  body: string;
  /** Null unless the type is `mms`. */
  subject: string | null;
}

/** In characters. A text message reaches 20 parts long before; a SMIL document is mostly markup. */
export const TEMPLATE_BODY_MAX: Readonly<Record<TemplateType, number>> = {
  sms: 10_000,
  mms: 100_000,
  vms: 10_000,
};

/** Characters (v2.3.0 sets no limit). */
export const TEMPLATE_NAME_MAX = 80;
export const TEMPLATE_SUBJECT_MAX = 80;

/** Absent fields stay. */
export type TemplatePatch = {
  readonly [Field in keyof TemplateContent]?: TemplateContent[Field] | undefined;
};

export function changedTemplate(stored: TemplateContent, patch: TemplatePatch): TemplateContent {
  const { name = stored.name, type = stored.type, body = stored.body, subject = stored.subject } = patch;
  return { name, type, body, subject };
}
