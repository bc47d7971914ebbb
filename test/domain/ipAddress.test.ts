import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { plainAddress } from '../../domain/addresses.ts';

describe('an address in its one form', () => {
  test.each([
    ['203.0.113.5', '203.0.113.5'],
    ['203.0.113.5:65535', '203.0.113.5'],
    ['::ffff:203.0.113.5', '203.0.113.5'],
    ['[::ffff:203.0.113.5]:443', '203.0.113.5'],
    ['2001:db8::1', '2001:db8::1'],
    ['2001:0DB8:0000:0000:0000:0000:0000:0001', '2001:db8::1'],
    ['[2001:DB8:0::1]:51234', '2001:db8::1'],
    ['fe80::1%eth0', 'fe80::1'],
    ['[fe80::1%25eth0]:80', 'fe80::1'],
    // Without brackets the last group is no port.
    ['2001:db8::1:443', '2001:db8::1:443'],
  ])('%s is %s', (text, address) => {
    expect(plainAddress(text)).toBe(address);
  });

  test.each([
    ...['', 'localhost:80', '%eth0', '[]:80', '203.0.113', '203.0.113.256', '127.1', '0x7f.0.0.1'],
    ...['0177.0.0.1', '3405803781', '203.0.113.5:', '203.0.113.5:123456', '203.0.113.5:80x'],
    ...['for=203.0.113.5:80', '203.0.113.5, 198.51.100.1', '[203.0.113.5:80', '[2001:db8::1'],
    ...['[2001:db8::1]:', 'x[2001:db8::1]:80', '2001:db8::1::2'],
  ])('"%s" is none', (text) => {
    expect(plainAddress(text)).toBeNull();
  });

  test('of any IPv4 address is the same with a port and within IPv6', () => {
    fc.assert(
      fc.property(fc.ipV4(), fc.integer({ min: 0, max: 65_535 }), (address, port) => {
        for (const text of [
          address,
          `${address}:${port}`,
          `::ffff:${address}`,
          `[::ffff:${address}]:${port}`,
        ])
          expect(plainAddress(text)).toBe(address);
      }),
    );
  });

  test('has an address in itself, and a port changes nothing', () => {
    fc.assert(
      fc.property(fc.ipV6(), fc.integer({ min: 0, max: 65_535 }), (address, port) => {
        const plain = plainAddress(address);
        expect(plain).not.toBeNull();
        expect(plainAddress(plain!)).toBe(plain);
        expect(plainAddress(`[${address}]`)).toBe(plain);
        expect(plainAddress(`[${address}]:${port}`)).toBe(plain);
      }),
    );
  });
});
