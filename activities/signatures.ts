import { createHmac } from 'node:crypto';
import { decrypt } from '../db/encryption.ts';
import type { WebhookEvent } from '../db/webhooks/webhooks.ts';

export const SIGNATURE_HEADER = 'X-Service-Signature';
/** The same by the other secret, for a day after a change. */
const OTHER_SIGNATURE_HEADER = 'X-Service-Signature-Other';

/**
 * The signature headers of one attempt. `X-Service-Signature` has one signature and nothing else, as receivers written
 * from the interface's document read it (v2.3.0, Events). While two secrets are good it is made with the one that the
 * receiver took last, at first the old one; an attempt after a refused one takes the other. So a receiver that knows either
 * of them, and refuses what it cannot verify, gets every event within its three attempts.
 *
 * @param attempt from 1, in this delivery
 * @param now epoch milliseconds
 */
export function signaturesOf(
  { accountId, secret, secretBefore, secretInUse }: WebhookEvent,
  secretsKey: Buffer,
  body: string,
  attempt: number,
  now: number,
): { headers: Record<string, string>; signedWithNew: boolean } {
  if (secret === null) throw new Error('an account with a webhook has a secret');
  const t = Math.floor(now / 1000);
  const signed = (stored: Buffer): string => sign(body, decrypt(secretsKey, accountId, stored), t);
  if (secretBefore === null) {
    return { headers: { [SIGNATURE_HEADER]: signed(secret) }, signedWithNew: true };
  }
  const signedWithNew = attempt % 2 === 1 ? secretInUse : !secretInUse;
  const [first, other] = signedWithNew ? [secret, secretBefore] : [secretBefore, secret];
  return {
    headers: { [SIGNATURE_HEADER]: signed(first), [OTHER_SIGNATURE_HEADER]: signed(other) },
    signedWithNew,
  };
}

/**
 * The signature of a webhook call (v2.3.0, Events): hexadecimal HMAC-SHA256 of `<t>.<raw body>`.
 * @param t Unix time in seconds
 */
export function sign(body: string, secret: string, t: number): string {
  return `t=${t},v1=${createHmac('sha256', secret).update(`${t}.${body}`).digest('hex')}`;
}
