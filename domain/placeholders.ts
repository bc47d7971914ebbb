import { composed } from './ids.ts';

/** A text taken apart: what is sent as written, and what each recipient gets in its place. */
export type Piece =
  | { kind: 'text'; text: string }
  /** A named value; the key in lower case. */
  | { kind: 'value'; key: string }
  /** `{{opt_out}}` or `{{wypisz}}`, whichever the key says. */
  | { kind: 'opt-out'; key: string }
  | { kind: 'link'; url: string }
  | Malformed;

/** A `{{` that begins no placeholder: refused wherever texts are taken, as nobody means the braces for the recipient. */
interface Malformed {
  kind: 'malformed';
  /** `link` where it begins a `{{link:…}}`: its address cannot be one, or it does not end. */
  what: 'placeholder' | 'link';
  /** As written, from its braces on. */
  source: string;
  /** Of its braces within the text: characters, from 1. */
  position: number;
}

/** Most placeholders per message for opt-out link, tracked links and contact fields together (v2.3.0, Limits). */
export const PLACEHOLDERS_MAX = 4;
/** Most different tracked addresses per message (v2.3.0, Limits). */
export const LINK_ADDRESSES_MAX = 2;
/** Keys that stand for something of the service's own; a contact's custom field cannot have them. */
export const RESERVED_KEYS: readonly string[] = ['imie', 'nazwisko', 'email', 'opt_out', 'wypisz'];

const OPT_OUT_KEYS: readonly string[] = ['opt_out', 'wypisz'];
const KEY = /^[\p{L}\p{M}0-9_]+$/u;
const LINK = /^link\s*:([^]*)$/i;
const OPEN_LINK = /^\{\{\s*link\s*:/i;
// In UTF-8: what the database can index together with account and number.
const URL_MAX_BYTES = 2000;
// What no address has unencoded; a lone surrogate would become another character on its way.
const NOT_IN_URL = /[\s\p{Cc}\p{Surrogate}{}"<>\\]/u;

/**
 * Takes a text apart at its placeholders (v2.3.0, Send, field `text`; Templates): `{{key}}` of letters, digits and
 * underscore, in any case, with or without spaces inside; `{{opt_out}}` and `{{wypisz}}`; `{{link:<url>}}`, whose
 * address holds no other placeholder. Every other `{{` is malformed. A single brace is text, and so are closing braces
 * that close nothing: they end the objects of JSON. Linear in the length of the text.
 * @param meant what a stretch of the text says, where that is not what is written: addresses are read by it
 */
export function parsePlaceholders(text: string, meant = (written: string): string => written): Piece[] {
  const pieces: Piece[] = [];
  const written = segmentReader(text);
  let from = 0;
  // The innermost pair counts: what was opened before it is not closed.
  let open = -1;
  for (let at = 0; at < text.length - 1; at += 1) {
    if (text.startsWith('{{', at)) open = at;
    if (open < 0 || !text.startsWith('}}', at)) continue;
    const piece = pieceOf(text.slice(open + 2, at), meant);
    if (piece !== null) {
      pieces.push(...written(from, open));
      pieces.push(piece);
      from = at + 2;
      at += 1;
    }
    open = -1;
  }
  pieces.push(...written(from, text.length));
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

/** The first `{{` of a text that begins no placeholder; null when there is none. */
export function firstMalformed(pieces: readonly Piece[]): Malformed | null {
  return pieces.find((piece) => piece.kind === 'malformed') ?? null;
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
  /** As what any of these stands in the text. */
  written: (value: string) => string;
}

/** The final text of one recipient. What values contain is text and never a placeholder itself. */
export function render(pieces: readonly Piece[], { values, optOut, link, written }: Substitutes): string {
  return pieces
    .map((piece) => {
      switch (piece.kind) {
        case 'text':
          return piece.text;
        case 'value':
          return written(values.get(piece.key) ?? '');
        case 'opt-out':
          return written(optOut);
        case 'link':
          return written(link(piece.url));
        case 'malformed':
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

/** Reads what stands between placeholders, from the text's beginning on: text, up to a `{{` if one is left in it. */
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

/** What stands between two pairs of braces; null when it is no placeholder. */
function pieceOf(content: string, meant: (written: string) => string): Piece | null {
  const inside = content.trim();
  const link = LINK.exec(inside);
  if (link !== null) {
    const url = meant(link[1]!.trim());
    return isTrackable(url) ? { kind: 'link', url } : null;
  }
  if (!KEY.test(inside)) return null;
  const key = placeholderKey(inside);
  return OPT_OUT_KEYS.includes(key) ? { kind: 'opt-out', key } : { kind: 'value', key };
}

export const TEMPLATE_TYPES = ['sms', 'mms', 'vms'] as const;
type TemplateType = (typeof TEMPLATE_TYPES)[number];

/** What an account writes of a template (v2.3.0, Template). */
export interface TemplateContent {
  name: string;
  type: TemplateType;
  /** Text with `{{key}}` placeholders; a SMIL document for `mms`. */
  body: string;
  /** Null unless the type is `mms`. */
  subject: string | null;
}

/** Longest body in characters. A text message ends at 20 parts long before; a SMIL document is mostly markup. */
export const TEMPLATE_BODY_MAX: Readonly<Record<TemplateType, number>> = {
  sms: 10_000,
  mms: 100_000,
  vms: 10_000,
};

/** Longest name and subject in characters (v2.3.0 leaves both open). */
export const TEMPLATE_NAME_MAX = 80;
export const TEMPLATE_SUBJECT_MAX = 80;

/** A change of a template; what is not given stays. */
export type TemplatePatch = {
  readonly [Field in keyof TemplateContent]?: TemplateContent[Field] | undefined;
};

/** The content with the given fields changed. */
export function changedTemplate(stored: TemplateContent, patch: TemplatePatch): TemplateContent {
  const { name = stored.name, type = stored.type, body = stored.body, subject = stored.subject } = patch;
  return { name, type, body, subject };
}
