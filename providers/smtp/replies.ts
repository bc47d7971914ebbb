/**
 * What the words of a reply are about, where they say it: no such mailbox; that the server relays nothing for us, or for this sender; or that
 * another server, whose words it quotes, does not relay.
 */
type ReplySubject = 'mailbox' | 'relaying' | 'quoted_relaying';

const WORDS_MAX = 1_000;
const USER_UNKNOWN =
  /\b(?:unknown (?:user|recipient|mailbox)|no such (?:user|recipient|mailbox|person|address)|(?:user|recipient|mailbox|account) (?:is )?(?:unknown|not found|does(?:n't| not) exist))\b/i;
// As Postfix, Exim and Sendmail, Exchange and qmail say it. No address that is written to a server has a blank in it.
const NO_RELAYING =
  /\brelay(?:ing)?(?: access| is)? (?:denied|prohibited|disallowed|not (?:allowed|permitted))\b|\b(?:unable to|cannot|can't|(?:do|does|will) not|not (?:allowed|permitted|authori[sz]ed) to) relay\b|\ballowed rcpthosts\b/i;
// How servers begin to quote another one. Each needs a blank or a colon that no address has at that place.
const QUOTATION = new RegExp(
  [
    /\b(?:said|responded|replied|answered|response)(?: with| was)?:/,
    // Postfix, of a connection and of its probes (reject_unverified_recipient).
    /\brefused to talk to me:|\b(?:undeliverable|unverified) address:/,
    // Exim.
    /\bcall-?(?:out|back) [a-z]|\bresponse to "|\berror from remote\b/,
    // Exchange, Gmail.
    /\b(?:server|host) (?:returned\b|was:)/,
    // A code behind the first one of a line.
    /[:("'] ?[45][0-9]{2} /,
  ]
    .map(({ source }) => source)
    .join('|'),
  'i',
);

/**
 * What the words of a reply are about. Refused relaying counts first: it says nothing of the mailbox. What a recipient's server is quoted with
 * its owner has chosen: it says nothing of us.
 */
export function subjectOf(text: string): ReplySubject | null {
  const words = text.slice(0, WORDS_MAX);
  const quotation = QUOTATION.exec(words)?.index ?? words.length;
  if (NO_RELAYING.test(words.slice(0, quotation))) return 'relaying';
  if (NO_RELAYING.test(words)) return 'quoted_relaying';
  return USER_UNKNOWN.test(words) ? 'mailbox' : null;
}

/** What a mail server answered (RFC 5321, 4.2; RFC 3463), without its words: they may hold addresses. */
export interface Reply {
  /** 400 to 599. */
  code: number;
  /** `5.1.1`; null where it has none. */
  enhanced: string | null;
  /** What its words are about; null where they do not say. */
  subject: ReplySubject | null;
}

/** What kept a connection from working: a word for staff and metrics, without anything that the server wrote but its codes. */
export interface Problem {
  code: string;
  /** What the server answered, where it did. */
  reply?: Reply;
}

interface Failure {
  code?: string | undefined;
  originalCode?: string | undefined;
  response?: string | undefined;
  timeoutType?: string | undefined;
}

// A code may stand alone (RFC 5321, 4.2).
const REPLY = /^([45][0-9]{2})(?:[ -](?:([245]\.[0-9]{1,3}\.[0-9]{1,3})(?=[ \r\n]|$))?|(?=[\r\n]|$))/;
const PLAIN_CODE = /^[A-Z][A-Z0-9_]{1,39}$/;

/** The refusal that an error of nodemailer's stands for; null for one that is none. */
export function replyOf({ response }: Failure): Reply | null {
  // The last line counts where it came in several, and has the same code.
  const [whole, code, enhanced] = REPLY.exec(response ?? '') ?? [];
  if (response === undefined || whole === undefined) return null;
  return { code: Number(code), enhanced: enhanced ?? null, subject: subjectOf(response.slice(whole.length)) };
}

/** `550 5.1.1`. */
export function replyCode({ code, enhanced }: Reply): string {
  return enhanced === null ? String(code) : `${code} ${enhanced}`;
}

/** What an error of nodemailer's says of the connection. */
export function problemOf(error: Failure & Error): Problem {
  const reply = replyOf(error);
  if (reply !== null) return { code: replyCode(reply), reply };
  if (error.timeoutType !== undefined || error.code === 'ETIMEDOUT') return { code: 'timed_out' };
  const code = error.originalCode ?? error.code ?? '';
  if (code === 'ECONNECTION') return { code: 'connection_lost' };
  return { code: PLAIN_CODE.test(code) ? code : 'failed' };
}

/** The beginning of something that comes in pieces. */
interface Beginning {
  /** Takes the next piece: what of it is beyond the beginning is not kept. */
  take(piece: Buffer): void;
  bytes(): Buffer;
}

/** @param most so many bytes are kept */
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
