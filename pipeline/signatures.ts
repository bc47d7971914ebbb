import { createHmac } from 'node:crypto';
import { decrypt } from '../db/encryption.ts';
import type { WebhookEvent } from '../db/webhooks/webhooks.ts';

export const SIGNATURE_HEADER = 'X-Service-Signature';
/** The same by the secret before, for a day after a change. */
export const PREVIOUS_SIGNATURE_HEADER = 'X-Service-Signature-Previous';

/**
 * The signature headers of one attempt. `X-Service-Signature` has one signature and nothing else, as receivers written
 * from the interface's document read it (v2.3.0, Events), always by the secret that the account was shown last.
 *
 * @param now epoch milliseconds
 */
export function signaturesOf(
  { accountId, secret, secretBefore }: Pick<WebhookEvent, 'accountId' | 'secret' | 'secretBefore'>,
  secretsKey: Buffer,
  body: string,
  now: number,
): Record<string, string> {
  if (secret === null) throw new Error('an account with a webhook has a secret');
  const t = Math.floor(now / 1000);
  const signed = (stored: Buffer): string => sign(body, decrypt(secretsKey, accountId, stored), t);
  return {
    [SIGNATURE_HEADER]: signed(secret),
    ...(secretBefore === null ? {} : { [PREVIOUS_SIGNATURE_HEADER]: signed(secretBefore) }),
  };
}

/**
 * The signature of a webhook call (v2.3.0, Events): hexadecimal HMAC-SHA256 of `<t>.<raw body>`.
 * @param t Unix time in seconds
 */
export function sign(body: string, secret: string, t: number): string {
  return `t=${t},v1=${createHmac('sha256', secret).update(`${t}.${body}`).digest('hex')}`;
}
