/** Bounds on what our own staff may enter: no real account comes near, and every sum stays far below 2^53. Grosze net. */
export const MAX_GROSZE = 100_000_000_000;
/** The highest price per part, or per look-up, grosze net: it fits a 32-bit column. */
export const MAX_PRICE = 100_000;
/** Requests per minute. */
export const MAX_RATE_LIMIT = 1_000_000;
/** Characters of an account's name. */
export const ACCOUNT_NAME_LENGTH = 100;
/** Characters of the reason for a correction in the ledger. */
export const NOTE_LENGTH = 500;
