// A lone surrogate is no character, and PostgreSQL stores no NUL.
const UNSTORABLE = /[\0\p{Surrogate}]/u;
const CONTROL = /[\p{Cc}\p{Zl}\p{Zp}]/u;

/** The greatest number that may become text: of 15 digits, which JSON keeps as they were written. */
export const EXACT_MAX = 999_999_999_999_999;

/** Whether a text can be stored and shown as it is: no NUL, no lone surrogates. */
export function isStorable(text: string): boolean {
  return !UNSTORABLE.test(text);
}

/** Whether a text stands on one line, with no control characters in it. */
export function isOneLine(text: string): boolean {
  return !CONTROL.test(text);
}
