import { expect, test } from 'vitest';
import { createRedeliveries } from '../../providers/smpp/inbox.ts';

const one = { from: '+48600100200', to: null, encoding: 'gsm7' as const };

test('redeliveries cost no more the more replies are remembered', () => {
  const handMs = (remembered: number): number => {
    const redeliveries = createRedeliveries<object>();
    const session = {};
    let number = 0;
    const hand = (count: number): number => {
      const since = performance.now();
      for (let left = count; left > 0; left -= 1) {
        const content = Buffer.from(String((number += 1)));
        redeliveries.handedOver(session, { ...one, content }).acknowledged();
      }
      return performance.now() - since;
    };
    hand(remembered);
    redeliveries.lost(session);
    hand(remembered);
    return Math.min(...Array.from({ length: 10 }, () => hand(100)));
  };
  handMs(10_000);
  const few = handMs(10);
  expect(handMs(10_000)).toBeLessThan(20 * few);
});
