import { createHmac, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import { isId } from '../../domain/ids.ts';
import { type EventReader, ForgedEventError } from '../processor.ts';

// Nothing of the SDK is loaded here: each API process would hold 20 MB more for one HMAC.
const TOLERANCE_S = 300;
const TIMESTAMP = /(?:^|,)t=([0-9]{1,12})(?=,|$)/;
const SIGNATURE = /(?:^|,)v1=([0-9a-f]{64})(?=,|$)/g;

const KINDS = new Set(['checkout.session', 'payment_intent', 'charge', 'dispute', 'refund']);

// The endpoint at Stripe has an API version of its own, so only what has been the same in all of them is read.
const snapshot = z.object({
  object: z.string(),
  id: z.string(),
  client_reference_id: z.string().nullish(),
  payment_intent: z.string().nullish(),
  metadata: z.object({ payment: z.string().optional() }).nullish(),
});
const event = z.object({ data: z.object({ object: snapshot }) });

/**
 * Reads events that Stripe signed within five minutes (https://docs.stripe.com/webhooks/signature).
 * @param secrets of the endpoint, `whsec_…`; two while it is rotated
 */
export function stripeEvents(secrets: readonly string[]): EventReader {
  return (body, { 'stripe-signature': header }) => {
    if (typeof header !== 'string' || !isSigned(secrets, header, body)) throw new ForgedEventError();
    const parsed = event.safeParse(JSON.parse(body.toString()));
    if (!parsed.success || !KINDS.has(parsed.data.data.object.object)) return null;
    const { object, id, client_reference_id, payment_intent, metadata } = parsed.data.data.object;
    // Others may use the same Stripe account, with ids of their own.
    const ours = client_reference_id ?? metadata?.payment ?? '';
    const about = {
      id: isId('pay', ours) ? ours : null,
      reference: (object === 'payment_intent' ? id : payment_intent) ?? null,
    };
    return about.id === null && about.reference === null ? null : about;
  };
}

// There are several signatures while the secret is rotated at Stripe.
function isSigned(secrets: readonly string[], header: string, body: Buffer): boolean {
  const [, timestamp = ''] = TIMESTAMP.exec(header) ?? [];
  if (timestamp === '' || Math.abs(Date.now() / 1000 - Number(timestamp)) > TOLERANCE_S) return false;
  const given = [...header.matchAll(SIGNATURE)].map(([, hex = '']) => Buffer.from(hex, 'hex'));
  return secrets.some((secret) => {
    const right = createHmac('sha256', secret).update(`${timestamp}.`).update(body).digest();
    return given.some((signature) => timingSafeEqual(signature, right));
  });
}
