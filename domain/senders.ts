const ALPHANUMERIC = /^(?=.*[A-Za-z])[A-Za-z0-9][A-Za-z0-9 .&_-]{0,10}$/;
const NUMERIC = /^[0-9]{3,15}$/;

/**
 * Whether a text can be a sender: a name of 1 to 11 ASCII characters (letters, digits, space, `.`, `&`,
 * `_`, `-`) that begins with a letter or digit, has a letter and does not end in a space; or a number of
 * 3 to 15 digits without plus.
 *
 * The 11 characters are the network's limit for alphanumeric senders (3GPP TS 23.040, 9.1.2.5). Says
 * nothing on whether the sender is registered or active.
 */
export function isSenderName(input: string): boolean {
  return (ALPHANUMERIC.test(input) && !input.endsWith(' ')) || isNumber(input);
}

/** Whether a sender is a number rather than a name. */
export function isNumber(sender: string): boolean {
  return NUMERIC.test(sender);
}
