// What may stand behind STOP and WYPISZ without making the reply mean something else: "Stop, proszę", "WYPISZ MNIE".
const COURTESIES = new Set([
  ...['MNIE', 'SIE', 'SMS', 'PROSZE', 'DZIEKUJE', 'DZIEKI'],
  ...['STOP', 'WYPISZ'],
]);

// Nobody needs more to opt out, and normalising a stranger's long text can take seconds.
const LONGEST = 1_000;

/** What unsubscribes (v2.3.0, Inbound replies); none of them can be a keyword, or nobody could opt out of its owner. */
export const OPT_OUT_WORDS = ['STOP', 'WYPISZ', 'NIE'] as const;

/**
 * Whether a reply unsubscribes its sender (v2.3.0, Inbound replies: "a reply of STOP, WYPISZ or NIE").
 *
 * Words are compared without case and diacritics; punctuation, quotes, emoji and spaces around them do not count. NIE
 * counts only as the whole reply, because it is an ordinary answer as well ("Nie, dziękuję", "nie przyjdę"). STOP and
 * WYPISZ count as the whole reply or followed by nothing but courtesies ("wypisz mnie", "STOP SMS"); any other word
 * makes it a sentence about something else ("stop przy sklepie").
 */
export function isOptOut(text: string): boolean {
  if (text.length > LONGEST) return false;
  const [first, ...rest] = wordsOf(text);
  if (first === 'NIE') return rest.length === 0;
  return (first === 'STOP' || first === 'WYPISZ') && rest.every((word) => COURTESIES.has(word));
}

/** The words of a text in upper-case letters without diacritics; full-width and similar forms become plain ones. */
function wordsOf(text: string): string[] {
  return text
    .normalize('NFKD')
    .replace(/[\p{Mark}\p{Default_Ignorable_Code_Point}]/gu, '')
    .toUpperCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '');
}
