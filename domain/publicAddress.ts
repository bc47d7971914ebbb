import ipaddr from 'ipaddr.js';

// All that is given out for use on the whole internet (RFC 4291, 2.4; IANA, IPv6 Global Unicast Address Assignments).
const GLOBAL_IPV6 = ipaddr.IPv6.parseCIDR('2000::/3');
// Azure's machines reach their host's services there, and nobody else does.
const OF_A_CLOUD = ['168.63.129.16'];

/**
 * Whether an IP address (not a name) is a global unicast one: in none of the IANA special-purpose registries (RFC 6890), so
 * neither loopback, private, link-local, shared, multicast, documentation nor reserved, and no IPv6 address that another one
 * hides in (mapped, 6to4, Teredo, NAT64): who translates it may be next to us.
 * @param address textual IPv4 or IPv6 address, IPv6 with or without brackets
 */
export function isPublicAddress(address: string): boolean {
  const text = withoutBrackets(address);
  if (!ipaddr.isValid(text) || text.includes('%')) return false;
  const parsed = ipaddr.parse(text);
  if (parsed.range() !== 'unicast' || OF_A_CLOUD.includes(parsed.toString())) return false;
  return parsed instanceof ipaddr.IPv4 || parsed.match(GLOBAL_IPV6);
}

/** Whether the host of a parsed URL is a literal address rather than a name. */
export function isLiteralAddress(hostname: string): boolean {
  return ipaddr.isValid(withoutBrackets(hostname));
}

function withoutBrackets(address: string): string {
  return address.replace(/^\[|\]$/g, '');
}
