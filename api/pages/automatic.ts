import { isKnownRobot, isRobot } from '../../domain/links.ts';
import type { Visit } from '../http/page.ts';

// Headers of browsers that prefetch or preview a page.
const PREFETCH_HEADERS = ['sec-purpose', 'purpose', 'x-purpose', 'x-moz'];
const PREFETCH = /prefetch|prerender|preview/i;

/** Whether the client looks like a program, for click statistics. */
export function isAutomatic(visit: Visit): boolean {
  return isPrefetch(visit) || isRobot(visit.headers['user-agent']);
}

/** Whether the client is known to be a program: HEAD, a prefetch, or a known robot. Unknown clients count as people. */
export function isKnownAutomatic(visit: Visit): boolean {
  return isPrefetch(visit) || isKnownRobot(visit.headers['user-agent']);
}

function isPrefetch({ method, headers }: Visit): boolean {
  return method === 'HEAD' || PREFETCH_HEADERS.some((name) => PREFETCH.test(String(headers[name] ?? '')));
}
