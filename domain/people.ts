import { addressKey, emailAddress } from './email/address.ts';
import { ID_BODY } from './ids.ts';

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

const INVITATION = new RegExp(`^/panel/invitation/(inv_${ID_BODY})$`);

/** Where the panel shows an invitation. */
export function invitationPath(id: string): string {
  return `/panel/invitation/${id}`;
}

/** The invitation that a path of the panel shows; null: it shows none. */
export function invitationOf(path: string | null): string | null {
  return INVITATION.exec(path ?? '')?.[1] ?? null;
}
