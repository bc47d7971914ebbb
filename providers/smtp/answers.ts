import type { EmailAnswer, EmailRefusal, RefusedAddress } from '../email.ts';
import type { HandOver, RefusedRecipient } from './connection.ts';
import { saysDead } from './deadAddresses.ts';
import { type Reply, replyCode } from './replies.ts';

const LATER_LEAST_MS = 30_000;
const LATER_MOST_MS = 600_000;
const THROTTLED_MS = 30_000;
const UNREADABLE_MS = 5_000;
// While an e-mail is younger than this, it waits for recipients that the relay defers (greylisting takes minutes) and is sent to none.
// Later one full mailbox does not delay the others.
const TOGETHER_MS = 900_000;

// RFC 4954, 6, and RFC 5321: the relay requires a login, or does not know the command. No e-mail is at fault.
const ROUTE_AT_FAULT = new Set([500, 502, 503, 504, 530, 534, 535, 538]);
// RFC 3463: the system is full, accepts no messages, is misconfigured or congested. Gmail also answers 5.4.5 when a daily quota is used up.
const SYSTEM_AT_FAULT = new Set(['5.3.1', '5.3.2', '5.3.5', '5.4.5']);
const TOO_LARGE = 552;
const SYNTAX = 500;

type Answered = Extract<HandOver, { kind: 'answered' }>;

/** Whether the e-mail still waits for all recipients. A reply that makes no sense may mean acceptance; in the end it counts as refusal. */
export function shouldWaitForAll(refused: readonly RefusedRecipient[], ageMs: number): boolean {
  if (ageMs >= TOGETHER_MS) return false;
  return refused.some((one) => one.reply === null || (isDeferred(one.reply) && !exceededRecipientLimit(one)));
}

/** Whether a recipient was only one too many in its transaction (RFC 3463: X.5.3); another one may accept it immediately. */
export const exceededRecipientLimit = ({ reply }: RefusedRecipient): boolean =>
  /^[45]\.5\.3$/.test(reply?.enhanced ?? '');

/**
 * Turns a hand-over into an answer.
 * @param ageMs since the e-mail was accepted
 * @param known recipients left out before
 * @param asGiven an address as the e-mail has it
 */
export function answerOf(
  result: HandOver,
  {
    id,
    ageMs,
    known,
    asGiven,
  }: { id: string; ageMs: number; known: readonly RefusedAddress[]; asGiven: (address: string) => string },
): EmailAnswer {
  const named = (some: readonly RefusedRecipient[]) =>
    some.map(({ address, reply }) => refusedAddress(asGiven(address), reply));
  switch (result.kind) {
    case 'taken': {
      const refused = [...known, ...named(result.refused)];
      return { kind: 'accepted', providerEmailId: id, ...(refused.length === 0 ? {} : { refused }) };
    }
    case 'answered':
      // A line is too long (RFC 5321, 4.5.3.1.9); the reply is not about a command.
      if (result.to === 'message' && result.reply.code === SYNTAX)
        return { kind: 'refused', reason: 'content_refused', code: replyCode(result.reply) };
      return answerOfReply(result, ageMs);
    case 'no_recipients': {
      const answer = ofRecipients(result.refused, ageMs);
      return answer.kind === 'refused'
        ? { ...answer, refused: [...known, ...named(result.refused)] }
        : answer;
    }
    case 'broken_off':
      return deferredAnswer(result.refused, ageMs);
    case 'too_large':
      return { kind: 'refused', reason: 'content_refused', code: 'too_large' };
    case 'unreadable':
      return { kind: 'later', retryAfterMs: UNREADABLE_MS, code: 'unreadable' };
    case 'lost':
      return isThrottling(result.problem.reply ?? null)
        ? { kind: 'throttled', retryAfterMs: THROTTLED_MS, code: result.problem.code }
        : { kind: 'broken', code: result.problem.code };
    case 'unknown':
      return { kind: 'unanswered', code: result.problem.code };
  }
}

function refusedAddress(address: string, reply: Reply | null): RefusedAddress {
  return { address, code: codeOf(reply), permanent: reply !== null && saysDead(reply) };
}

function answerOfReply({ to, reply }: Answered, ageMs: number): EmailAnswer {
  const code = replyCode(reply);
  if (isRelayingDenied(reply)) return notRelayed(reply, ageMs);
  const reason: EmailRefusal = to === 'sender' ? 'sender_refused' : 'content_refused';
  // Only for the sender: a filter's deferral of one e-mail is often passed on with the same code (Sendmail: 451 4.3.2).
  if (to === 'sender' && isThrottling(reply)) return { kind: 'throttled', retryAfterMs: THROTTLED_MS, code };
  if (reply.code < 500) return { kind: 'later', retryAfterMs: retryDelayMs(ageMs), code };
  if (ROUTE_AT_FAULT.has(reply.code) || SYSTEM_AT_FAULT.has(reply.enhanced ?? ''))
    return { kind: 'broken', code };
  return { kind: 'refused', reason: reply.code === TOO_LARGE ? 'content_refused' : reason, code };
}

function ofRecipients(refused: readonly RefusedRecipient[], ageMs: number): EmailAnswer {
  if (refused.some(({ reply }) => isDeferred(reply) && !isRelayingDenied(reply)))
    return deferredAnswer(refused, ageMs);
  const denial = refused.map(({ reply }) => reply).find(isRelayingDenied);
  if (denial !== undefined) return notRelayed(denial, ageMs);
  const fault = refused.find(({ reply }) => reply === null || ROUTE_AT_FAULT.has(reply.code));
  if (fault !== undefined) return { kind: 'broken', code: codeOf(fault.reply) };
  return { kind: 'refused', reason: 'recipients_refused', code: codeOf(refused[0]?.reply ?? null) };
}

function deferredAnswer(refused: readonly RefusedRecipient[], ageMs: number): EmailAnswer {
  const reply = refused.some((one) => one.reply === null)
    ? null
    : refused.find((one) => isDeferred(one.reply))?.reply;
  if (reply === undefined || reply === null) return { kind: 'broken', code: 'not_understood' };
  // Even if the relay says it is busy: that may be another server's word about this one address, and other e-mails need not wait.
  return { kind: 'later', retryAfterMs: retryDelayMs(ageMs), code: replyCode(reply) };
}

// The relay is not set up for us, or not for this sender: its reply does not tell which. Another route may be.
function notRelayed(reply: Reply, ageMs: number): EmailAnswer {
  return { kind: 'broken', code: replyCode(reply), ofSender: { retryAfterMs: retryDelayMs(ageMs) } };
}

const isRelayingDenied = (reply: Reply | null): reply is Reply & { subject: 'relaying' } =>
  reply?.subject === 'relaying';

const isDeferred = (reply: Reply | null): boolean => reply !== null && reply.code < 500;

// The relay is overloaded, whatever the e-mail: 421 (it ends the connection), or 4.3.2 (RFC 3463).
const isThrottling = (reply: Reply | null): boolean =>
  reply !== null && (reply.code === 421 || reply.enhanced === '4.3.2');

const codeOf = (reply: Reply | null): string => (reply === null ? 'not_understood' : replyCode(reply));

// Grows with the age. Jitter keeps e-mails that were deferred together from coming back together.
function retryDelayMs(ageMs: number): number {
  const whole = Math.min(Math.max(ageMs, LATER_LEAST_MS), LATER_MOST_MS);
  return Math.round(whole * (0.75 + Math.random() / 2));
}
