/** What the words of a reply are about, where they say it: no such mailbox, or that the server relays nothing for us. */
export type ReplySubject = 'mailbox' | 'relaying';

const WORDS_MAX = 1_000;
const USER_UNKNOWN =
  /\b(?:unknown (?:user|recipient|mailbox)|no such (?:user|recipient|mailbox|person|address)|(?:user|recipient|mailbox|account) (?:is )?(?:unknown|not found|does(?:n't| not) exist))\b/i;
// As Postfix, Exim and Sendmail, Exchange and qmail say it. No address that is written to a server has a blank in it.
const NO_RELAYING =
  /\brelay(?:ing)?(?: access| is)? (?:denied|prohibited|disallowed|not (?:allowed|permitted))\b|\b(?:unable to|cannot|can't|(?:do|does|will) not|not (?:allowed|permitted|authori[sz]ed) to) relay\b|\ballowed rcpthosts\b/i;

/** What the words of a reply are about. Refused relaying counts first: it says nothing of the mailbox. */
export function subjectOf(text: string): ReplySubject | null {
  const words = text.slice(0, WORDS_MAX);
  if (NO_RELAYING.test(words)) return 'relaying';
  return USER_UNKNOWN.test(words) ? 'mailbox' : null;
}
