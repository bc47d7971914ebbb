import { isLiteralAddress, isPublicAddress } from '../../domain/publicAddress.ts';
import { invalidRequest } from '../http/errors.ts';

// Names that never leave the machine or the local network (RFC 6761, RFC 6762, RFC 9476 and customary ones).
const PRIVATE_NAME = /(?:^|\.)(?:localhost|local|internal|intranet|lan|home|corp|private|test|invalid)\.?$/i;
const SPACE_OR_CONTROL = /[\s\p{C}]/u;

/**
 * Checks the address of a webhook: HTTPS, no credentials, no literal private address in whatever notation. What a
 * name resolves to is checked at every delivery, as it may change.
 *
 * @param allowPrivate development and tests: http and private addresses too
 * @throws ApiError 400 with param `url`
 */
export function checkWebhookUrl(input: string, allowPrivate: boolean): void {
  const refuse = (reason: 'url_malformed' | 'url_scheme' | 'url_credentials' | 'url_private') =>
    invalidRequest({ reason }, 'url');
  if (SPACE_OR_CONTROL.test(input) || !URL.canParse(input)) throw refuse('url_malformed');
  const url = new URL(input);
  if (url.protocol !== 'https:' && !(allowPrivate && url.protocol === 'http:')) throw refuse('url_scheme');
  if (url.username !== '' || url.password !== '') throw refuse('url_credentials');
  if (!allowPrivate && isPrivateHost(url.hostname)) throw refuse('url_private');
}

// The URL parser has already turned odd notations (0x7f.1, 2130706433, 0177.0.0.1) into the usual one.
function isPrivateHost(host: string): boolean {
  if (isLiteralAddress(host)) return !isPublicAddress(host);
  return PRIVATE_NAME.test(host) || !host.replace(/\.$/, '').includes('.');
}
