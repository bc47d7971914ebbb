import punycode from 'punycode.js';

/** Addresses per field (v1.2.0, Limits). */
export const RECIPIENTS_MAX = { to: 50, cc: 20, bcc: 20 } as const;

/** Characters (v1.2.0, POST /v1/email). */
export const SUBJECT_MAX = 200;
export const BODY_MAX = 500_000;
export const FROM_NAME_MAX = 100;
export const EMAIL_IDX_MAX = 64;

/** Price of one address in `to`, `cc` or `bcc`, grosze (v1.2.0, Limits). */
export const GROSZE_AN_ADDRESS = 1;

/** All attachments of an e-mail together; our limit. */
export const ATTACHMENTS_BYTES_MAX = 10_000_000;
export const ATTACHMENTS_MAX = 20;

/** How long an e-mail's workflow waits for events after submission, and before it for a provider to accept the e-mail. */
export const EVENTS_FOR_MS = 72 * 3_600_000;

/** A domain in lower-case A-labels (IDNA, as browsers do), or null. Labels must be canonical: Node.js from 26 on accepts any A-label. */
export function asciiName(name: string): string | null {
  const ascii = hostOf(name);
  return ascii !== null && ascii.split('.').every(isCanonicalLabel) ? ascii : null;
}

function isCanonicalLabel(label: string): boolean {
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

// DNS names must leave space for the DKIM record: `goniec-01234567._domainkey.`
const DKIM_PREFIX_LENGTH = 27;
const NAME_MAX = 253 - DKIM_PREFIX_LENGTH;
// Bound on the input before it is parsed: a name may be longer in ASCII, never shorter.
const TYPED_MAX = 1_000;

// ASCII except letters, digits, hyphen and dot: it has a meaning in a URL, or none in a mail domain.
const OTHER_ASCII = /[\0-,/:-@[-`{-\x7f]/;
const LABEL = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?';
// The last label begins with a letter, which excludes IPv4 addresses.
const NAME = new RegExp(`^(?:${LABEL}\\.)+[a-z](?:[a-z0-9-]{0,61}[a-z0-9])$`);

/** A sender domain's name in lower-case A-labels, or null: also for an IP address, one label only, or a name too long for DNS records. */
export function readDomainName(typed: string): string | null {
  if (typed.length > TYPED_MAX || OTHER_ASCII.test(typed)) return null;
  const name = asciiName(typed);
  return name !== null && name.length <= NAME_MAX && NAME.test(name) ? name : null;
}

/** DKIM selector of a sender domain, by its id. Unique per claim of a name: an earlier claim's key may still be published and in use. */
export function selectorOf(id: string): string {
  return `goniec-${id.slice(-8)}`;
}

const ADDRESS_MAX = 254;
const LOCAL_MAX = 64;
const DOMAIN_MAX = 253;
// RFC 5322, dot-atom. It allows quoted local parts too, which only attacks use.
const LOCAL = /^[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/;
// Not part of a name in any script, or with a meaning in a URL.
const NO_NAME = /[\p{Cc}\p{Cf}\p{Z}\s"(),:;<>@[\\\]/?#%]/u;
const ASCII_NAME = /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+(?:xn--[a-z0-9-]{0,57}[a-z0-9]|[a-z]{2,63})$/;

/** A domain name as in DNS: lower-case ASCII (IDNA), at least two labels; null for anything else, such as an IP address. */
export function domainName(text: string): string | null {
  if (text.length === 0 || text.length > DOMAIN_MAX || NO_NAME.test(text)) return null;
  const name = asciiName(text);
  return name !== null && name.length <= DOMAIN_MAX && ASCII_NAME.test(name) ? name : null;
}

/** A bare e-mail address, local part as written, domain in lower-case ASCII; null for anything else, such as display names. */
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

export function domainOf(address: string): string {
  return address.slice(address.lastIndexOf('@') + 1);
}

/** Key to compare addresses by: mail servers in use ignore case. */
export function addressKey(address: string): string {
  return address.toLowerCase();
}

/** An address that shows its domain but not its owner: `j…@sklep.example`. */
export function maskAddress(address: string): string {
  return `${address.slice(0, 1)}…@${domainOf(address)}`;
}

/** Replaces an erased address; never a valid one. */
export const ERASED_ADDRESS = '***';
