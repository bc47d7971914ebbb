/** How a keyword may be written; it is kept in upper case (v2.3.0, Inbound replies). */
export const KEYWORD = /^[A-Za-z0-9]{2,10}$/;

// Spaces, quotes and other signs may come before the first word, which ends where neither letter nor digit goes on.
const FIRST_WORD = /^[^\p{L}\p{M}\p{N}]*([\p{L}\p{M}\p{N}]+)/u;
// "SKLEP: tak", "SKLEP - tak", "SKLEP-tak"; a sign that belongs to what follows stays: "SKLEP -5".
const SEPARATORS = /^[:;,.!?/|)\]"'”’»–—-]*\s*(?:[:;,./|–—-]+\s+)*/u;
// Letters may be written with several code units each; beyond this it is no keyword in any writing.
const LONGEST_WORD = 40;

/**
 * Reads the first word of a reply as a keyword (v2.3.0, Inbound replies).
 * @returns the keyword in upper case and the text behind it, without the signs and spaces that separate the two; null
 *   when the first word cannot be a keyword (2 to 10 letters A to Z or digits)
 */
export function splitKeyword(text: string): { keyword: string; rest: string } | null {
  const match = FIRST_WORD.exec(text);
  if (match?.[1] === undefined || match[1].length > LONGEST_WORD) return null;
  const word = match[1].normalize('NFKC');
  if (!KEYWORD.test(word)) return null;
  const behind = text.slice(match[0].length);
  return { keyword: word.toUpperCase(), rest: behind.replace(SEPARATORS, '') };
}
