/** Bounds on what our own staff may enter: no real account comes near, and every sum stays far below 2^53. Grosze net. */
export const MAX_GROSZE = 100_000_000_000;
/** The highest price per part, or per look-up, grosze net: it fits a 32-bit column. */
export const MAX_PRICE = 100_000;
/** Requests per minute. */
export const MAX_RATE_LIMIT = 1_000_000;
/** Recipients, and grosze net, beyond which a send through a tool has to be agreed to, at most. */
export const MAX_CONFIRM_RECIPIENTS = 10_000;
export const MAX_CONFIRM_GROSZE = 100_000_000;
/** Characters of an account's name. */
export const ACCOUNT_NAME_LENGTH = 100;
/** Characters of the reason for a correction in the ledger. */
export const NOTE_LENGTH = 500;
/** Parts per second on a route. */
export const MAX_PARTS_PER_SECOND = 100_000;
/** Seconds without a session after which a route counts as broken: at most a day. */
export const MAX_BROKEN_AFTER_S = 86_400;
export const DEFAULT_BROKEN_AFTER_S = 10;
/** The share of a rule among equal ones. */
export const MAX_WEIGHT = 1_000_000;
export const DEFAULT_WEIGHT = 100;

/** Characters of a token's label, at most. */
export const TOKEN_LABEL_LENGTH = 100;
/** Requests a minute of a token (v1.2.0, Limits). */
export const DEFAULT_TOKEN_RATE = 100;
