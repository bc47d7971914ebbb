import { hasMoreCharacters } from '../gsm7.ts';
import { FROM_NAME_MAX } from './address.ts';

/** Headers a caller may set, in canonical spelling (RFC 5322, 3834; the last ones as used by mail programs and providers). */
export const ALLOWED_HEADERS = [
  'Auto-Submitted',
  'Feedback-ID',
  'Importance',
  'In-Reply-To',
  'List-Id',
  'References',
  'X-Campaign-ID',
  'X-Entity-Ref-ID',
  'X-Priority',
] as const;
// Octets of a line without CRLF (RFC 5322, 2.1.1).
const LINE_MAX = 998;
/** Characters: a value that cannot be folded has to fit one line with the longest header name. */
export const HEADER_VALUE_MAX =
  LINE_MAX - Math.max(...ALLOWED_HEADERS.map(({ length }) => length)) - ': '.length;
const HEADER_VALUE = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/;

export function allowedHeader(name: string): string | null {
  return ALLOWED_HEADERS.find((allowed) => allowed.toLowerCase() === name.toLowerCase()) ?? null;
}

export function isHeaderValue(value: string): boolean {
  return value.length <= HEADER_VALUE_MAX && HEADER_VALUE.test(value);
}

// Accepted attachments by file extension; none that is executed on a double click.
const ATTACHMENT_TYPES: Readonly<Record<string, string>> = {
  csv: 'text/csv',
  doc: 'application/msword',
  docx: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  gif: 'image/gif',
  ics: 'text/calendar',
  jpeg: 'image/jpeg',
  jpg: 'image/jpeg',
  json: 'application/json',
  odp: 'application/vnd.oasis.opendocument.presentation',
  ods: 'application/vnd.oasis.opendocument.spreadsheet',
  odt: 'application/vnd.oasis.opendocument.text',
  p7m: 'application/pkcs7-mime',
  p7s: 'application/pkcs7-signature',
  pdf: 'application/pdf',
  png: 'image/png',
  ppt: 'application/vnd.ms-powerpoint',
  pptx: 'application/vnd.openxmlformats-officedocument.presentationml.presentation',
  rtf: 'application/rtf',
  txt: 'text/plain',
  vcf: 'text/vcard',
  webp: 'image/webp',
  xls: 'application/vnd.ms-excel',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  xml: 'application/xml',
  zip: 'application/zip',
};
const FILENAME_MAX = 150;
// No path, quotes or bidi control characters: the name shown is the real one.
const FILENAME = /^[^\p{Cc}\p{Cf}\p{Zl}\p{Zp}"*/:<>?\\|]+$/u;
const CONTENT_ID = /^[A-Za-z0-9._+-]{1,100}$/;

/** Content type of an attachment by its file name; null where the name is invalid or the type not accepted. */
export function attachmentType(filename: string): string | null {
  if (filename.length > FILENAME_MAX || !FILENAME.test(filename) || filename.trim() !== filename) return null;
  const [, ending] = /\.([A-Za-z0-9]+)$/.exec(filename) ?? [];
  if (ending === undefined || filename.length === ending.length + 1) return null;
  const lower = ending.toLowerCase();
  return Object.hasOwn(ATTACHMENT_TYPES, lower) ? ATTACHMENT_TYPES[lower]! : null;
}

const CALENDAR_HEAD = 65_536;
const METHOD = /^METHOD(?:;[^:\r\n]*)?:[ \t]*([A-Z0-9-]{1,30})[ \t]*$/im;

/** Content type of a file's contents: a calendar's has the charset and method of the file, without which it is no invitation (RFC 6047, 2.4). */
export function contentTypeOf(type: string, contents: Uint8Array): string {
  if (type !== ATTACHMENT_TYPES['ics']) return type;
  const text = new TextDecoder().decode(contents);
  const isUtf8 = !text.includes('\uFFFD');
  const method = METHOD.exec(text.slice(0, CALENDAR_HEAD).replace(/\r?\n[ \t]/g, ''))?.[1]?.toUpperCase();
  return `${type}${isUtf8 ? '; charset=utf-8' : ''}${method === undefined ? '' : `; method=${method}`}`;
}

export function isContentId(text: string): boolean {
  return CONTENT_ID.test(text);
}

// Invisible, blank-looking and bidi control characters can imitate another name.
const NO_DISPLAY_NAME = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}<>@"\u034F\u115F\u1160\u17B4\u17B5\u2800\u3164\uFFA0]/u;

// Begins an encoded word (RFC 2047), which mail programs would decode.
const ENCODED_WORD = '=?';

/** Whether a text can be a sender's display name: one line that cannot pass for an address. */
export function isDisplayName(name: string): boolean {
  // First, because normalising a long text may take minutes.
  if (hasMoreCharacters(name, FROM_NAME_MAX)) return false;
  // Full-width and small forms count as the characters they stand for.
  const forms = [name, name.normalize('NFKC')];
  return (
    name.trim() !== '' && forms.every((form) => !NO_DISPLAY_NAME.test(form) && !form.includes(ENCODED_WORD))
  );
}
