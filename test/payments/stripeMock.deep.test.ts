import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { freePort } from '../../bin/ports.ts';
import { PaymentRefusedError } from '../../payments/processor.ts';
import { stripeProcessor } from '../../payments/stripe/processor.ts';
import { eventually } from '../support/eventually.ts';
import { goProgram } from '../support/goProgram.ts';
import { type HttpReceiver, startHttpReceiver } from '../support/httpReceiver.ts';
import { ACCOUNT, OURS } from './stripeServer.ts';

// Stripe's own mock refuses unknown parameters and wrong types by its OpenAPI document; parameters within others are the compiler's.
const PROGRAM = {
  title: 'stripe-mock v0.203.0',
  name: 'stripe-mock',
  version: 'v0.203.0',
  path: 'github.com/stripe/stripe-mock',
};
// Of API 2026-09-30; the mock has 2026-08-26.
const TOO_NEW = /^allowed_payment_method_types\[/;

const key = 'sk_test_mock';
const WANTED = { id: OURS, accountId: ACCOUNT, grossGrosze: 6150, description: 'Doładowanie 50,00 zł' };
const CHECKOUT = {
  ...WANTED,
  language: 'pl',
  returnUrl: 'https://panel.example/payments/1',
  expiresAt: new Date(Date.now() + 86_400_000),
  saveCard: false,
} as const;
const CARD = { customer: 'cus_1', method: 'pm_1', brand: 'visa', last4: '4242' };

interface Intent {
  status: string;
  latest_charge: { refunds: { has_more: boolean } };
}

let mock: ChildProcess;
let mockUrl: string;
/** What the mock does not know is taken out, and its answers are changed to those that lead further. */
let between: HttpReceiver;
let change: (intent: Intent) => void;
let answered: [request: string, status: number][];

beforeAll(async () => {
  const program = await goProgram(PROGRAM);
  const address = `127.0.0.1:${await freePort()}`;
  mockUrl = `http://${address}`;
  mock = spawn(program, ['-http-addr', address], { stdio: 'ignore' });
  await eventually(async () => await fetch(mockUrl).catch(() => null), Boolean);
  between = await startHttpReceiver((response, raw, { method = '', url = '', headers }) => {
    const form = [...new URLSearchParams(raw.toString())].filter(([name]) => !TOO_NEW.test(name));
    const asked = { method, headers: { authorization: headers.authorization! } };
    void fetch(mockUrl + url, method === 'GET' ? asked : { ...asked, body: new URLSearchParams(form) }).then(
      async (answer) => {
        answered.push([`${method} ${url.split('?')[0]}`, answer.status]);
        const json = (await answer.json()) as { object?: string; payment_intent?: Intent } & Intent;
        const intent = json.object === 'payment_intent' ? json : json.payment_intent;
        if (intent) change(intent);
        response.writeHead(answer.status).end(JSON.stringify(json));
      },
    );
  });
});
afterAll(async () => {
  await between.close();
  if (mock.exitCode !== null) return;
  mock.kill('SIGTERM');
  await once(mock, 'exit');
});
beforeEach(() => {
  change = () => undefined;
  answered = [];
});

const stripe = () => stripeProcessor({ key, baseUrl: between.url });

it.each([false, true])('accepts a checkout, the card kept: %s', async (saveCard) => {
  await stripe().startCheckout({ ...CHECKOUT, saveCard });
  expect(answered).toEqual([['POST /v1/checkout/sessions', 200]]);
});

it('accepts a charge of a kept card, and that it is cancelled', async () => {
  change = (intent) => (intent.status = 'requires_action');
  await expect(stripe().chargeCard(WANTED, CARD)).rejects.toThrow(PaymentRefusedError);
  expect(answered).toEqual([
    ['POST /v1/payment_intents', 200],
    [expect.stringMatching(/^POST \/v1\/payment_intents\/pi_\w+\/cancel$/), 200],
  ]);
});

it('accepts a refund', async () => {
  await stripe().refund('pi_1', { id: 'ref_1', grossGrosze: 2050 });
  expect(answered).toEqual([['POST /v1/refunds', 200]]);
});

it.each([
  ['a session', { session: 'cs_test_1', reference: null }, 'GET /v1/checkout/sessions/cs_test_1'],
  ['a charged card', { session: null, reference: 'pi_1' }, 'GET /v1/payment_intents/pi_1'],
])('answers what is read of %s', async (_name, payment, path) => {
  change = (intent) => {
    intent.status = 'succeeded';
    intent.latest_charge.refunds.has_more = true;
  };
  const { method, reversals } = await stripe().read(payment);
  expect(method).toBe('card');
  expect(reversals.map(({ kind }) => kind)).toEqual(['refund', 'dispute']);
  expect(answered).toEqual([
    [path, 200],
    ['GET /v1/refunds', 200],
    ['GET /v1/disputes', 200],
  ]);
});

it('refuses what it does not know', async () => {
  const directly = stripeProcessor({ key, baseUrl: mockUrl });
  await expect(directly.startCheckout(CHECKOUT)).rejects.toThrow(/additional properties are not allowed/);
});
