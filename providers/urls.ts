import { z } from 'zod';

const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]']);

const plainUrl = z
  .url({ protocol: /^https?$/, abort: true })
  .refine((url) => isPlain(new URL(url)), 'must have no user, query or fragment');

/**
 * A setting: the base address of a provider's interface, without a slash at the end. Keys and texts go over it: never in clear,
 * except to a provider on this very machine (tests).
 */
export const providerUrl = plainUrl
  .refine(
    (url) => new URL(url).protocol === 'https:' || LOOPBACK.has(new URL(url).hostname),
    'must begin with https://',
  )
  .transform(withoutSlash);

/**
 * A setting: the base address of this service as others see it, without a slash at the end. A host with letters beyond ASCII is
 * written as DNS has it: in an SMS they would cost a part more than half its length.
 */
export const publicUrl = plainUrl.transform(withoutSlash);

function isPlain({ username, password, search, hash }: URL): boolean {
  return username === '' && password === '' && search === '' && hash === '';
}

// Without the mark of an empty query or fragment too, which `href` keeps.
function withoutSlash(url: string): string {
  const { origin, pathname } = new URL(url);
  return (origin + pathname).replace(/\/+$/, '');
}
