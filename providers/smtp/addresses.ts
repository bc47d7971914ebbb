import { asciiName } from '../../domain/email/asciiName.ts';

const ATOM = "[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+";
const LOCAL = new RegExp(`^(?=.{1,64}$)${ATOM}(\\.${ATOM})*$`);
const LABELS = /^[\p{L}\p{N}\p{M}-]+(\.[\p{L}\p{N}\p{M}-]+)*$/u;
const HOST =
  /^(?=.{1,253}$)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)*(?![0-9]+$)[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;

/**
 * An address as it is written to a mail server, its domain in A-labels (RFC 5890): a dot-atom and a host name of ASCII, so that
 * nothing in it can be read as another command, parameter or recipient.
 * @returns null for what cannot be written so: a local part beyond ASCII or in quotes, an address literal, a control character
 */
export function wireAddress(address: string): string | null {
  const at = address.lastIndexOf('@');
  const local = address.slice(0, at);
  if (at < 1 || !LOCAL.test(local)) return null;
  const domain = wireDomain(address.slice(at + 1));
  return domain === null ? null : `${local}@${domain}`;
}

/** A domain in A-labels and small letters; null for what is none. */
export function wireDomain(domain: string): string | null {
  if (!LABELS.test(domain)) return null;
  const ascii = asciiName(domain);
  return ascii !== null && HOST.test(ascii) ? ascii : null;
}
