import { addressKey, emailAddress } from './email/address.ts';

/** The address that a person signs in by: in lower case, the domain in A-labels (IDNA). Null for none that mail reaches. */
export function signInAddress(typed: string): string | null {
  const address = emailAddress(typed.normalize('NFC').trim());
  return address === null ? null : addressKey(address);
}

// What the panel has below its own path. Dots, slashes side by side and backslashes make other addresses of it.
const OWN_PATH = /^\/panel(?:\/[\w-]+)*(?:\?[\w=&%+-]*)?$/;
const PATH_MAX = 500;

/** A path of the panel to open after signing in; null for anything else, another site's address above all. */
export function ownPath(given: string): string | null {
  return given.length <= PATH_MAX && OWN_PATH.test(given) ? given : null;
}
