import { expect, it } from 'vitest';
import { hasPlaceholder } from '../../providers/smsapi/request.ts';

it('a text that the provider would change takes no longer to be told where it begins often and never ends', () => {
  const durationOf = (text: string) => {
    const start = performance.now();
    expect(hasPlaceholder(text)).toBe(false);
    return performance.now() - start;
  };
  const [begun, idle] = ['[%'.repeat(100_000), 'a%'.repeat(100_000)];
  // One of some pairs shows it, as others use the machine too: by the square it took a thousand times as long.
  const isQuick = () => durationOf(begun) < 20 * durationOf(idle);
  expect(Array.from({ length: 5 }, (_, i) => i).some(isQuick)).toBe(true);
});
