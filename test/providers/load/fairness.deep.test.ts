import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Smsc, startSmsc } from '../../smsc/smsc.ts';
import { routeQueue } from '../../../workflows/contracts.ts';
import { backlogOf } from '../../support/backlog.ts';
import { eventually } from '../../support/eventually.ts';
import { type Product, type ProductAccount, sendSurely, startProduct } from '../../support/product.ts';
import { until } from '../until.ts';

/** Messages in the queue of the route; FAIRNESS_WAITING=10000 takes a quarter of an hour. */
const WAITING = Number(process.env['FAIRNESS_WAITING'] ?? 1_000);
const SCALE = Math.max(1, WAITING / 1_000);
const RATE = 10;
// What two workers may have taken already, and what Temporal hands out before it has sorted the queue anew.
const AHEAD = 60;
const FIRST = 48_500_200_000;

/** Ranks are counted at the SMSC, so that a slow machine changes nothing. */
describe('on a slow route with a thousand messages waiting, or as many as told', () => {
  let product: Product;
  let smsc: Smsc;
  let busy: ProductAccount;
  let other: ProductAccount;

  beforeAll(async () => {
    [product, smsc] = await Promise.all([startProduct(2), startSmsc()]);
    busy = await product.account();
    other = await product.account();
    smsc.behave = () => ({ reports: [] });
    await product.route('slow', smsc, busy, { ratePerSecond: RATE, sessions: 2 });
    await product.sql`
      insert into route_rules (route, account_id) values ('slow', ${other.id})`;
    for (let from = 0; from < WAITING; from += 500) {
      const count = Math.min(500, WAITING - from);
      const to = Array.from({ length: count }, (_, index) => `+${FIRST + from + index}`);
      expect((await sendSurely(busy.api, { to, text: 'x' })).body).toMatchObject({ accepted: count });
    }
    // All of them are in the route's queue, not on the way there.
    await eventually(
      () => backlogOf(product.service, routeQueue('slow')),
      (waiting) => waiting > WAITING - AHEAD - smsc.submits.length,
      120_000 * SCALE,
    );
  }, 180_000 * SCALE);
  afterAll(async () => {
    await product.sql`update routes set state = 'disabled' where name = 'slow'`;
    await product.stop();
    await smsc.stop();
  }, 180_000);

  /** How many submits the SMSC saw between the API's answer and this message. */
  async function rankOf(account: ProductAccount, body: { to: string; priority?: boolean }): Promise<number> {
    const answer = await sendSurely(account.api, { text: 'x', ...body });
    expect(answer.status).toBe(201);
    const before = smsc.submits.length;
    await until(() => smsc.submits.some(({ destination }) => `+${destination}` === body.to));
    const at = smsc.submits.findIndex(({ destination }) => `+${destination}` === body.to);
    return Math.max(0, at - before);
  }

  it('another account’s single message does not wait for them', async () => {
    expect(await rankOf(other, { to: '+48500300001' })).toBeLessThan(AHEAD);
    expect(smsc.submits.length).toBeLessThan(WAITING);
  });

  it('a priority message overtakes them, for their own account too', async () => {
    expect(await rankOf(busy, { to: '+48500300002', priority: true })).toBeLessThan(AHEAD);
    expect(await rankOf(other, { to: '+48500300003', priority: true })).toBeLessThan(AHEAD);
    expect(smsc.submits.length).toBeLessThan(WAITING);
  });

  it(
    'those who waited still get their turn, each once',
    async () => {
      await product.sql`update routes set rate_per_second = null where name = 'slow'`;
      await eventually(
        () => Promise.resolve(smsc.submits.length),
        (count) => count === WAITING + 3,
        120_000 * SCALE,
      );
      expect(new Set(smsc.submits.map(({ destination }) => destination)).size).toBe(WAITING + 3);
    },
    150_000 * SCALE,
  );
});
