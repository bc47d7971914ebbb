import { describe, expect, it } from 'vitest';
import { shortenedAddress } from '../../domain/addresses.ts';

describe('shortenedAddress', () => {
  it.each([
    ['203.0.113.5', '203.0.113.0/24'],
    ['::ffff:203.0.113.5', '203.0.113.0/24'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1::/48'],
    ['::1', '::/48'],
    ['fe80::1%eth0', 'fe80::/48'],
  ])('%s is of %s', (address, network) => {
    expect(shortenedAddress(address)).toBe(network);
  });

  it.each(['', 'unknown', '203.0.113.5, 198.51.100.1'])('%s is no address', (text) => {
    expect(shortenedAddress(text)).toBeNull();
  });
});
