import ipaddr from 'ipaddr.js';

/**
 * Whether an IP address (not a name) is a public unicast one: neither loopback, private, link-local, carrier-grade
 * NAT, multicast nor reserved, also when an IPv4 address hides in an IPv6 one (mapped, 6to4, NAT64).
 * @param address textual IPv4 or IPv6 address, IPv6 with or without brackets
 */
export function isPublicAddress(address: string): boolean {
  const text = address.replace(/^\[|\]$/g, '');
  return ipaddr.isValid(text) && ipaddr.process(text).range() === 'unicast';
}

/** Whether the host of a parsed URL is a literal address rather than a name. */
export function isLiteralAddress(hostname: string): boolean {
  return ipaddr.isValid(hostname.replace(/^\[|\]$/g, ''));
}
