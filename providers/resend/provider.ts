import { createHash } from 'node:crypto';
import {
  type EmailAnswer,
  type EmailProvider,
  type SubmitAttachment,
  type SubmitEmail,
  unsubscribeHeaders,
} from '../email.ts';
import { createTaskTracker, withTimeout } from '../../concurrency/tasks.ts';
import { createSemaphore } from '../../concurrency/semaphore.ts';
import { NO_SESSION } from '../../domain/submission.ts';
import { emailOnly, type ProviderOptions } from '../kind.ts';
import { createHealth, stateBy } from '../health.ts';
import type { Provider } from '../provider.ts';
import { describeCode, isQuota, mayBeTheEmail, KEY_REUSED, readAnswer, UNREADABLE } from './answers.ts';
import type { Body } from '../http.ts';
import { probe, resendHttp } from './http.ts';
import { ID_TAG, type ResendSettings, type ResendCredentials } from './settings.ts';

// Names that need no quotes: letters, digits and the other characters of an atom (RFC 5322, 3.2.3).
const PLAIN_NAME = /^[\p{L}\p{N} !#$%&'*+/=?^_`{|}~-]+$/u;

/**
 * Body of `POST /emails` (https://resend.com/docs/api-reference/emails/send-email), byte-identical at each attempt. Files are streamed;
 * reading fails if one has another length than declared.
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
    type: 'application/json',
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

// Throws when a file is longer or shorter than declared, before it passes on any excess.
async function* base64Of(attachment: SubmitAttachment): AsyncIterable<Buffer> {
  let left = attachment.bytes;
  let over: Buffer = Buffer.alloc(0);
  for await (const piece of attachment.content()) {
    left -= piece.length;
    if (left < 0) break;
    const whole = over.length === 0 ? piece : Buffer.concat([over, piece]);
    // Base64 chunks can be joined only when all but the last encode a multiple of three bytes.
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

// The provider requires `to`, which is empty when all its addresses were suppressed. The cc recipients, who see each other anyway, take its
// place; so does a single bcc recipient. Several bcc recipients must not see each other, so the sender gets a copy instead.
function addressed({ from, to, cc, bcc }: SubmitEmail): Pick<SubmitEmail, 'to' | 'cc' | 'bcc'> {
  if (to.length > 0) return { to, cc, bcc };
  if (cc.length > 0) return { to: cc, cc: [], bcc };
  return bcc.length === 1 ? { to: bcc, cc: [], bcc: [] } : { to: [from.address], cc: [], bcc };
}

// The caller's headers must not replace those of RFC 8058.
function headersOf(email: SubmitEmail): (readonly [string, string])[] {
  const own = unsubscribeHeaders(email);
  if (own.length === 0) return [...email.headers];
  return [...email.headers.filter(([name]) => !/^list-unsubscribe(-post)?$/i.test(name)), ...own];
}

function mailbox({ address, name }: SubmitEmail['from']): string {
  if (name === null || name.trim() === '') return address;
  const shown = PLAIN_NAME.test(name) ? name : `"${name.replace(/["\\]/g, '\\$&')}"`;
  return `${shown} <${address}>`;
}

function optional(name: string, value: string | null): Record<string, string> {
  return value === null ? {} : { [name]: value };
}

// Idempotency keys are known for 24 hours (https://resend.com/docs/dashboard/emails/idempotency-keys); the last attempt has to arrive
// within them.
const SETTLES_FOR_MS = 24 * 3_600_000 - 600_000;
// 10 MB of files at 2 Mbit/s.
const WRITTEN_WITHIN_MS = 60_000;
// Pause after the quota is used up, as the provider does not say when it is renewed.
const QUOTA_MS = 900_000;

/** Resend's HTTP API. Events come as webhooks to the API process, not here. While the provider fails, its one session counts as closed. */
export function createResendProvider({
  name,
  settings,
  credentials,
  onError,
}: ProviderOptions<ResendSettings, ResendCredentials>): Provider {
  const http = resendHttp(settings, credentials);
  const limits = { writtenWithinMs: WRITTEN_WITHIN_MS, answeredWithinMs: settings.responseSeconds * 1000 };
  const places = createSemaphore({ places: settings.window });
  const open = createTaskTracker();
  let quota: { name: string; until: number } | null = null;
  // A probe cannot tell whether the quota is renewed; only an e-mail can.
  const health = createHealth((signal) =>
    quota !== null && quota.until > Date.now() ? Promise.resolve(quota.name) : probe(http, signal),
  );

  const send = async (email: SubmitEmail): Promise<EmailAnswer> => {
    const exchange = await http.send(
      { method: 'POST', path: '/emails', headers: { 'idempotency-key': email.id }, body: emailBody(email) },
      limits,
    );
    const answer = readAnswer(exchange);
    if (exchange.kind === 'unreadable') onError(exchange.error);
    if (codeIn(answer) === KEY_REUSED)
      onError(new Error(`${email.id}: taken by the provider with another body`));
    recordHealth(answer, mayBeTheEmail(exchange, answer) ? email.id : null);
    return answer;
  };

  const recordHealth = (answer: EmailAnswer, about: string | null): void => {
    const code = codeIn(answer);
    if (answer.kind === 'broken' && isQuota(answer.code)) {
      quota = { name: answer.code, until: Date.now() + QUOTA_MS };
      health.failed(answer.code, true);
    } else if (answer.kind === 'broken' || (answer.kind === 'unanswered' && code !== KEY_REUSED)) {
      health.failed(code ?? 'unknown', false, about);
    } else if (code !== UNREADABLE) {
      health.succeeded();
    }
  };

  const email: EmailProvider = {
    idempotencyWindowMs: SETTLES_FOR_MS,
    keyScope: keyScopeOf(settings.url, credentials.apiKey),
    answerTimeoutMs: limits.writtenWithinMs + limits.answeredWithinMs,
    reportsSent: true,
    async submit(given, beforeSubmit) {
      const releaseSlot = await places.enter();
      try {
        if (!health.works()) return { kind: 'broken', code: NO_SESSION };
        if (!(await beforeSubmit())) return { kind: 'withheld' };
        const sent = send(given);
        open.add(sent);
        return await sent;
      } finally {
        releaseSlot();
      }
    },
  };

  return emailOnly(name, email, {
    start() {
      health.start();
      return Promise.resolve();
    },
    state: () => stateBy(health, { window: settings.window, inFlight: places.inside() }, describeCode),
    async stop() {
      await health.stop();
      await withTimeout(open.settled(), limits.answeredWithinMs, () => undefined);
      await http.close();
    },
  });
}

// Another API key may belong to another team, which does not know our idempotency keys.
function keyScopeOf(url: string, apiKey: string): string {
  return createHash('sha256').update(`${url}\n${apiKey}`).digest('base64url').slice(0, 16);
}

function codeIn(answer: EmailAnswer): string | undefined {
  return answer.kind === 'accepted' ? undefined : answer.code;
}
