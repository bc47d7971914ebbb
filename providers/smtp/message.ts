import { Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import MessageParser, { type Header } from 'nodemailer/lib/dkim/message-parser.js';
import RelaxedBody from 'nodemailer/lib/dkim/relaxed-body.js';
import sign from 'nodemailer/lib/dkim/sign.js';
import { createHmac } from 'node:crypto';
import MailComposer from 'nodemailer/lib/mail-composer';
import { type SigningDomain, type SubmitAttachment, type SubmitEmail, unsubscribeHeaders } from '../email.ts';

/** Bytes of a message that are read: reports come first, then the e-mail that they are about. */
export const READ_BYTES = 256 * 1024;
const ENTITIES_MAX = 40;
const DEPTH_MAX = 4;
const HEADER_LINES = 500;
const GROUP_LINES = 100;
const PARAMETERS_MAX = 20;

/** Header fields by name in lower case; of duplicates the first. */
export type Fields = ReadonlyMap<string, string>;

export interface Part {
  type: string;
  text: string;
}

export interface ReadMessage {
  headers: Fields;
  /** In order, including those of nested multiparts. */
  parts: readonly Part[];
}

/** Reads an untrusted message (RFC 5322, RFC 2046), up to 256 kB. Skips malformed headers and parts; nested messages are not parsed. */
export function readMessage(raw: Buffer): ReadMessage {
  const parts: Part[] = [];
  let left = ENTITIES_MAX;
  const collect = (text: string, depth: number): Fields => {
    left -= 1;
    const { headers, body } = split(text);
    const { type, parameters } = contentType(headers);
    const boundary = parameters.get('boundary');
    if (!type.startsWith('multipart/') || boundary === undefined || depth >= DEPTH_MAX) {
      parts.push({ type, text: decoded(body, headers.get('content-transfer-encoding') ?? '') });
    } else {
      for (const piece of piecesOf(body, boundary)) if (left > 0) collect(piece, depth + 1);
    }
    return headers;
  };
  const headers = collect(raw.toString('latin1', 0, READ_BYTES), 0);
  return { headers, parts };
}

/** Groups of fields separated by empty lines (RFC 3464, 2.1). */
export function fieldGroups(text: string, most: number): Fields[] {
  return text
    .split(/\r?\n[ \t]*\r?\n/, most)
    .map((group) => fieldsOf(linesOf(group, GROUP_LINES)))
    .filter((fields) => fields.size > 0);
}

// The parts between boundaries (RFC 2046, 5.1.1), including a truncated last one.
function piecesOf(body: string, boundary: string): string[] {
  const border = new RegExp(`(?:^|\\r?\\n)--${boundary.replace(/\W/g, '\\$&')}(--)?[ \\t]*(?=\\r?\\n|$)`);
  // After each boundary: whether it is the last one, and what follows it.
  const [, ...found] = body.split(border, 2 * ENTITIES_MAX);
  const pieces: string[] = [];
  for (let at = 0; at + 1 < found.length && found[at] !== '--'; at += 2)
    pieces.push(found[at + 1]!.replace(/^\r?\n/, ''));
  return pieces;
}

function split(text: string): { headers: Fields; body: string } {
  if (/^\r?\n/.test(text)) return { headers: new Map(), body: text.replace(/^\r?\n/, '') };
  const end = /\r?\n\r?\n/.exec(text);
  const head = end === null ? text : text.slice(0, end.index);
  const body = end === null ? '' : text.slice(end.index + end[0].length);
  return { headers: fieldsOf(linesOf(head, HEADER_LINES)), body };
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

// Quoted-printable (RFC 2045, 6.7).
function unquoted(body: string): Buffer {
  const text = body
    .replace(/=\r?\n/g, '')
    .replace(/(?:=[0-9a-f]{2})+/gi, (run) => Buffer.from(run.replaceAll('=', ''), 'hex').toString('latin1'));
  return Buffer.from(text, 'latin1');
}

// List-Unsubscribe-Post must be signed (RFC 8058, 4).
const SIGNED = [
  'From',
  'Reply-To',
  'To',
  'Cc',
  'Subject',
  'Date',
  'Message-ID',
  'In-Reply-To',
  'References',
  'MIME-Version',
  'Content-Type',
  'Content-Transfer-Encoding',
  'List-Unsubscribe',
  'List-Unsubscribe-Post',
].join(':');

export interface SignedMessage {
  /** As composed, without SMTP's dot-stuffing. */
  bytes: number;
  content: () => AsyncGenerator<Buffer>;
}

/**
 * Signs a message (DKIM, RFC 6376; rsa-sha256, relaxed/relaxed). The signature comes first, so `compose` is called twice, for the hash and
 * for sending; the message is never kept in memory.
 * @throws what reading the files throws; Error when the key cannot sign
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
// Headers that we write, or that are written on the way.
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

/** Addresses as sent, with domains in A-labels. */
export interface WireAddresses {
  from: string;
  replyTo: string | null;
  to: readonly string[];
  cc: readonly string[];
}

/** What in the headers can never be written; null: nothing. */
export function headerProblem({ headers, listUnsubscribe }: SubmitEmail): string | null {
  const isWritable = ([name]: readonly [string, string]) => HEADER_NAME.test(name) && !OURS.test(name);
  if (!headers.every(isWritable)) return 'header';
  return listUnsubscribe === null || UNSUBSCRIBE.test(listUnsubscribe) ? null : 'list_unsubscribe';
}

/**
 * Composes the message (RFC 5322, MIME), byte-identical at each call, without `bcc`; files are streamed. `key` makes the boundaries
 * unpredictable, so that no text can contain them on purpose.
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

// Mail servers end lines with CRLF, and what is signed has to be what arrives.
function lines(body: string): string {
  return body.replace(/\p{Surrogate}/gu, '\ufffd').replace(/\r\n?|\n/g, '\r\n');
}

function oneLine(text: string): string {
  return text.replace(/\p{Surrogate}/gu, '\ufffd').replace(CONTROLS, ' ');
}
