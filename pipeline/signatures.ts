import { createHmac } from 'node:crypto';
import { decrypt } from '../db/encryption.ts';
import type { WebhookEvent } from '../db/webhooks/webhooks.ts';
import {
  earlierSignatureOf,
  earlierSignedText,
  isEarlierEvent,
  PREVIOUS_SIGNATURE_HEADER,
  SIGNATURE_HEADER,
  signatureOf,
  signedText,
} from '../domain/webhooks.ts';

/**
 * The signature headers of one attempt. `X-Service-Signature` has one signature and nothing else, as receivers written
 * from the interface's document read it (v2.3.0, Events), always by the secret that the account was shown last.
 *
 * @param now epoch milliseconds
 */
export function signaturesOf(
  {
    accountId,
    type,
    secret,
    secretBefore,
  }: Pick<WebhookEvent, 'accountId' | 'type' | 'secret' | 'secretBefore'>,
  secretsKey: Buffer,
  body: string,
  now: number,
): Record<string, string> {
  if (secret === null) throw new Error('an account with a webhook has a secret');
  const t = Math.floor(now / 1000);
  const signBy = isEarlierEvent(type) ? signEarlier : sign;
  const signed = (stored: Buffer): string => signBy(body, decrypt(secretsKey, accountId, stored), t);
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

/** The same of the earlier interface (v1.2.0, Events). */
function signEarlier(body: string, secret: string, t: number): string {
  return earlierSignatureOf(t, createHmac('sha256', secret).update(earlierSignedText(t, body)).digest('hex'));
}
