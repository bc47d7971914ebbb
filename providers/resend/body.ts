import { type SubmitAttachment, type SubmitEmail, unsubscribeHeaders } from '../email.ts';

/** What a request carries: its length is known before it is read, and it is read piece by piece. */
export interface Body {
  bytes: number;
  pieces(): AsyncIterable<Buffer>;
}

/** The name of the tag that our id travels in, for events to name it. */
export const ID_TAG = 'goniec_id';

/** Names in an address that need no quotes: letters, digits, and the rest of an atom (RFC 5322, 3.2.3). */
const PLAIN_NAME = /^[\p{L}\p{N} !#$%&'*+/=?^_`{|}~-]+$/u;

/** A body of JSON. */
export function jsonBody(value: unknown): Body {
  return bodyOf([Buffer.from(JSON.stringify(value))]);
}

/**
 * The body of `POST /emails` (https://resend.com/docs/api-reference/emails/send-email): the same bytes each time for the same
 * e-mail. Files are read while they are sent, and never whole. Reading it fails where a file has another length than it says.
 */
export function emailBody(email: SubmitEmail): Body {
  const fields = JSON.stringify(fieldsOf(email));
  if (email.attachments.length === 0) return bodyOf([Buffer.from(fields)]);
  const pieces: (Buffer | SubmitAttachment)[] = [];
  let before = `${fields.slice(0, -1)},"attachments":[`;
  for (const attachment of email.attachments) {
    const { filename, contentType, contentId } = attachment;
    const about = { filename, content_type: contentType, ...optional('content_id', contentId) };
    pieces.push(Buffer.from(`${before}${JSON.stringify(about).slice(0, -1)},"content":"`), attachment);
    before = '"},';
  }
  return bodyOf([...pieces, Buffer.from('"}]}')]);
}

function bodyOf(parts: readonly (Buffer | SubmitAttachment)[]): Body {
  return {
    bytes: parts.reduce((sum, part) => sum + lengthOf(part), 0),
    async *pieces() {
      for (const part of parts) {
        if (Buffer.isBuffer(part)) yield part;
        else yield* base64Of(part);
      }
    },
  };
}

function lengthOf(part: Buffer | SubmitAttachment): number {
  return Buffer.isBuffer(part) ? part.length : Math.ceil(part.bytes / 3) * 4;
}

/** @throws Error when the file has another length than it says; by then no more has been read than it should have had */
async function* base64Of(attachment: SubmitAttachment): AsyncIterable<Buffer> {
  let left = attachment.bytes;
  let over: Buffer = Buffer.alloc(0);
  for await (const piece of attachment.content()) {
    left -= piece.length;
    if (left < 0) break;
    const whole = over.length === 0 ? piece : Buffer.concat([over, piece]);
    // Base64 of pieces is that of the whole only where none but the last leaves bytes over.
    const even = left === 0 ? whole.length : whole.length - (whole.length % 3);
    over = whole.subarray(even);
    if (even > 0) yield Buffer.from(whole.toString('base64', 0, even), 'latin1');
  }
  if (left !== 0) throw new Error('a file of an e-mail has another length than it says');
}

function fieldsOf(email: SubmitEmail): Record<string, unknown> {
  const headers = headersOf(email);
  const { to, cc, bcc } = addressed(email);
  return {
    from: mailbox(email.from),
    to,
    ...(cc.length === 0 ? {} : { cc }),
    ...(bcc.length === 0 ? {} : { bcc }),
    ...optional('reply_to', email.replyTo),
    subject: email.subject,
    ...optional('html', email.html),
    ...optional('text', email.text),
    ...(headers.length === 0 ? {} : { headers: Object.fromEntries(headers) }),
    tags: [{ name: ID_TAG, value: email.id }],
  };
}

/**
 * The provider wants somebody in `to`, where suppressed addresses leave nobody. Those who see each other's addresses anyway take their
 * place; of those who do not, only one alone may: several stay hidden behind the sender, who gets a copy.
 */
function addressed({ from, to, cc, bcc }: SubmitEmail): Pick<SubmitEmail, 'to' | 'cc' | 'bcc'> {
  if (to.length > 0) return { to, cc, bcc };
  if (cc.length > 0) return { to: cc, cc: [], bcc };
  return bcc.length === 1 ? { to: bcc, cc: [], bcc: [] } : { to: [from.address], cc: [], bcc };
}

/** Those of RFC 8058 are ours alone. */
function headersOf(email: SubmitEmail): (readonly [string, string])[] {
  const own = unsubscribeHeaders(email);
  if (own.length === 0) return [...email.headers];
  return [...email.headers.filter(([name]) => !/^list-unsubscribe(-post)?$/i.test(name)), ...own];
}

/** An address with its name (RFC 5322, 3.4). */
function mailbox({ address, name }: SubmitEmail['from']): string {
  if (name === null || name.trim() === '') return address;
  const shown = PLAIN_NAME.test(name) ? name : `"${name.replace(/["\\]/g, '\\$&')}"`;
  return `${shown} <${address}>`;
}

function optional(name: string, value: string | null): Record<string, string> {
  return value === null ? {} : { [name]: value };
}
