import { isRobot } from '../../domain/robots.ts';
import type { Visit } from '../http/page.ts';

// What browsers and telephones send with a page that nobody has asked to see yet.
const AHEAD_HEADERS = ['sec-purpose', 'purpose', 'x-purpose', 'x-moz'];
const AHEAD = /prefetch|prerender|preview/i;

/**
 * Whether a program came by itself and nobody sees the page: HEAD, a fetch ahead of time, or a known robot. What
 * calls itself a browser cannot be told from one.
 */
export function isAutomatic({ method, headers }: Visit): boolean {
  const ahead = AHEAD_HEADERS.some((name) => AHEAD.test(String(headers[name] ?? '')));
  return method === 'HEAD' || ahead || isRobot(headers['user-agent']);
}
