import { asciiName } from './asciiName.ts';

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
