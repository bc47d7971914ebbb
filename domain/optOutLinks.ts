/** Characters of an opt-out token: about 60 bits, beyond all guessing. */
export const OPT_OUT_TOKEN_LENGTH = 10;

/** In place of a token: as long, and none. */
export const NO_OPT_OUT_TOKEN = 'X'.repeat(OPT_OUT_TOKEN_LENGTH);

const LINK = new RegExp(`(/o/)[0-9A-Za-z]{${OPT_OUT_TOKEN_LENGTH}}(?![0-9A-Za-z])`, 'g');

/** A sent text with opt-out links that lead nowhere: whoever opens the real one opts the recipient out. */
export function withoutOptOutTokens(text: string): string {
  return text.replace(LINK, `$1${NO_OPT_OUT_TOKEN}`);
}
