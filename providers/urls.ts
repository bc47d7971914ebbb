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

/** A setting: the base address of our API as a provider sees it, without a slash at the end. */
export const publicUrl = plainUrl.transform(withoutSlash);

function isPlain({ username, password, search, hash }: URL): boolean {
  return username === '' && password === '' && search === '' && hash === '';
}

function withoutSlash(url: string): string {
  return new URL(url).href.replace(/\/+$/, '');
}
