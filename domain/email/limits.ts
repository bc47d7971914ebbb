/** Addresses of each kind (v1.2.0, Limits). */
export const RECIPIENTS_MAX = { to: 50, cc: 20, bcc: 20 } as const;

/** Characters (v1.2.0, POST /v1/email). */
export const SUBJECT_MAX = 200;
export const BODY_MAX = 500_000;
export const FROM_NAME_MAX = 100;
export const EMAIL_IDX_MAX = 64;

/** What one address in `to`, `cc` or `bcc` costs (v1.2.0, Limits), in grosze. */
export const GROSZE_AN_ADDRESS = 1;

/** All files of an e-mail together, in bytes; ours. */
export const ATTACHMENTS_BYTES_MAX = 10_000_000;
export const ATTACHMENTS_MAX = 20;

/** For so long after the hand-over an e-mail's workflow waits for events, and before it for a provider to take it. */
export const EVENTS_FOR_MS = 72 * 3_600_000;
