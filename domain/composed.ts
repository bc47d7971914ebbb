// A run of marks as no writing has it (Unicode Standard Annex 15, stream-safe text: at most 30).
const ENDLESS_MARKS = /\p{M}{31}/u;

/** Composing makes one unit of at most so many. */
export const COMPOSED_OF = 4;

/**
 * Text with its letters composed (NFC), so that two spellings of one word are equal. Text with more than 30 marks on one
 * letter stays as it is: composing takes time that grows with the square of their number, minutes for a body of them.
 */
export function composed(text: string): string {
  return ENDLESS_MARKS.test(text) ? text : text.normalize('NFC');
}
