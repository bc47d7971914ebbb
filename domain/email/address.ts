import punycode from 'punycode.js';

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

/**
 * A domain name in A-labels and small letters (IDNA, as browsers do it); null for what is none. An A-label has to stand for something, and to
 * be how that is written: Node.js from 26 on takes any of them.
 */
export function asciiName(name: string): string | null {
  const ascii = hostOf(name);
  return ascii !== null && ascii.split('.').every(isItsOwn) ? ascii : null;
}

function isItsOwn(label: string): boolean {
  if (!label.startsWith('xn--')) return true;
  try {
    return hostOf(punycode.decode(label.slice(4))) === label;
  } catch {
    return false;
  }
}

function hostOf(name: string): string | null {
  const address = `http://${name}/`;
  return URL.canParse(address) ? new URL(address).hostname : null;
}

// What stands before it in DNS has to have room: `goniec-01234567._domainkey.`
const DKIM_PREFIX_LENGTH = 27;
const NAME_MAX = 253 - DKIM_PREFIX_LENGTH;
// Of what is typed, before it is looked into: in ASCII a name may be longer than in letters, never shorter.
const TYPED_MAX = 1_000;

// Of ASCII only letters, digits, hyphen and dot: all else has a meaning in a URL, or none in a name that is mailed from.
const OTHER_ASCII = /[\0-,/:-@[-`{-\x7f]/;
const LABEL = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?';
// The last one begins with a letter: an IPv4 address is no name.
const NAME = new RegExp(`^(?:${LABEL}\\.)+[a-z](?:[a-z0-9-]{0,61}[a-z0-9])$`);

/**
 * A domain's name as DNS has it: in A-labels (IDNA, as browsers do it) and small letters. Null for what is none: an address, a name of
 * one label, with a dot at the end, an underscore or a wildcard, or too long for the records of a sender domain.
 */
export function readDomainName(typed: string): string | null {
  if (typed.length > TYPED_MAX || OTHER_ASCII.test(typed)) return null;
  const name = asciiName(typed);
  return name !== null && name.length <= NAME_MAX && NAME.test(name) ? name : null;
}

/**
 * Where a domain's DKIM key is found. Each claim of a name has its own, so that a key of an earlier one, which may still be published
 * and needed, is never in the way.
 * @param id the sender domain's
 */
export function selectorOf(id: string): string {
  return `goniec-${id.slice(-8)}`;
}

const ADDRESS_MAX = 254;
const LOCAL_MAX = 64;
const DOMAIN_MAX = 253;
// RFC 5322, dot-atom. Quoted local parts are allowed there, and written by nobody but those who try something.
const LOCAL = /^[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/;
// What is not part of a name in any script, or means something in an address of the web.
const NO_NAME = /[\p{Cc}\p{Cf}\p{Z}\s"(),:;<>@[\\\]/?#%]/u;
const ASCII_NAME = /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+(?:xn--[a-z0-9-]{0,57}[a-z0-9]|[a-z]{2,63})$/;

/**
 * A domain name as DNS has it: in ASCII (IDNA), small letters, with two labels at least; null for what is none. No addresses of
 * machines.
 */
export function domainName(text: string): string | null {
  if (text.length === 0 || text.length > DOMAIN_MAX || NO_NAME.test(text)) return null;
  const name = asciiName(text);
  return name !== null && name.length <= DOMAIN_MAX && ASCII_NAME.test(name) ? name : null;
}

/**
 * An e-mail address as it is sent to: its local part as it was written, its domain in ASCII and small letters. Nothing but the
 * address: no display name, no brackets, no comments, no line breaks.
 * @returns null for what is no such address
 */
export function emailAddress(text: string): string | null {
  if (text.length > ADDRESS_MAX) return null;
  const at = text.lastIndexOf('@');
  const local = text.slice(0, Math.max(at, 0));
  if (local.length > LOCAL_MAX || !LOCAL.test(local)) return null;
  const domain = domainName(text.slice(at + 1));
  if (domain === null) return null;
  const address = `${local}@${domain}`;
  return address.length <= ADDRESS_MAX ? address : null;
}

/** The domain of an address that {@link emailAddress} made. */
export function domainOf(address: string): string {
  return address.slice(address.lastIndexOf('@') + 1);
}

/** By what two addresses are the same person's: no mail server in use tells small letters from great ones. */
export function addressKey(address: string): string {
  return address.toLowerCase();
}

/** An address that shows where it belongs and not to whom: `j…@sklep.example`. */
export function maskAddress(address: string): string {
  return `${address.slice(0, 1)}…@${domainOf(address)}`;
}

/** What stands for an address that was erased; it is nobody's. */
export const ERASED_ADDRESS = '***';
