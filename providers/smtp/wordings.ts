/**
 * What the words of a reply are about, where they say it: no such mailbox; that the server relays nothing for us, or for this sender; or that
 * another server, whose words it quotes, does not relay.
 */
export type ReplySubject = 'mailbox' | 'relaying' | 'quoted_relaying';

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
