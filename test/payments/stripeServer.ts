import type { IncomingHttpHeaders } from 'node:http';
import { startHttpReceiver } from '../support/httpReceiver.ts';

/** A request as it came, its form by Stripe's names: `line_items[0][quantity]`. */
export interface StripeCall {
  method: string;
  path: string;
  query: Record<string, string>;
  form: Record<string, string>;
  headers: IncomingHttpHeaders;
}

/** What the other end of the wire answers: an object, or an error of Stripe's. */
export interface StripeAnswer {
  status?: number;
  json: object;
}

/** A server in the place of Stripe's. */
export interface StripeServer {
  url: string;
  /** All requests since the last {@link answer}. */
  calls: StripeCall[];
  /** By method and path: `GET /v1/disputes`; several are given one after the other. What is not named is an error of the server. */
  answer(answers: Record<string, StripeAnswer | StripeAnswer[]>): void;
  close(): Promise<void>;
}

export async function startStripeServer(): Promise<StripeServer> {
  const calls: StripeCall[] = [];
  let answers: Record<string, StripeAnswer | StripeAnswer[]> = {};
  const receiver = await startHttpReceiver((response, raw, { method = '', url = '', headers }) => {
    const { pathname: path, searchParams } = new URL(url, 'http://stripe');
    calls.push({ method, path, query: fields(searchParams), form: fields(raw.toString()), headers });
    const found = answers[`${method} ${path}`];
    const next = Array.isArray(found) ? found.shift() : found;
    const { status = 200, json } = next ?? stripeError(500, { type: 'api_error', message: 'Unexpected.' });
    response.writeHead(status, { 'content-type': 'application/json', 'request-id': 'req_1' });
    response.end(JSON.stringify(json));
  });
  return {
    ...receiver,
    calls,
    answer(next) {
      calls.length = 0;
      answers = next;
    },
  };
}

const fields = (form: string | URLSearchParams) => Object.fromEntries(new URLSearchParams(form));

export function stripeError(status: number, error: Record<string, unknown>): StripeAnswer {
  return { status, json: { error } };
}

export function list(data: object[], hasMore = false): object {
  return { object: 'list', data, has_more: hasMore, url: '/v1/list' };
}

export const refund = (id: string, amount: number, status: string) => ({
  id,
  object: 'refund',
  amount,
  status,
  currency: 'pln',
  payment_intent: 'pi_1',
});

/** @param moved what it took from the operator's balance and gave back, in the currency of that */
export const dispute = (id: string, status: string, moved: number[]) => ({
  id,
  object: 'dispute',
  amount: 6150,
  currency: 'pln',
  status,
  payment_intent: 'pi_1',
  balance_transactions: moved.map((amount) => ({ object: 'balance_transaction', amount, fee: 1500 })),
});

/** A payment as it is with `latest_charge.refunds`. */
export const intent = ({ type = 'card', refunds = list([]), ...fields }: Record<string, unknown> = {}) => ({
  id: 'pi_1',
  object: 'payment_intent',
  amount: 6150,
  currency: 'pln',
  livemode: false,
  status: 'succeeded',
  customer: null,
  setup_future_usage: null,
  metadata: { payment: OURS, account: ACCOUNT },
  latest_charge: {
    id: 'ch_1',
    object: 'charge',
    payment_method: 'pm_1',
    payment_method_details: {
      type,
      [String(type)]: type === 'card' ? { brand: 'visa', last4: '4242', exp_year: 2031 } : {},
    },
    refunds,
  },
  ...fields,
});

export const session = (fields: object = {}) => ({
  id: 'cs_test_1',
  object: 'checkout.session',
  status: 'complete',
  payment_status: 'paid',
  amount_total: 6150,
  currency: 'pln',
  livemode: false,
  client_reference_id: OURS,
  metadata: { payment: OURS, account: ACCOUNT },
  url: 'https://checkout.stripe.com/c/pay/cs_test_1',
  payment_intent: intent(),
  ...fields,
});

/** Ids of ours. */
export const OURS = 'pay_01k0000000000000000000000a';
export const ACCOUNT = 'cl_01k0000000000000000000000a';
