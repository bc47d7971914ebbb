import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { callBack } from '../smsapi/callbacks.ts';
import { type Provider, startProvider } from '../smsapi/provider.ts';
import { eventually } from '../support/eventually.ts';
import { type Product, type ProductAccount, sendSurely, startProduct } from '../support/product.ts';
import { addSmsapiRoute, type Callbacks } from './smsapiRoute.ts';
import { until } from './until.ts';

const AT_ONCE = 40;
// Look-ups that one worker has with the provider at a time.
const WINDOW = 8;
// Submits a second; so slow a route has few places for them.
const RATE = 8;
// Of the three seconds that a look-up has for it.
const ANSWER_AFTER_MS = 2_000;
const MESSAGES = 12;

describe('an account that has forty look-ups under way all the time, on a slow route', () => {
  let product: Product;
  let provider: Provider;
  let callbacks: Callbacks;
  let looking: ProductAccount;
  let sending: ProductAccount;
  const asked = new Set<string>();
  /** Those whose look-up had ended before the network answered. */
  const inVain: string[] = [];
  /** Status of each answer of ours, by the number. */
  const ended = new Map<string, number>();
  const callingBack: Promise<unknown>[] = [];
  let last = 48_500_700_000;
  let flooding = true;

  beforeAll(async () => {
    [product, provider] = await Promise.all([startProduct(1), startProvider()]);
    ({ callbacks } = await addSmsapiRoute(product, provider, { window: WINDOW, rate: RATE, workers: 1 }));
    [looking, sending] = await Promise.all([product.account(), product.account()]);
    provider.lookupAnswer = (id, number) => {
      asked.add(number);
      callingBack.push(answerLater(id, number));
      return { status: 'OK', number, id, price: 0.04 };
    };
  }, 120_000);
  afterAll(async () => {
    await Promise.all(callingBack);
    await product.stop();
    await provider.close();
  }, 180_000);

  async function answerLater(id: string, number: string): Promise<void> {
    await delay(ANSWER_AFTER_MS);
    if (ended.has(number)) inVain.push(number);
    const found = { id, number, mcc: '260', mnc: '6', info: 'OK', status: 'OK', ported: '0' };
    await callBack(callbacks.lookups, found);
  }

  async function oneAfterTheOther(): Promise<void> {
    while (flooding) {
      const number = String((last += 1));
      const { status } = await looking.api.get(`/v1/numbers/${number}/lookup`);
      ended.set(number, status);
    }
  }

  it('keeps nobody’s messages from leaving', async () => {
    const flood = Array.from({ length: AT_ONCE }, oneAfterTheOther);
    try {
      // All places are taken, and the others wait.
      await until(() => ended.size > 0);
      const to = Array.from({ length: MESSAGES }, (_, index) => `+${48_500_600_000 + index}`);
      expect((await sendSurely(sending.api, { to, text: 'x' })).body).toMatchObject({ accepted: MESSAGES });
      await until(() => provider.taken.length === MESSAGES);
    } finally {
      flooding = false;
      await Promise.all(flood);
    }
  });

  it('has the provider asked only what it can still answer in time', async () => {
    await Promise.all(callingBack);
    expect(asked.size).toBeGreaterThan(WINDOW);
    expect(asked.size).toBeLessThan(ended.size);
    // On a machine at its limit an answer may miss its caller by a little; where all who wait are asked, most do.
    expect(inVain.length).toBeLessThan(asked.size / 4);
  });

  it('is refunded what was not answered', async () => {
    const money = await eventually(
      async () => {
        const [row] = await product.sql<{ open: number; done: number; charges: number; refunds: number }[]>`
          select (count(*) filter (where state = 'charged'))::int as open,
                 (count(*) filter (where state = 'done'))::int as done,
                 (select count(*)::int from ledger_entries
                   where account_id = ${looking.id} and kind = 'charge') as charges,
                 (select count(*)::int from ledger_entries
                   where account_id = ${looking.id} and kind = 'refund') as refunds
            from number_lookups where account_id = ${looking.id}`;
        return row!;
      },
      ({ open }) => open === 0,
    );
    expect(money.done).toBeGreaterThan(0);
    expect(money.charges - money.refunds).toBe(money.done);
  });
});
