import { type Reply, subjectOf } from './replies.ts';

// RFC 3463 and RFC 7505, about the recipient's address itself: no such mailbox or domain, malformed, moved, accepts no mail, disabled. Not
// about a sender (5.1.7, 5.1.8), a full mailbox (5.2.2) or a policy (5.7.x).
const DEAD = new Set(['5.1.0', '5.1.1', '5.1.2', '5.1.3', '5.1.6', '5.1.10', '5.2.1']);
const BARE = '5.0.0';
// RFC 5321, 4.2.2: no such mailbox, not local, an invalid name.
const NO_MAILBOX = new Set([550, 551, 553]);
const STATUS = /^[245]\.[0-9]{1,3}\.[0-9]{1,3}\b/;
const DIAGNOSTIC = /\b([45][0-9]{2})[ -](?:([245]\.[0-9]{1,3}\.[0-9]{1,3})\b)?/;
const DIAGNOSTIC_MAX = 1_000;

/** Whether a reply to `RCPT TO` says that the address is dead. A bare 550 may also be a policy or refused relaying: the text decides. */
export function saysDead({ code, enhanced, subject }: Reply): boolean {
  if (code < 500 || subject === 'relaying' || subject === 'quoted_relaying') return false;
  if (enhanced !== null && enhanced !== BARE) return DEAD.has(enhanced);
  return NO_MAILBOX.has(code) && subject === 'mailbox';
}

/** The same for a delivery report: status `5.1.1 (bad mailbox)`, or, if unspecific, diagnostic code `smtp; 550 5.1.1 User unknown`. */
export function reportsDead(status: string, diagnostic: string): boolean {
  const [said = BARE] = STATUS.exec(status) ?? [];
  if (said !== BARE) return DEAD.has(said);
  const answer = diagnostic.slice(0, DIAGNOSTIC_MAX);
  const [, code, enhanced = BARE] = DIAGNOSTIC.exec(answer) ?? [];
  if (enhanced !== BARE) return DEAD.has(enhanced);
  return code === '550' && subjectOf(answer) === 'mailbox';
}
