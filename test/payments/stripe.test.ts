import Stripe from 'stripe';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { PaymentState } from '../../domain/payments.ts';
import { type PaymentProcessor, PaymentRefusedError } from '../../payments/processor.ts';
import { stripeProcessor } from '../../payments/stripe/processor.ts';
import * as wire from './stripeServer.ts';

const { ACCOUNT, OURS } = wire;
const KEY = 'sk_test_secret';
const WANTED = {
  id: OURS,
  accountId: ACCOUNT,
  grossGrosze: 6150,
  description: 'Doładowanie Goniec 50,00 zł',
};
const CHECKOUT = {
  ...WANTED,
  language: 'pl',
  returnUrl: 'https://panel.example/payments/1',
  expiresAt: new Date('2026-11-30T12:00:00.900Z'),
  saveCard: false,
} as const;
const CARD = { customer: 'cus_1', method: 'pm_1', brand: 'visa', last4: '4242' };
const SESSION = { session: 'cs_test_1', reference: null };

let server: wire.StripeServer;
let processor: PaymentProcessor;

beforeAll(async () => {
  server = await wire.startStripeServer();
  processor = stripeProcessor({ key: KEY, baseUrl: server.url });
});
afterAll(() => server.close());

it.each([
  ['sk_test_1', false],
  ['rk_test_1', false],
  ['sk_live_1', true],
  ['rk_live_1', true],
])('knows by its key %s whether money is real: %s', (key, live) => {
  expect(stripeProcessor({ key }).live).toBe(live);
});

const OF_CHECKOUT = {
  mode: 'payment',
  'line_items[0][quantity]': '1',
  'line_items[0][price_data][currency]': 'pln',
  'line_items[0][price_data][unit_amount]': '6150',
  'line_items[0][price_data][product_data][name]': WANTED.description,
  'adaptive_pricing[enabled]': 'false',
  client_reference_id: OURS,
  'metadata[payment]': OURS,
  'metadata[account]': ACCOUNT,
  'payment_intent_data[metadata][payment]': OURS,
  'payment_intent_data[metadata][account]': ACCOUNT,
  locale: 'pl',
  success_url: CHECKOUT.returnUrl,
  cancel_url: CHECKOUT.returnUrl,
  expires_at: String(Date.parse('2026-11-30T11:55:00Z') / 1000),
  'allowed_payment_method_types[0]': 'card',
};

it.each([
  [
    'by any method',
    false,
    { 'allowed_payment_method_types[1]': 'blik', 'allowed_payment_method_types[2]': 'p24' },
  ],
  [
    'by a card that is kept',
    true,
    { customer_creation: 'always', 'payment_intent_data[setup_future_usage]': 'off_session' },
  ],
])('starts a checkout %s, once for an id of ours', async (_name, saveCard, more) => {
  server.answer({ 'POST /v1/checkout/sessions': { json: wire.session({ status: 'open' }) } });
  const started = await processor.startCheckout({ ...CHECKOUT, saveCard });
  expect(started).toEqual({ session: 'cs_test_1', url: 'https://checkout.stripe.com/c/pay/cs_test_1' });
  expect(server.calls).toHaveLength(1);
  const [{ form, headers }] = server.calls as [wire.StripeCall];
  expect(form).toEqual({ ...OF_CHECKOUT, ...more });
  expect(headers).toMatchObject({
    authorization: `Bearer ${KEY}`,
    'idempotency-key': OURS,
    'stripe-version': Stripe.API_VERSION,
  });
  expect(headers).not.toHaveProperty('x-stripe-client-telemetry');
});

it('charges a kept card without the payer', async () => {
  server.answer({ 'POST /v1/payment_intents': { json: wire.intent() } });
  expect(await processor.chargeCard(WANTED, CARD)).toEqual({ reference: 'pi_1' });
  const [{ form, headers }] = server.calls as [wire.StripeCall];
  expect(form).toEqual({
    amount: '6150',
    currency: 'pln',
    description: WANTED.description,
    customer: 'cus_1',
    payment_method: 'pm_1',
    'automatic_payment_methods[enabled]': 'true',
    'automatic_payment_methods[allow_redirects]': 'never',
    confirm: 'true',
    off_session: 'true',
    'metadata[payment]': OURS,
    'metadata[account]': ACCOUNT,
  });
  expect(headers['idempotency-key']).toBe(OURS);
});

it('cancels a charge for which the bank asks for the payer', async () => {
  const waiting = wire.intent({ status: 'requires_action' });
  server.answer({
    'POST /v1/payment_intents': { json: waiting },
    'POST /v1/payment_intents/pi_1/cancel': { json: { ...waiting, status: 'canceled' } },
  });
  await expect(processor.chargeCard(WANTED, CARD)).rejects.toThrow(PaymentRefusedError);
  expect(server.calls.map(({ path }) => path)).toContain('/v1/payment_intents/pi_1/cancel');
});

it('refunds a part, once for an id of ours', async () => {
  server.answer({ 'POST /v1/refunds': { json: wire.refund('re_1', 2050, 'pending') } });
  await processor.refund('pi_1', { id: 'ref_1', grossGrosze: 2050 });
  const [{ form, headers }] = server.calls as [wire.StripeCall];
  expect(form).toEqual({ payment_intent: 'pi_1', amount: '2050' });
  expect(headers['idempotency-key']).toBe('ref_1');
});

const PAID: PaymentState = {
  state: 'paid',
  id: OURS,
  accountId: ACCOUNT,
  grossGrosze: 6150,
  currency: 'PLN',
  live: false,
  reference: 'pi_1',
  method: 'card',
  card: null,
  reversals: [],
};
const NOBODY = { reference: null, method: null };
const kept = wire.intent({ setup_future_usage: 'off_session', customer: 'cus_1' });
const unpaid = (status: string) => ({ payment_status: 'unpaid', payment_intent: wire.intent({ status }) });

it.each<[string, object, Partial<PaymentState>]>([
  [
    'not begun',
    { status: 'open', payment_status: 'unpaid', payment_intent: null },
    { state: 'open', ...NOBODY },
  ],
  [
    'declined, to be tried again',
    { ...unpaid('requires_payment_method'), status: 'open' },
    { state: 'open' },
  ],
  ['expired', { ...unpaid('canceled'), status: 'expired' }, { state: 'expired' }],
  ['completed, before the bank has paid', unpaid('processing'), { state: 'unpaid' }],
  ['completed, and refused by the bank', unpaid('requires_payment_method'), { state: 'failed' }],
  ['completed, and cancelled', unpaid('canceled'), { state: 'failed' }],
  ['paid by card', {}, {}],
  ['paid by BLIK', { payment_intent: wire.intent({ type: 'blik' }) }, { method: 'blik' }],
  ['paid by Przelewy24', { payment_intent: wire.intent({ type: 'p24' }) }, { method: 'p24' }],
  ['paid by a method that is not ours', { payment_intent: wire.intent({ type: 'link' }) }, { method: null }],
  ['paid by a card that is kept', { payment_intent: kept }, { card: CARD }],
  ['with real money', { livemode: true }, { live: true }],
  [
    'with another amount and currency',
    { amount_total: 1, currency: 'eur' },
    { grossGrosze: 1, currency: 'EUR' },
  ],
  ['of nobody we know', { client_reference_id: null, metadata: {} }, { id: null, accountId: null }],
])('reads the state of a session: %s', async (_name, fields, expected) => {
  server.answer({
    'GET /v1/checkout/sessions/cs_test_1': { json: wire.session(fields) },
    'GET /v1/disputes': { json: wire.list([]) },
  });
  expect(await processor.read(SESSION)).toEqual({ ...PAID, ...expected });
  expect(server.calls[0]!.query).toEqual({ 'expand[0]': 'payment_intent.latest_charge.refunds' });
});

it.each<[string, Partial<PaymentState>]>([
  ['succeeded', {}],
  ['processing', { state: 'unpaid' }],
  ['requires_payment_method', { state: 'failed' }],
  ['canceled', { state: 'failed' }],
])('reads the state of a charged card: %s', async (status, expected) => {
  server.answer({
    'GET /v1/payment_intents/pi_1': { json: wire.intent({ status }) },
    'GET /v1/disputes': { json: wire.list([]) },
  });
  expect(await processor.read({ session: null, reference: 'pi_1' })).toEqual({ ...PAID, ...expected });
});

it('reads which refunds stand', async () => {
  const statuses = ['succeeded', 'pending', 'requires_action', 'failed', 'canceled'];
  const refunds = statuses.map((status, index) => wire.refund(`re_${status}`, 100 + index, status));
  server.answer({
    'GET /v1/checkout/sessions/cs_test_1': {
      json: wire.session({ payment_intent: wire.intent({ refunds: wire.list(refunds) }) }),
    },
    'GET /v1/disputes': { json: wire.list([]) },
  });
  expect((await processor.read(SESSION)).reversals).toEqual(
    statuses.map((status, index) => ({
      id: `re_${status}`,
      kind: 'refund',
      grossGrosze: 100 + index,
      stands: index < 3,
    })),
  );
  expect(server.calls).toHaveLength(2);
});

it.each([
  ['an inquiry, which takes nothing', 'warning_needs_response', [], false],
  ['opened, before the money is withdrawn', 'needs_response', [], false],
  ['withdrawn', 'needs_response', [-6150], true],
  ['lost', 'lost', [-6150], true],
  ['lost after a refund in full, which left nothing to take', 'lost', [], false],
  ['given back while it goes on, at another rate of exchange', 'under_review', [-1437, 1429], false],
  ['won, before the money is back', 'won', [-6150], false],
  ['won', 'won', [-6150, 6150], false],
])('reads whether a dispute stands: %s', async (_name, status, moved, stands) => {
  server.answer({
    'GET /v1/checkout/sessions/cs_test_1': { json: wire.session() },
    'GET /v1/disputes': { json: wire.list([wire.dispute('du_1', status, moved)]) },
  });
  const { reversals } = await processor.read(SESSION);
  expect(reversals).toEqual([{ id: 'du_1', kind: 'dispute', grossGrosze: 6150, stands }]);
  expect(server.calls[1]!.query).toEqual({ payment_intent: 'pi_1', limit: '100' });
});

it('reads all refunds of a payment that has more than come with it', async () => {
  const refunds = Array.from({ length: 12 }, (_, index) => wire.refund(`re_${index}`, 10, 'succeeded'));
  server.answer({
    'GET /v1/payment_intents/pi_1': { json: wire.intent({ refunds: wire.list(refunds.slice(0, 10), true) }) },
    'GET /v1/refunds': [
      { json: wire.list(refunds.slice(0, 11), true) },
      { json: wire.list(refunds.slice(11)) },
    ],
    'GET /v1/disputes': { json: wire.list([]) },
  });
  const { reversals } = await processor.read({ session: null, reference: 'pi_1' });
  expect(reversals.map(({ id }) => id)).toEqual(refunds.map(({ id }) => id));
  expect(server.calls.map(({ query }) => query['starting_after'])).toContain('re_10');
});

it.each([
  [402, { type: 'card_error', code: 'card_declined', decline_code: 'insufficient_funds' }, true],
  [402, { type: 'card_error', code: 'authentication_required' }, true],
  [400, { type: 'invalid_request_error', code: 'charge_already_refunded' }, true],
  [404, { type: 'invalid_request_error', code: 'resource_missing' }, true],
  // The first request with the key may have been successful.
  [400, { type: 'idempotency_error' }, false],
  [401, { type: 'invalid_request_error' }, false],
  [403, { type: 'invalid_request_error' }, false],
  [409, { type: 'idempotency_error', code: 'idempotency_key_in_use' }, false],
  [429, { type: 'invalid_request_error', code: 'lock_timeout' }, false],
  [500, { type: 'api_error' }, false],
])('tells by an error whether Stripe refuses for good: %i %j', async (status, error, forGood) => {
  const message = 'Reason.';
  const secret = { client_secret: 'pi_1_secret_1' };
  const answer = wire.stripeError(status, { ...error, message, payment_intent: secret });
  server.answer({ 'POST /v1/payment_intents': answer });
  const thrown = await processor.chargeCard(WANTED, CARD).catch((failure: unknown) => failure);
  expect(thrown).toBeInstanceOf(Error);
  expect(thrown instanceof PaymentRefusedError).toBe(forGood);
  expect((thrown as Error).message).toMatch(/req_1.*: Reason\.$/);
  expect(JSON.stringify(thrown, Object.getOwnPropertyNames(thrown))).not.toMatch(/_secret_|sk_test/);
  expect(server.calls).toHaveLength(1);
});

it('says nothing for good where nobody answers', async () => {
  const nobody = stripeProcessor({ key: KEY, baseUrl: 'http://127.0.0.1:1' });
  const thrown = await nobody.read(SESSION).catch((failure: unknown) => failure);
  expect(thrown).toMatchObject({ name: 'StripeFailedError' });
});
