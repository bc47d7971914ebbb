import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { averageRate, busiestSecond } from '../../smsc/counts.ts';
import { type Smsc, startSmsc } from '../../smsc/smsc.ts';
import { shown } from '../../smsc/text.ts';
import { routeQueue } from '../../../workflows/contracts.ts';
import { backlogOf } from '../../support/backlog.ts';
import { eventually } from '../../support/eventually.ts';
import { type Product, type ProductAccount, sendSurely, startProduct } from '../../support/product.ts';
import { until } from '../until.ts';

const RATE = 50;
const SHORT = 60;
const LONG = 90;
const PARTS_OF_LONG = 6;
const PARTS = SHORT + LONG * PARTS_OF_LONG;
// A worker may have taken some before it noticed that it was cut off.
const TAKEN = 50;
const FIRST = 48_500_100_000;

describe('two workers and a route of 50 parts per second', () => {
  let product: Product;
  let smsc: Smsc;
  let account: ProductAccount;

  beforeAll(async () => {
    [product, smsc] = await Promise.all([startProduct(2), startSmsc()]);
    account = await product.account();
    smsc.behave = () => ({ reports: [] });
    await product.route('paced', smsc, account, {
      ratePerSecond: RATE,
      sessions: 2,
      // While the SMSC refuses binds, messages wait for it.
      brokenAfterS: 600,
      settings: { window: 50, reconnectMinMs: 50, reconnectMaxMs: 200 },
    });
  }, 120_000);
  afterAll(async () => {
    await product.stop();
    await smsc.stop();
  }, 180_000);

  it('the SMSC sees no more in any second, and nearly as many in all', async () => {
    const numbers = Array.from({ length: SHORT + LONG }, (_, index) => `+${FIRST + index}`);
    const { password } = smsc;
    smsc.password = 'inne';
    for (const connection of smsc.connections()) connection.disconnect();
    const answers = await Promise.all([
      sendSurely(account.api, { to: numbers.slice(0, SHORT), text: 'krótka' }),
      sendSurely(account.api, { to: numbers.slice(SHORT), text: 'długa '.repeat(60) }),
    ]);
    expect(answers.map(({ body }) => body.messages[0]?.parts)).toEqual([1, PARTS_OF_LONG]);
    await eventually(
      () => backlogOf(product.service, routeQueue('paced')),
      (waiting) => waiting >= SHORT + LONG - TAKEN,
      60_000,
    );
    smsc.password = password;
    await until(() => smsc.submits.length === PARTS);
    const { submits } = smsc;
    expect(shown(submits)).toHaveLength(SHORT + LONG);
    expect(new Set(submits.map(({ connection }) => connection)).size).toBe(2);
    expect(busiestSecond(submits)).toBeLessThanOrEqual(RATE);
    // In the last second the parts of a few messages are left, which follow one another. On a busy machine some come too
    // late for their place, and lose it.
    expect(averageRate(submits.slice(0, -RATE))).toBeGreaterThanOrEqual(0.8 * RATE);
  }, 180_000);
});
