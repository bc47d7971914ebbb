import { describe, expect, test } from 'vitest';
import { faultOfAddress, isPublicAddress } from '../../domain/addresses.ts';

/** The IANA special-purpose registries (and multicast): first and last address of each block. */
const SPECIAL: Record<string, [string, string]> = {
  '"this network"': ['0.0.0.0', '0.255.255.255'],
  'private-use 10/8': ['10.0.0.0', '10.255.255.255'],
  'shared (CGNAT)': ['100.64.0.0', '100.127.255.255'],
  'loopback v4': ['127.0.0.0', '127.255.255.255'],
  'link local v4': ['169.254.0.0', '169.254.255.255'],
  'private-use 172.16/12': ['172.16.0.0', '172.31.255.255'],
  'IETF protocol assignments': ['192.0.0.0', '192.0.0.255'],
  'TEST-NET-1': ['192.0.2.0', '192.0.2.255'],
  'AS112-v4': ['192.31.196.0', '192.31.196.255'],
  'AMT v4': ['192.52.193.0', '192.52.193.255'],
  '6to4 relay anycast': ['192.88.99.0', '192.88.99.255'],
  'private-use 192.168/16': ['192.168.0.0', '192.168.255.255'],
  'direct delegation AS112': ['192.175.48.0', '192.175.48.255'],
  'benchmarking v4': ['198.18.0.0', '198.19.255.255'],
  'TEST-NET-2': ['198.51.100.0', '198.51.100.255'],
  'TEST-NET-3': ['203.0.113.0', '203.0.113.255'],
  'multicast v4': ['224.0.0.0', '239.255.255.255'],
  'reserved and broadcast': ['240.0.0.0', '255.255.255.255'],
  'a cloud’s own services': ['168.63.129.16', '168.63.129.16'],
  'unspecified and IPv4-compatible': ['::', '::255.255.255.255'],
  'loopback v6': ['::1', '::1'],
  'IPv4-mapped': ['::ffff:0.0.0.0', '::ffff:255.255.255.255'],
  'a public address, mapped': ['::ffff:8.8.8.8', '::ffff:1.1.1.1'],
  'NAT64 64:ff9b::/96': ['64:ff9b::', '64:ff9b::ffff:ffff'],
  'NAT64 64:ff9b:1::/48': ['64:ff9b:1::', '64:ff9b:1:ffff:ffff:ffff:ffff:ffff'],
  'discard-only': ['100::', '100::ffff:ffff:ffff:ffff'],
  'dummy prefix': ['100:0:0:1::', '100:0:0:1:ffff:ffff:ffff:ffff'],
  'IETF protocol assignments v6': ['2001::', '2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff'],
  Teredo: ['2001::', '2001:0:ffff:ffff:ffff:ffff:ffff:ffff'],
  'benchmarking v6': ['2001:2::', '2001:2:0:ffff:ffff:ffff:ffff:ffff'],
  'AMT v6': ['2001:3::', '2001:3:ffff:ffff:ffff:ffff:ffff:ffff'],
  'AS112-v6': ['2001:4:112::', '2001:4:112:ffff:ffff:ffff:ffff:ffff'],
  ORCHID: ['2001:10::', '2001:1f:ffff:ffff:ffff:ffff:ffff:ffff'],
  ORCHIDv2: ['2001:20::', '2001:2f:ffff:ffff:ffff:ffff:ffff:ffff'],
  'drone remote identification': ['2001:30::', '2001:3f:ffff:ffff:ffff:ffff:ffff:ffff'],
  'documentation v6': ['2001:db8::', '2001:db8:ffff:ffff:ffff:ffff:ffff:ffff'],
  '6to4': ['2002::', '2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  'direct delegation AS112 v6': ['2620:4f:8000::', '2620:4f:8000:ffff:ffff:ffff:ffff:ffff'],
  'documentation 3fff::/20': ['3fff::', '3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff'],
  'segment routing': ['5f00::', '5f00:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  'not given out': ['4000::', 'efff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  'unique-local': ['fc00::', 'fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  'link-local v6': ['fe80::', 'febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  'site-local': ['fec0::', 'feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  'multicast v6': ['ff00::', 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
};

describe('global unicast addresses', () => {
  test.each(Object.entries(SPECIAL))('%s is none', (_name, [first, last]) => {
    expect([isPublicAddress(first), isPublicAddress(last)]).toEqual([false, false]);
    if (first.includes(':')) expect(isPublicAddress(`[${first}]`)).toBe(false);
  });

  test.each([
    ...['1.0.0.0', '9.255.255.255', '11.0.0.0', '100.128.0.0', '128.0.0.0', '169.253.255.255'],
    ...['172.32.0.0', '192.0.1.0', '192.169.0.0', '198.20.0.0', '203.0.114.0', '223.255.255.255'],
    ...['168.63.129.17', '2001:200::', '2001:db9::1', '2606:4700:4700::1111', '[2a00:1450:4001::200e]'],
    '3ffe::1',
  ])('%s, beside them, is one', (address) => {
    expect(isPublicAddress(address)).toBe(true);
  });

  test.each([
    '',
    'example.com',
    '1.2.3.4.5',
    'fe80::1%eth0',
    '2a00::1%1',
    '1.1.1.1/24',
    '2a00[::1',
    '2a00]::1',
  ])('"%s" is none', (text) => {
    expect(isPublicAddress(text)).toBe(false);
  });
});

describe('addresses of webhooks', () => {
  const long = Array.from({ length: 4 }, () => 'a'.repeat(63)).join('.');
  // A name of the DNS has up to 253 characters (RFC 1035, 2.3.4, as text).
  const longest = [63, 63, 63, 61].map((length) => 'a'.repeat(length)).join('.');
  test.each([
    'https://example.com',
    'HTTPS://Example.COM/hook?a=b&c=d',
    'https://a-b.c_d.example.com/x',
    'https://example.com:443/x',
    'https://example.com:1024',
    'https://example.com:65535',
    'https://żółw.pl/hook',
    'https://1.1.1.1/x',
    'https://[2606:4700:4700::1111]:8443/x',
    'https://[2A00:1450:4001::200E]/x',
    'https://[2a00:1450:4001:0:0:0:0:200e]/x',
    `https://${longest}/x`,
    'https://123.com',
    'https://local.example.com',
  ])('%s may be one', (url) => {
    expect(faultOfAddress(url, false)).toBeNull();
  });

  test.each<[string, string[]]>([
    ['url_scheme', ['http://example.com', 'javascript:alert(1)', 'file:///etc/passwd']],
    [
      'url_credentials',
      ['https://user:pw@example.com', 'https://@example.com', 'https://:@example.com', 'https://a.com@b.com'],
    ],
    ['url_fragment', ['https://example.com/#x', 'https://example.com#', 'https://example.com/a?b#c']],
    [
      'url_port',
      [
        0, 1, 80, 444, 1023, 1433, 2049, 2375, 3306, 3389, 5060, 5432, 6379, 6443, 6667, 7233, 9200, 10080,
        11211, 27017,
      ].map((port) => `https://example.com:${port}/x`),
    ],
    [
      'url_private',
      [
        ...['https://LOCALHOST.', 'https://a.localhost', 'https://db', 'https://printer.local'],
        ...['https://db.internal', 'https://nas.home', 'https://router.home.arpa', 'https://x.onion'],
        ...['https://x.test', 'https://x.invalid', 'https://x.example', 'https://printer。local'],
        ...['https://127.1', 'https://0x7f.1', 'https://2130706433', 'https://0177.0.0.1', 'https://0'],
        ...['https://①②⑦.0.0.1', 'https://%31%32%37.0.0.1', 'https://[::ffff:8.8.8.8]', 'https://127.0.0.1.'],
        ...['https://[64:ff9b::808:808]', 'https://168.63.129.16'],
      ],
    ],
    [
      'url_malformed',
      [
        ...[
          'https://0x08080808',
          'https://134744072',
          'https://8.8.2056',
          'https://８.8.8.8',
          'https://%38.8.8.8',
        ],
        ...['https://8.8.8.8.', 'https://example.com.', 'https://example..com', 'https://-a.example.com'],
        ...['https:\\\\example.com', 'https:/example.com', 'https:example.com', 'https:///example.com'],
        ...[
          'example.com',
          '//example.com',
          'https://exa mple.com',
          'https://a!b.com',
          'https://[::1',
          'https://',
        ],
        ...[`https://${'a'.repeat(64)}.com`, `https://${long}.com`, `https://${longest}a`],
        ...['https://example.com/\u202e', 'https://example.com:65536', 'https://example.com:x'],
      ],
    ],
  ])('%s', (fault, urls) => {
    for (const url of urls) expect([url, faultOfAddress(url, false)]).toEqual([url, fault]);
  });

  test('where private ones are allowed, http, any port and any host may be one; credentials and fragments not', () => {
    for (const url of [
      'http://localhost:25/x',
      'https://127.0.0.1:8080',
      'http://db',
      'https://example.com:80',
    ])
      expect(faultOfAddress(url, true)).toBeNull();
    expect(faultOfAddress('ftp://localhost/x', true)).toBe('url_scheme');
    expect(faultOfAddress('http://u:p@localhost', true)).toBe('url_credentials');
    expect(faultOfAddress('http://localhost/#a', true)).toBe('url_fragment');
  });
});
