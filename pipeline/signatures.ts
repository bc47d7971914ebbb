import { createHmac } from 'node:crypto';
import { decrypt } from '../db/encryption.ts';
import type { WebhookEvent } from '../db/webhooks/webhooks.ts';
import { PREVIOUS_SIGNATURE_HEADER, SIGNATURE_HEADER, signatureOf, signedText } from '../domain/webhooks.ts';

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
 * The signature of a webhook call (v2.3.0, Events), as its header has it.
 * @param t Unix time in seconds
 */
export function sign(body: string, secret: string, t: number): string {
  return signatureOf(t, createHmac('sha256', secret).update(signedText(t, body)).digest('hex'));
}
