import { Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import MessageParser, { type Header } from 'nodemailer/lib/dkim/message-parser.js';
import RelaxedBody from 'nodemailer/lib/dkim/relaxed-body.js';
import sign from 'nodemailer/lib/dkim/sign.js';
import { createHmac } from 'node:crypto';
import MailComposer from 'nodemailer/lib/mail-composer';
import { type SigningDomain, type SubmitAttachment, type SubmitEmail, unsubscribeHeaders } from '../email.ts';

/** So much is read of a message: reports come first; what follows them is the e-mail that they are about. */
export const READ_BYTES = 256 * 1024;
const PARTS_MAX = 20;
const DEPTH_MAX = 4;
const GROUP_LINES = 100;
const PARAMETERS_MAX = 20;

/** Header fields by their names in small letters; of several of one name the first. */
export type Fields = ReadonlyMap<string, string>;

/** A part of a message that has none itself. */
export interface Part {
  /** `message/delivery-status`, in small letters. */
  type: string;
  text: string;
}

/** A message that somebody sent us, as far as it is of interest. */
export interface ReadMessage {
  headers: Fields;
  type: string;
  /** Of its content type. */
  reportType: string | null;
  /** In their order, those in multiparts within multiparts too; at most twenty. */
  parts: readonly Part[];
}

/** What is still looked at of a message, which may be made to take work. */
interface Budget {
  /** Lines of headers, of all parts together. */
  lines: number;
  /** Parts, and multiparts. */
  entities: number;
  /** Lines that begin as a border between parts does. */
  borders: number;
}

/**
 * Reads a message (RFC 5322, RFC 2046) that may be anything, as far as a report may be in it: 256 kB. What is no header or no part is
 * passed over; a message within it is one part, and not looked into.
 */
export function readMessage(raw: Buffer): ReadMessage {
  const budget: Budget = { lines: 2_000, entities: 60, borders: 1_000 };
  const { headers, body } = split(raw.toString('latin1', 0, READ_BYTES), budget);
  const { type, parameters } = contentType(headers);
  const parts: Part[] = [];
  collect({ headers, body, depth: 0 }, parts, budget);
  return { headers, type, reportType: parameters.get('report-type')?.toLowerCase() ?? null, parts };
}

/** Groups of fields with empty lines between them (RFC 3464, 2.1), each as a map; so many at most. */
export function fieldGroups(text: string, most: number): Fields[] {
  return text
    .split(/\r?\n[ \t]*\r?\n/, most)
    .map((group) => fieldsOf(linesOf(group, GROUP_LINES)))
    .filter((fields) => fields.size > 0);
}

interface Entity {
  headers: Fields;
  body: string;
  depth: number;
}

function collect({ headers, body, depth }: Entity, parts: Part[], budget: Budget): void {
  budget.entities -= 1;
  if (parts.length >= PARTS_MAX || budget.entities < 0) return;
  const { type, parameters } = contentType(headers);
  const boundary = parameters.get('boundary');
  if (!type.startsWith('multipart/') || boundary === undefined || depth >= DEPTH_MAX) {
    parts.push({ type, text: decoded(body, headers.get('content-transfer-encoding') ?? '') });
    return;
  }
  for (const piece of piecesOf(body, `--${boundary}`, budget)) {
    if (budget.entities <= 0) return;
    collect({ ...split(piece, budget), depth: depth + 1 }, parts, budget);
  }
}

/** What stands between borders. Their lines alone are looked at: a body may have hundreds of thousands of others. */
function piecesOf(body: string, border: string, budget: Budget): string[] {
  const pieces: string[] = [];
  let start: number | null = null;
  for (let at = borderFrom(body, border, 0); at !== null; at = borderFrom(body, border, at + 1)) {
    if (budget.borders <= 0) break;
    budget.borders -= 1;
    const lineEnd = endOfLine(body, at);
    const after = body.slice(at + border.length, lineEnd).trimEnd();
    if (after !== '' && after !== '--') continue;
    if (start !== null) pieces.push(withoutBreak(body.slice(start, Math.max(start, at))));
    if (after === '--' || pieces.length >= PARTS_MAX) return pieces;
    start = lineEnd + 1;
  }
  // Cut off: what there is of it counts.
  if (start !== null) pieces.push(body.slice(start));
  return pieces;
}

function borderFrom(body: string, border: string, from: number): number | null {
  if (from === 0 && body.startsWith(border)) return 0;
  const found = body.indexOf(`\n${border}`, Math.max(from - 1, 0));
  return found < 0 ? null : found + 1;
}

function endOfLine(text: string, from: number): number {
  const end = text.indexOf('\n', from);
  return end < 0 ? text.length : end;
}

/** Without the line break at the end, which is the border's (RFC 2046, 5.1.1). */
function withoutBreak(text: string): string {
  if (!text.endsWith('\n')) return text;
  return text.slice(0, text.endsWith('\r\n') ? -2 : -1);
}

function split(text: string, budget: Budget): { headers: Fields; body: string } {
  if (/^\r?\n/.test(text)) return { headers: new Map(), body: text.replace(/^\r?\n/, '') };
  const end = /\r?\n\r?\n/.exec(text);
  const head = linesOf(end === null ? text : text.slice(0, end.index), budget.lines);
  budget.lines -= head.length;
  return { headers: fieldsOf(head), body: end === null ? '' : text.slice(end.index + end[0].length) };
}

function linesOf(text: string, most: number): string[] {
  return text.split(/\r?\n/, most);
}

function fieldsOf(physical: readonly string[]): Fields {
  const lines: string[] = [];
  for (const line of physical) {
    if (/^[ \t]/.test(line) && lines.length > 0) lines[lines.length - 1] += ` ${line.trim()}`;
    else lines.push(line);
  }
  const fields = new Map<string, string>();
  for (const line of lines) {
    const colon = line.indexOf(':');
    const name = line.slice(0, Math.max(colon, 0)).trim().toLowerCase();
    if (name !== '' && !fields.has(name)) fields.set(name, line.slice(colon + 1).trim());
  }
  return fields;
}

function contentType(headers: Fields): { type: string; parameters: Map<string, string> } {
  const value = headers.get('content-type') ?? 'text/plain';
  const [type = '', ...rest] = value.slice(0, 2_000).split(';', PARAMETERS_MAX);
  const parameters = new Map<string, string>();
  for (const one of rest) {
    const equals = one.indexOf('=');
    if (equals < 1) continue;
    const name = one.slice(0, equals).trim().toLowerCase();
    const given = one.slice(equals + 1).trim();
    parameters.set(name, given.startsWith('"') ? given.replace(/^"|"$/g, '').replace(/\\(.)/g, '$1') : given);
  }
  return { type: type.trim().toLowerCase(), parameters };
}

function decoded(body: string, encoding: string): string {
  switch (encoding.trim().toLowerCase()) {
    case 'base64':
      return Buffer.from(body, 'base64').toString('utf8');
    case 'quoted-printable':
      return unquoted(body).toString('utf8');
    default:
      return Buffer.from(body, 'latin1').toString('utf8');
  }
}

const EQUALS = 0x3d;
const HEX = '0123456789abcdef';
/** What a hexadecimal digit stands for, by its code; null: it is none. */
const DIGITS: readonly (number | null)[] = Array.from({ length: 256 }, (_, code) => {
  const value = HEX.indexOf(String.fromCharCode(code).toLowerCase());
  return value < 0 ? null : value;
});

// RFC 2045, 6.7. Byte by byte: a call for each of its characters takes ten times as long.
function unquoted(body: string): Buffer {
  const bytes = Buffer.from(body.replace(/=\r?\n/g, ''), 'latin1');
  let size = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    const [high, low] = [digitAt(bytes, at + 1), digitAt(bytes, at + 2)];
    const isEncoded = bytes[at] === EQUALS && high !== null && low !== null;
    bytes[size] = isEncoded ? 16 * high + low : bytes[at]!;
    size += 1;
    if (isEncoded) at += 2;
  }
  return bytes.subarray(0, size);
}

function digitAt(bytes: Buffer, at: number): number | null {
  return DIGITS[bytes[at] ?? 0] ?? null;
}

// List-Unsubscribe-Post has to be among them (RFC 8058, 4).
const SIGNED = [
  ...['From', 'Reply-To', 'To', 'Cc', 'Subject', 'Date', 'Message-ID', 'In-Reply-To', 'References'],
  ...[
    'MIME-Version',
    'Content-Type',
    'Content-Transfer-Encoding',
    'List-Unsubscribe',
    'List-Unsubscribe-Post',
  ],
].join(':');

/** A message with its signature. */
export interface SignedMessage {
  /** As it is written, without what SMTP adds to it. */
  bytes: number;
  /** Reads it; as often as wanted. */
  content: () => AsyncGenerator<Buffer>;
}

/**
 * Signs a message (DKIM, RFC 6376; rsa-sha256, relaxed/relaxed). The signature stands before what it signs, so the message is
 * written twice: once for the hash, once to be sent. Nothing of it is kept meanwhile.
 *
 * @param compose writes the message, the same at each call
 * @throws what reading the files throws; Error where the key signs nothing
 */
export async function signed(compose: () => Readable, domain: SigningDomain): Promise<SignedMessage> {
  let headers: Header[] = [];
  let hash = '';
  const parser = new MessageParser();
  const body = new RelaxedBody();
  parser.on('headers', (lines: Header[]) => (headers = lines));
  body.on('hash', (base64: string) => (hash = base64));
  const away = new Writable({ write: (_chunk, _encoding, done) => done() });
  await pipeline(compose(), parser, body, away);
  const keys = {
    domainName: domain.name,
    keySelector: domain.selector,
    privateKey: domain.privateKey,
    headerFieldNames: SIGNED,
  };
  const field = sign(headers, 'sha256', hash, keys);
  if (field === false) throw new Error('the key of a sender domain signs nothing');
  const first = Buffer.from(`${field}\r\n`, 'latin1');
  return {
    bytes: first.length + parser.headerBytes + body.byteLength,
    async *content() {
      yield first;
      for await (const chunk of compose()) yield chunk as Buffer;
    },
  };
}

const HEADER_NAME = /^[A-Za-z0-9][A-Za-z0-9-]{0,75}$/;
// What we write ourselves, or what is written on the way.
const OURS =
  /^(from|sender|to|cc|bcc|reply-to|subject|date|message-id|mime-version|content-.*|list-unsubscribe|list-unsubscribe-post|dkim-signature|arc-.*|authentication-results|received.*|return-path|resent-.*|delivered-to)$/i;
const UNSUBSCRIBE = /^https:\/\/[\x21-\x3b\x3d\x3f-\x7e]+$/;
const TOKEN = "[A-Za-z0-9!#$%&'*+.^_`|~-]+";
const MEDIA_TYPE = new RegExp(`^${TOKEN}/${TOKEN}(\\s*;\\s*${TOKEN}=(${TOKEN}|"[A-Za-z0-9 ._-]*"))*$`);
// Must not be encoded in base64 (RFC 2046, 5.2.1), or would be read as parts of this message.
const COMPOSITE = /^(message|multipart)\//i;
const BYTES = 'application/octet-stream';
const CONTENT_ID = /^[\x21-\x3b\x3d\x3f-\x7e]+$/;
const CONTROLS = /[\p{Cc}\u2028\u2029]+/gu;

/** Addresses as they are written, with their domains in A-labels. */
export interface WireAddresses {
  from: string;
  replyTo: string | null;
  to: readonly string[];
  cc: readonly string[];
}

/** What of an e-mail's headers can never be written; null: nothing. */
export function headerProblem({ headers, listUnsubscribe }: SubmitEmail): string | null {
  const isWritable = ([name]: readonly [string, string]) => HEADER_NAME.test(name) && !OURS.test(name);
  if (!headers.every(isWritable)) return 'header';
  return listUnsubscribe === null || UNSUBSCRIBE.test(listUnsubscribe) ? null : 'list_unsubscribe';
}

/**
 * Writes the message (RFC 5322, MIME), byte for byte the same at each call: text and HTML as alternatives, the HTML with the files
 * it refers to; nothing of `bcc`. Files are read piece by piece as the stream is.
 * @param key makes the borders between parts, which no text can then contain on purpose
 */
export function composed(email: SubmitEmail, addresses: WireAddresses, key: string): Readable {
  const mailbox = (address: string) => ({ address, name: '' });
  const composer = new MailComposer({
    from: { address: addresses.from, name: oneLine(email.from.name ?? '') },
    ...(addresses.replyTo === null ? {} : { replyTo: mailbox(addresses.replyTo) }),
    ...(addresses.to.length === 0 ? {} : { to: addresses.to.map(mailbox) }),
    ...(addresses.cc.length === 0 ? {} : { cc: addresses.cc.map(mailbox) }),
    subject: oneLine(email.subject),
    date: email.createdAt,
    messageId: `<${email.id}@${email.domain.name}>`,
    headers: [
      ...email.headers.map(([name, value]) => ({ key: name, value: oneLine(value) })),
      ...unsubscribeHeaders(email).map(([key, value]) => ({ key, value })),
    ],
    ...(email.text === null ? {} : { text: lines(email.text) }),
    ...(email.html === null ? {} : { html: lines(email.html) }),
    attachments: email.attachments.map(attachmentOf),
    baseBoundary: createHmac('sha256', key).update(`boundary ${email.id}`).digest('hex').slice(0, 32),
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  return composer.compile().createReadStream();
}

function attachmentOf({ filename, contentType, contentId, content }: SubmitAttachment) {
  const isPlain = MEDIA_TYPE.test(contentType) && !COMPOSITE.test(contentType);
  return {
    filename: oneLine(filename),
    contentType: isPlain ? contentType : BYTES,
    contentTransferEncoding: 'base64',
    ...(contentId !== null && CONTENT_ID.test(contentId) ? { cid: contentId } : {}),
    content: Readable.from(content(), { objectMode: false }),
  };
}

// A mail server ends lines with CRLF alone: what is signed has to be what arrives.
function lines(body: string): string {
  return body.replace(/\p{Surrogate}/gu, '\ufffd').replace(/\r\n?|\n/g, '\r\n');
}

function oneLine(text: string): string {
  return text.replace(/\p{Surrogate}/gu, '\ufffd').replace(CONTROLS, ' ');
}
