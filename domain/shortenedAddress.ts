import ipaddr from 'ipaddr.js';

const KEPT_BITS = { ipv4: 24, ipv6: 48 } as const;

/**
 * The network an IP address belongs to: IPv4 of /24, IPv6 of /48, so that it names no single visitor. IPv4 mapped into
 * IPv6 counts as IPv4.
 * @returns for example `203.0.113.0/24`; null when the text is no address
 */
export function shortenedAddress(address: string): string | null {
  const text = address.replace(/%.*$/, '');
  if (!ipaddr.isValid(text)) return null;
  const parsed = ipaddr.process(text);
  const bits = KEPT_BITS[parsed.kind()];
  const bytes = parsed.toByteArray().map((byte, index) => (index < bits / 8 ? byte : 0));
  return `${ipaddr.fromByteArray(bytes).toString()}/${bits}`;
}
