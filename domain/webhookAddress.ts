import { isLiteralAddress, isPublicAddress } from './publicAddress.ts';

/** What is wrong with the address of a webhook. */
export type AddressFault =
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
