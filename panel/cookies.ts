import type { IncomingHttpHeaders } from 'node:http';

/** Cookies of the panel: session, the browser that asked for an e-mail, and the language of its pages; of the console, its session. */
export type CookieName = 'session' | 'browser' | 'language' | 'console';

// Names, which browsers bind to this host over https. Over http, on this machine alone, they would refuse them.
const prefixOf = (url: string): string => (url.startsWith('https:') ? '__Host-goniec_' : 'goniec_');

/** Reads a cookie. @param url where the panel is */
export function readCookie(headers: IncomingHttpHeaders, url: string, name: CookieName): string | null {
  const wanted = `${prefixOf(url)}${name}=`;
  const found = (headers.cookie ?? '').split(/; */).find((pair) => pair.startsWith(wanted));
  return found?.slice(wanted.length) ?? null;
}

/** A `Set-Cookie` header. @param maxAgeS null: until the browser is closed; 0 deletes the cookie */
export function cookieHeader(url: string, name: CookieName, value: string, maxAgeS: number | null): string {
  const prefix = prefixOf(url);
  const age = maxAgeS === null ? '' : `; Max-Age=${maxAgeS}`;
  const secure = prefix.startsWith('__Host-') ? '; Secure' : '';
  return `${prefix}${name}=${value}; Path=/; HttpOnly; SameSite=Lax${age}${secure}`;
}
