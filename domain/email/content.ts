import { hasMoreCharacters } from '../gsm7.ts';
import { FROM_NAME_MAX } from './address.ts';

/** Headers that a caller may set, by how they are written (RFC 5322, 3834; the last ones in use by mail programs and providers). */
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
// Octets of a line without its end (RFC 5322, 2.1.1).
const LINE_MAX = 998;
/** Characters of a header's value: also one that can be folded nowhere stands in one line with the longest of the names. */
export const HEADER_VALUE_MAX =
  LINE_MAX - Math.max(...ALLOWED_HEADERS.map(({ length }) => length)) - ': '.length;
const HEADER_VALUE = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/;

/** The header as it is written, for a name in any case; null for one that a caller may not set. */
export function allowedHeader(name: string): string | null {
  return ALLOWED_HEADERS.find((allowed) => allowed.toLowerCase() === name.toLowerCase()) ?? null;
}

/** Whether it can stand in a header as it is: one line of ASCII. */
export function isHeaderValue(value: string): boolean {
  return value.length <= HEADER_VALUE_MAX && HEADER_VALUE.test(value);
}

/** Types of files that are taken, by the ending of their names. Nothing that a double click executes. */
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
// No path, no quotes, nothing that turns the direction of writing: what is shown is what the file is called.
const FILENAME = /^[^\p{Cc}\p{Cf}\p{Zl}\p{Zp}"*/:<>?\\|]+$/u;
const CONTENT_ID = /^[A-Za-z0-9._+-]{1,100}$/;

/** The type of a file by its name; null where the name cannot be one, or such files are not taken. */
export function attachmentType(filename: string): string | null {
  if (filename.length > FILENAME_MAX || !FILENAME.test(filename) || filename.trim() !== filename) return null;
  const [, ending] = /\.([A-Za-z0-9]+)$/.exec(filename) ?? [];
  if (ending === undefined || filename.length === ending.length + 1) return null;
  const lower = ending.toLowerCase();
  return Object.hasOwn(ATTACHMENT_TYPES, lower) ? ATTACHMENT_TYPES[lower]! : null;
}

/** Whether HTML can refer to a file by it: `cid:logo`. */
export function isContentId(text: string): boolean {
  return CONTENT_ID.test(text);
}

// Invisible ones, letters that show as blanks, and those that turn the direction of writing, make a name look like another's.
const NO_DISPLAY_NAME = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}<>@"\u034F\u115F\u1160\u17B4\u17B5\u2800\u3164\uFFA0]/u;

// How an encoded word begins (RFC 2047): mail programs would show what it stands for.
const ENCODED_WORD = '=?';

/** Whether it can be the name beside a sender's address: one line, and nothing that could be taken for an address. */
export function isDisplayName(name: string): boolean {
  // What is longer is none, and looking for its forms might take minutes.
  if (hasMoreCharacters(name, FROM_NAME_MAX)) return false;
  // Wide and small forms are read as what they stand for.
  const forms = [name, name.normalize('NFKC')];
  return (
    name.trim() !== '' && forms.every((form) => !NO_DISPLAY_NAME.test(form) && !form.includes(ENCODED_WORD))
  );
}
