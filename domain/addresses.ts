import ipaddr from 'ipaddr.js';

// As proxies write them in X-Forwarded-For: IPv6 in brackets even without a port.
const WITH_PORT = /^(?:\[([^\]]+)\](?::[0-9]{1,5})?|([0-9.]+):[0-9]{1,5})$/;

/** The canonical form of an IP address: without port and zone, IPv4-mapped IPv6 as IPv4. Null for anything else. */
export function plainAddress(text: string): string | null {
  const [, six, four] = WITH_PORT.exec(text) ?? [];
  const [address = ''] = (six ?? four ?? text).split('%');
  return ipaddr.IPv4.isValidFourPartDecimal(address) || ipaddr.IPv6.isValid(address)
    ? ipaddr.process(address).toString()
    : null;
}

/** Hostnames of this machine, as `URL` has them. */
export const LOOPBACK_HOSTS: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]']);

/** @param address as {@link plainAddress} returns it */
export function isLoopback(address: string): boolean {
  return ipaddr.parse(address).range() === 'loopback';
}

// All of IPv6 that is assigned for global unicast (RFC 4291, 2.4; IANA, IPv6 Global Unicast Address Assignments).
const GLOBAL_IPV6 = ipaddr.IPv6.parseCIDR('2000::/3');
// Host services of Azure, reachable only from its machines.
const OF_A_CLOUD = ['168.63.129.16'];

/**
 * Whether an IP address (IPv6 also in brackets) is public: global unicast (RFC 6890), and no IPv6 embedding another address (mapped, 6to4,
 * Teredo, NAT64), whose translator may be next to us.
 */
export function isPublicAddress(address: string): boolean {
  const text = withoutBrackets(address);
  if (!ipaddr.isValid(text) || text.includes('%')) return false;
  const parsed = ipaddr.parse(text);
  if (parsed.range() !== 'unicast' || OF_A_CLOUD.includes(parsed.toString())) return false;
  return parsed instanceof ipaddr.IPv4 || parsed.match(GLOBAL_IPV6);
}

export function isLiteralAddress(hostname: string): boolean {
  return ipaddr.isValid(withoutBrackets(hostname));
}

function withoutBrackets(address: string): string {
  return address.replace(/^\[|\]$/g, '');
}

const SHORTENED = { ipv4: 24, ipv6: 48 } as const;
const OF_ONE_CUSTOMER = { ipv4: 32, ipv6: 64 } as const;

/** The network of an IP address, /24 or /48, so that it identifies no visitor: `203.0.113.0/24`. Null for no address. */
export function shortenedAddress(address: string): string | null {
  return networkOf(address, SHORTENED);
}

/** What limits count for an IP address: itself, or of IPv6 the /64, which one customer of a provider has. Null for no address. */
export function limitedNetwork(address: string): string | null {
  return networkOf(address, OF_ONE_CUSTOMER);
}

function networkOf(address: string, bitsOf: Readonly<Record<'ipv4' | 'ipv6', number>>): string | null {
  const text = address.replace(/%.*$/, '');
  if (!ipaddr.isValid(text)) return null;
  const parsed = ipaddr.process(text);
  const bits = bitsOf[parsed.kind()];
  const bytes = parsed.toByteArray().map((byte, index) => (index < bits / 8 ? byte : 0));
  return `${ipaddr.fromByteArray(bytes).toString()}/${bits}`;
}

type AddressFault =
  'url_malformed' | 'url_scheme' | 'url_credentials' | 'url_fragment' | 'url_port' | 'url_private';

const HTTPS_PORT = 443;
// Ports below are the system's; of those above, these are known for protocols other than HTTP. Browsers refuse the first two lines too
// (https://fetch.spec.whatwg.org/#port-blocking).
const FIRST_FREE_PORT = 1024;
const OTHER_SERVICES = new Set([
  1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697,
  10080,
  // Databases, queues, caches, remote access, cluster management.
  1433, 1521, 1883, 2181, 2375, 2376, 2379, 2380, 2775, 3268, 3269, 3306, 3389, 5432, 5672, 5671, 5900, 5985,
  5986, 6379, 6380, 6443, 7233, 8883, 9042, 9092, 9200, 9300, 10250, 11211, 26257, 27017,
]);

// Names of the machine or local network, or not of the public DNS (RFC 6761, RFC 6762, RFC 7686, RFC 8375, RFC 9476, ICANN's .internal,
// and customary ones).
const PRIVATE_NAME =
  /(?:^|\.)(?:localhost|localdomain|local|internal|intranet|lan|home|corp|mail|private|test|invalid|example|onion|alt|arpa)$/;
const LABEL = /^(?!-)[a-z0-9_-]{1,63}(?<!-)$/;
const NAME_MAX = 253;
const SPACE_OR_CONTROL = /[\s\p{C}]/u;

/**
 * Validates a webhook's URL, null if valid. The addresses of a name are checked on connecting, as they may change.
 * @param allowPrivate development and tests: also http, any port, private names and addresses
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

// The URL parser has made odd notations (0x7f.1, 2130706433, 0177.0.0.1, ①.1.1.1) canonical; only the canonical one is accepted.
function faultOfLiteral(url: URL, authority: string): AddressFault | null {
  if (!isPublicAddress(url.hostname)) return 'url_private';
  const typed = authority.replace(/:[0-9]*$/, '').toLowerCase();
  const isUsual = url.hostname.startsWith('[') ? /^\[[0-9a-f:]+\]$/.test(typed) : typed === url.hostname;
  return isUsual ? null : 'url_malformed';
}

// The URL parser has converted the name to its ASCII form.
function faultOfName(hostname: string): AddressFault | null {
  if (hostname.length > NAME_MAX) return 'url_malformed';
  const labels = hostname.split('.');
  if (PRIVATE_NAME.test(hostname.replace(/\.$/, '')) || labels.length === 1) return 'url_private';
  return labels.every((label) => LABEL.test(label)) ? null : 'url_malformed';
}
