import { createHmac } from 'node:crypto';
import { Readable } from 'node:stream';
import MailComposer from 'nodemailer/lib/mail-composer';
import { type SubmitAttachment, type SubmitEmail, unsubscribeHeaders } from '../email.ts';

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
