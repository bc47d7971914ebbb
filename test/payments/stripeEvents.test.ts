import Stripe from 'stripe';
import { expect, it } from 'vitest';
import { ForgedEventError } from '../../payments/processor.ts';
import { stripeEvents } from '../../payments/stripe/events.ts';
import { dispute, intent, OURS, refund, session } from './stripeServer.ts';

const SECRET = 'whsec_current';
const FORMER = 'whsec_former';
const FIVE_MINUTES = 300;
const read = stripeEvents([SECRET, FORMER]);
const seconds = () => Math.floor(Date.now() / 1000);

const stripe = new Stripe('sk_test_1');

function signed(payload: string, options: { secret?: string; timestamp?: number } = {}): string {
  return stripe.webhooks.generateTestHeaderString({ payload, secret: SECRET, ...options });
}

const bodyOf = (object: object, type = 'checkout.session.completed') =>
  JSON.stringify({ id: 'evt_1', object: 'event', type, livemode: true, data: { object } });

const BODY = bodyOf(session({ payment_intent: 'pi_1' }));

it.each<[string, object, { id: string | null; reference: string | null } | null]>([
  ['a session', session({ payment_intent: 'pi_1' }), { id: OURS, reference: 'pi_1' }],
  ['a session without a payer', session({ payment_intent: null }), { id: OURS, reference: null }],
  ['a payment', intent(), { id: OURS, reference: 'pi_1' }],
  [
    'a charge',
    { object: 'charge', id: 'ch_1', metadata: { payment: OURS }, payment_intent: 'pi_1' },
    { id: OURS, reference: 'pi_1' },
  ],
  ['a dispute', dispute('du_1', 'lost', []), { id: null, reference: 'pi_1' }],
  ['a refund', refund('re_1', 50, 'failed'), { id: null, reference: 'pi_1' }],
  [
    'a session of somebody else',
    session({ client_reference_id: 'cl_01k0000000000000000000000a', payment_intent: 'pi_2' }),
    { id: null, reference: 'pi_2' },
  ],
  ['nothing that is known', session({ client_reference_id: null, metadata: {}, payment_intent: null }), null],
  ['something else', { object: 'customer', id: 'cus_1', metadata: { payment: OURS } }, null],
])('reads what an event is about: %s', (_name, object, expected) => {
  const body = bodyOf(object);
  expect(read(Buffer.from(body), { 'stripe-signature': signed(body) })).toEqual(expected);
});

it('reads nothing from an event without an object', () => {
  const body = JSON.stringify({ object: 'v2.core.event', type: 'v1.billing.meter.no_meter_found' });
  expect(read(Buffer.from(body), { 'stripe-signature': signed(body) })).toBeNull();
});

it.each([
  ['the other secret, while it is rotated', signed(BODY, { secret: FORMER })],
  ['both, in one header', `${signed(BODY, { secret: 'whsec_unknown' })},${signed(BODY).split(',')[1]}`],
  ['one just in time', signed(BODY, { timestamp: seconds() - FIVE_MINUTES + 30 })],
])('accepts a signature with %s', (_name, header) => {
  expect(read(Buffer.from(BODY), { 'stripe-signature': header })).toEqual({ id: OURS, reference: 'pi_1' });
});

it.each([
  ['none', undefined],
  ['an empty one', ''],
  ['one of an unknown secret', signed(BODY, { secret: 'whsec_unknown' })],
  ['an old one', signed(BODY, { timestamp: seconds() - FIVE_MINUTES - 1 })],
  ['one of the future', signed(BODY, { timestamp: seconds() + FIVE_MINUTES + 60 })],
  ['one with another time', signed(BODY).replace(/^t=\d+/, `t=${seconds() - 1}`)],
  ['one of the test scheme', signed(BODY).replace('v1=', 'v0=')],
  ['a shortened one', signed(BODY).slice(0, -1)],
  ['one of another body', signed(BODY.replace('pi_1', 'pi_2'))],
])('refuses an event by its signature: %s', (_name, header) => {
  const headers = header === undefined ? {} : { 'stripe-signature': header };
  expect(() => read(Buffer.from(BODY), headers)).toThrow(ForgedEventError);
});

it('refuses a body that was changed in one byte, wherever it is', () => {
  const header = signed(BODY);
  for (let at = 0; at < BODY.length; at++) {
    const changed = Buffer.from(BODY);
    changed[at]! ^= 1;
    expect(() => read(changed, { 'stripe-signature': header }), `byte ${at}`).toThrow(ForgedEventError);
  }
});
