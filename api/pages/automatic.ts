import { isKnownRobot, isRobot } from '../../domain/links.ts';
import type { Visit } from '../http/page.ts';

// What browsers and telephones send with a page that nobody has asked to see yet.
const AHEAD_HEADERS = ['sec-purpose', 'purpose', 'x-purpose', 'x-moz'];
const AHEAD = /prefetch|prerender|preview/i;

/** Whether it looks as if a program came by itself and nobody sees the page, for what is counted of visits. */
export function isAutomatic(visit: Visit): boolean {
  return isAhead(visit) || isRobot(visit.headers['user-agent']);
}

/**
 * Whether a program came by itself and nobody sees the page, by what it says of itself: HEAD, a fetch ahead of time, or a
 * known robot. Who is not known is a visitor; what calls itself a browser cannot be told from one.
 */
export function isKnownAutomatic(visit: Visit): boolean {
  return isAhead(visit) || isKnownRobot(visit.headers['user-agent']);
}

function isAhead({ method, headers }: Visit): boolean {
  return method === 'HEAD' || AHEAD_HEADERS.some((name) => AHEAD.test(String(headers[name] ?? '')));
}
