import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { routeQueue } from '../../workflows/contracts.ts';
import { busiestSecond } from '../smsc/counts.ts';
import { type Smsc, startSmsc } from '../smsc/smsc.ts';
import { backlogOf } from '../support/backlog.ts';
import { eventually } from '../support/eventually.ts';
import { type Product, type ProductAccount, sendSurely, startProduct } from '../support/product.ts';

const RATE = 20;
const WAITING = 140;
// What the worker may have taken already, and what Temporal hands out before it has sorted the queue anew.
const AHEAD = 60;
const FIRST = 48_500_400_000;

/** Counted at the SMSC, so that a slow machine changes nothing. `test:providers` does the same at size, with two workers. */
describe('a route of 20 parts per second', () => {
  let product: Product;
  let smsc: Smsc;
  let account: ProductAccount;

  beforeAll(async () => {
    [product, smsc] = await Promise.all([startProduct(1), startSmsc()]);
    account = await product.account();
    smsc.behave = () => ({ reports: [] });
    await product.route('slow', smsc, account, {
      ratePerSecond: RATE,
      // While the SMSC refuses binds, messages wait for it.
      brokenAfterS: 600,
      settings: { reconnectMinMs: 50, reconnectMaxMs: 200 },
    });
  }, 120_000);
  afterAll(async () => {
    await product.sql`update routes set state = 'disabled' where name = 'slow'`;
    await product.stop();
    await smsc.stop();
  }, 180_000);

  it('a priority message overtakes those that wait', async () => {
    const { password } = smsc;
    smsc.password = 'inne';
    for (const connection of smsc.connections()) connection.disconnect();
    const to = Array.from({ length: WAITING }, (_, index) => `+${FIRST + index}`);
    expect((await sendSurely(account.api, { to, text: 'x' })).body).toMatchObject({ accepted: WAITING });
    await eventually(
      () => backlogOf(product.service, routeQueue('slow')),
      (waiting) => waiting > WAITING - AHEAD,
      60_000,
    );
    // To two, as a single message goes before those of a batch anyway.
    const urgent = { to: ['+48500500001', '+48500500002'], text: 'x', priority: true };
    expect((await sendSurely(account.api, urgent)).body).toMatchObject({ accepted: 2 });
    smsc.password = password;
    const rank = () => smsc.submits.findIndex(({ destination }) => destination === '48500500001');
    await eventually(
      () => Promise.resolve(rank()),
      (at) => at >= 0,
      60_000,
    );
    expect(rank()).toBeLessThan(AHEAD);
  }, 150_000);

  it('no second has more of them than the rate', async () => {
    await eventually(
      () => Promise.resolve(smsc.submits.length),
      (count) => count > 3 * RATE,
      60_000,
    );
    expect(busiestSecond(smsc.submits)).toBeLessThanOrEqual(RATE);
  }, 180_000);
});
