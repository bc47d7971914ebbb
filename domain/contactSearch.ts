/** One thing that is looked for: any of these spellings, as a part of one column. */
export interface SearchTerm {
  spellings: readonly string[];
}

/** Most terms of one search; each is looked for in every contact that has those before. */
export const SEARCH_TERMS_MAX = 10;

// "Kowalski, Jan" is Kowalski and Jan.
const BETWEEN_WORDS = /[,;]*(?:\s+|$)/u;
// Numbers are written with spaces and hyphens, and stored without.
const OF_A_NUMBER = /^[+\d().-]+$/;
const DIGIT = /\d/;
const NOT_STORED = /[^+\d]/g;

/**
 * Reads what somebody typed into a search box (v2.3.0, Contacts, `q`): words, each to be found somewhere in the contact, in any
 * order. What stands side by side as groups of digits is one number (`500 100 200`), looked for without what is written
 * between them, and as it stands, as names may have digits too.
 */
export function searchTerms(q: string): SearchTerm[] {
  const terms: SearchTerm[] = [];
  let number: string[] = [];
  const endNumber = () => {
    if (number.some((word) => DIGIT.test(word))) terms.push(numberTerm(number.join(' ')));
    else terms.push(...number.map((word) => ({ spellings: [word] })));
    number = [];
  };
  for (const word of q.split(BETWEEN_WORDS).filter((one) => one !== '')) {
    if (OF_A_NUMBER.test(word)) number.push(word);
    else {
      endNumber();
      terms.push({ spellings: [word] });
    }
  }
  endNumber();
  return terms;
}

function numberTerm(written: string): SearchTerm {
  return { spellings: [...new Set([written, written.replace(NOT_STORED, '')])] };
}
