import { type ReplySubject, subjectOf } from './wordings.ts';

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
