// No such mailbox; the server does not relay for us, or for this sender; another server, which is quoted, does not relay.
type ReplySubject = 'mailbox' | 'relaying' | 'quoted_relaying';

const WORDS_MAX = 1_000;
const USER_UNKNOWN =
  /\b(?:unknown (?:user|recipient|mailbox)|no such (?:user|recipient|mailbox|person|address)|(?:user|recipient|mailbox|account) (?:is )?(?:unknown|not found|does(?:n't| not) exist))\b/i;
// Wording of Postfix, Exim and Sendmail, Exchange and qmail. All contain a blank, which no address sent to a server has.
const NO_RELAYING =
  /\brelay(?:ing)?(?: access| is)? (?:denied|prohibited|disallowed|not (?:allowed|permitted))\b|\b(?:unable to|cannot|can't|(?:do|does|will) not|not (?:allowed|permitted|authori[sz]ed) to) relay\b|\ballowed rcpthosts\b/i;
// How servers introduce a quotation. Each pattern needs a blank or a colon that no address has at that place.
const QUOTATION = new RegExp(
  [
    /\b(?:said|responded|replied|answered|response)(?: with| was)?:/,
    // Postfix, about a connection and about its probes (reject_unverified_recipient).
    /\brefused to talk to me:|\b(?:undeliverable|unverified) address:/,
    // Exim.
    /\bcall-?(?:out|back) [a-z]|\bresponse to "|\berror from remote\b/,
    // Exchange, Gmail.
    /\b(?:server|host) (?:returned\b|was:)/,
    // A second code in a line.
    /[:("'] ?[45][0-9]{2} /,
  ]
    .map(({ source }) => source)
    .join('|'),
  'i',
);

/**
 * What a reply's text says. Refused relaying takes precedence, as it says nothing about the mailbox. A quoted server's text is chosen by
 * its owner, so it says nothing about us.
 */
export function subjectOf(text: string): ReplySubject | null {
  const words = text.slice(0, WORDS_MAX);
  const quotation = QUOTATION.exec(words)?.index ?? words.length;
  if (NO_RELAYING.test(words.slice(0, quotation))) return 'relaying';
  if (NO_RELAYING.test(words)) return 'quoted_relaying';
  return USER_UNKNOWN.test(words) ? 'mailbox' : null;
}

/** A mail server's reply (RFC 5321, 4.2; RFC 3463), without its text, which may contain addresses. */
export interface Reply {
  code: number;
  enhanced: string | null;
  subject: ReplySubject | null;
}

/** A code for staff and metrics, with nothing of the server's text. */
export interface Problem {
  code: string;
  reply?: Reply;
}

interface Failure {
  code?: string | undefined;
  originalCode?: string | undefined;
  response?: string | undefined;
  timeoutType?: string | undefined;
}

const REPLY = /^([45][0-9]{2})(?:[ -](?:([245]\.[0-9]{1,3}\.[0-9]{1,3})(?=[ \r\n]|$))?|(?=[\r\n]|$))/;
const PLAIN_CODE = /^[A-Z][A-Z0-9_]{1,39}$/;

/** The negative reply in an error of nodemailer; null when there is none. */
export function replyOf({ response }: Failure): Reply | null {
  // All lines of a multiline reply have the same code.
  const [whole, code, enhanced] = REPLY.exec(response ?? '') ?? [];
  if (response === undefined || whole === undefined) return null;
  return { code: Number(code), enhanced: enhanced ?? null, subject: subjectOf(response.slice(whole.length)) };
}

/** `550 5.1.1`. */
export function replyCode({ code, enhanced }: Reply): string {
  return enhanced === null ? String(code) : `${code} ${enhanced}`;
}

/** The problem with the connection that an error of nodemailer stands for. */
export function problemOf(error: Failure & Error): Problem {
  const reply = replyOf(error);
  if (reply !== null) return { code: replyCode(reply), reply };
  if (error.timeoutType !== undefined || error.code === 'ETIMEDOUT') return { code: 'timed_out' };
  const code = error.originalCode ?? error.code ?? '';
  if (code === 'ECONNECTION') return { code: 'connection_lost' };
  return { code: PLAIN_CODE.test(code) ? code : 'failed' };
}

interface Beginning {
  take(piece: Buffer): void;
  bytes(): Buffer;
}

/** Collects the first `most` bytes of a stream. */
export function createBeginning(most: number): Beginning {
  const pieces: Buffer[] = [];
  let kept = 0;
  return {
    take(piece) {
      if (kept >= most) return;
      const part = piece.subarray(0, most - kept);
      pieces.push(part);
      kept += part.length;
    },
    bytes: () => Buffer.concat(pieces),
  };
}
