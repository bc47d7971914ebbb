import ipaddr from 'ipaddr.js';

// As proxies write them in X-Forwarded-For: IPv6 in brackets also where no port follows.
const WITH_PORT = /^(?:\[([^\]]+)\](?::[0-9]{1,5})?|([0-9.]+):[0-9]{1,5})$/;

/** An address in one form of its many: IPv4 also where it hides in IPv6; without port and zone. @returns null for what is none */
export function plainAddress(text: string): string | null {
  const [, six, four] = WITH_PORT.exec(text) ?? [];
  const [address = ''] = (six ?? four ?? text).split('%');
  return ipaddr.IPv4.isValidFourPartDecimal(address) || ipaddr.IPv6.isValid(address)
    ? ipaddr.process(address).toString()
    : null;
}

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

/** What is wrong with the address of a webhook. */
type AddressFault =
  'url_malformed' | 'url_scheme' | 'url_credentials' | 'url_fragment' | 'url_port' | 'url_private';

const HTTPS_PORT = 443;
// Below stand the services of the system; of the ports above, other services than HTTP are known to listen on these. The first
// two lines are what browsers refuse too (https://fetch.spec.whatwg.org/#port-blocking).
const FIRST_FREE_PORT = 1024;
const OTHER_SERVICES = new Set([
  ...[1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679],
  ...[6697, 10080],
  // Databases, queues, caches, remote control and what runs clusters.
  ...[
    1433, 1521, 1883, 2181, 2375, 2376, 2379, 2380, 2775, 3268, 3269, 3306, 3389, 5432, 5672, 5671, 5900,
    5985,
  ],
  ...[5986, 6379, 6380, 6443, 7233, 8883, 9042, 9092, 9200, 9300, 10250, 11211, 26257, 27017],
]);

// Names that never leave the machine or the local network, or are no names of the internet's (RFC 6761, RFC 6762, RFC 7686,
// RFC 8375, RFC 9476, ICANN's .internal, and customary ones).
const PRIVATE_NAME =
  /(?:^|\.)(?:localhost|localdomain|local|internal|intranet|lan|home|corp|mail|private|test|invalid|example|onion|alt|arpa)$/;
const LABEL = /^(?!-)[a-z0-9_-]{1,63}(?<!-)$/;
const NAME_MAX = 253;
const SPACE_OR_CONTROL = /[\s\p{C}]/u;

/**
 * What is wrong with the address of a webhook: it has to be HTTPS, a name of the internet's or a global address in its usual
 * notation, on a port that web servers use, without credentials or a fragment. What a name resolves to is judged where the
 * connection is made, as it may change.
 *
 * @param allowPrivate development and tests: http, any port, private names and addresses too
 * @returns null where nothing is
 */
export function faultOfAddress(input: string, allowPrivate: boolean): AddressFault | null {
  if (SPACE_OR_CONTROL.test(input) || !URL.canParse(input)) return 'url_malformed';
  const url = new URL(input);
  if (url.protocol !== 'https:' && !(allowPrivate && url.protocol === 'http:')) return 'url_scheme';
  const authority = /^https?:\/\/([^/\\?#]+)/i.exec(input)?.[1];
  if (authority === undefined) return 'url_malformed';
  if (authority.includes('@')) return 'url_credentials';
  if (input.includes('#')) return 'url_fragment';
  if (allowPrivate) return null;
  if (!isWebPort(url.port)) return 'url_port';
  return isLiteralAddress(url.hostname) ? faultOfLiteral(url, authority) : faultOfName(url.hostname);
}

function isWebPort(port: string): boolean {
  const number = port === '' ? HTTPS_PORT : Number(port);
  return number === HTTPS_PORT || (number >= FIRST_FREE_PORT && !OTHER_SERVICES.has(number));
}

// The URL parser has turned odd notations (0x7f.1, 2130706433, 0177.0.0.1, ①.1.1.1) into the usual one, which has to be typed.
function faultOfLiteral(url: URL, authority: string): AddressFault | null {
  if (!isPublicAddress(url.hostname)) return 'url_private';
  const typed = authority.replace(/:[0-9]*$/, '').toLowerCase();
  const isUsual = url.hostname.startsWith('[') ? /^\[[0-9a-f:]+\]$/.test(typed) : typed === url.hostname;
  return isUsual ? null : 'url_malformed';
}

// In its form for the DNS: letters of other alphabets, wide ones and percent signs have been turned into it.
function faultOfName(hostname: string): AddressFault | null {
  if (hostname.length > NAME_MAX) return 'url_malformed';
  const labels = hostname.split('.');
  if (PRIVATE_NAME.test(hostname.replace(/\.$/, '')) || labels.length === 1) return 'url_private';
  return labels.every((label) => LABEL.test(label)) ? null : 'url_malformed';
}
