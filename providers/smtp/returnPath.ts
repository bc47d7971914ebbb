import { createHmac, timingSafeEqual } from 'node:crypto';
import { returnPathOf } from '../../domain/email/dnsRecords.ts';
import { ID_BODY } from '../../domain/ids.ts';

// Hexadecimal, as a mail server may change the case of a local part: 80 bits, 20 characters of the 64 that it may have.
const MAC_BYTES = 10;
const LOCAL = new RegExp(`^b-(${ID_BODY})-([0-9a-f]{${2 * MAC_BYTES}})$`);

/**
 * Where the bounces of one e-mail go (VERP): nobody can make one for an e-mail whose return path they have not seen.
 * @param domain of the sender, in A-labels
 */
export function returnPath(key: string, emailId: string, domain: string): string {
  const body = emailId.slice('em_'.length);
  const host = returnPathOf(domain);
  return `b-${body}-${macOf(key, body, host).toString('hex')}@${host}`;
}

/**
 * The e-mail that a return path belongs to; null for an address that is no return path of ours.
 * @param keys any of which it may be made with
 */
export function emailOfReturnPath(keys: readonly string[], address: string): string | null {
  const lower = address.toLowerCase();
  const at = lower.lastIndexOf('@');
  const [, body, mac] = LOCAL.exec(lower.slice(0, at)) ?? [];
  if (body === undefined || mac === undefined) return null;
  const given = Buffer.from(mac, 'hex');
  const host = lower.slice(at + 1);
  const isOurs = keys.some((key) => timingSafeEqual(macOf(key, body, host), given));
  return isOurs ? `em_${body}` : null;
}

function macOf(key: string, body: string, host: string): Buffer {
  return createHmac('sha256', key).update(`return path ${body}@${host}`).digest().subarray(0, MAC_BYTES);
}
