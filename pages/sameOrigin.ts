import type { IncomingHttpHeaders } from 'node:http';

/**
 * Whether a form was sent by a page of ours: what another site makes a visitor's browser send must change nothing. Browsers that send no
 * `Sec-Fetch-Site` send `Origin`; whoever sends neither is refused.
 */
export function isSameOrigin(headers: IncomingHttpHeaders): boolean {
  const site = headers['sec-fetch-site'];
  if (site !== undefined) return site === 'same-origin';
  const { origin = '', host } = headers;
  return URL.canParse(origin) && new URL(origin).host === host;
}
