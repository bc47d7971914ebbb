/** Most numbers that are listed at once (v2.3.0, Limits). */
export const BLACKLIST_ADDED_MAX = 1000;
/** Longest reason in characters, and the one of entries that say none. */
export const BLACKLIST_REASON_MAX = 200;
export const BLACKLIST_REASON_STANDARD = 'manual';
/** The latest end that an entry may have, epoch milliseconds: what the database can hold and show. */
export const BLACKLIST_LATEST_END = Date.UTC(9999, 11, 31);
