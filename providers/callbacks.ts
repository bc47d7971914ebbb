import type { IncomingHttpHeaders } from 'node:http';
import type { NetworkReply } from '../domain/incoming.ts';
import type { DeliveryReport, LookupAnswer } from '../domain/submission.ts';

const FIELDS_MAX = 100;
const FORM = /^application\/x-www-form-urlencoded\s*(?:;|$)/i;
const MULTIPART = /^multipart\/form-data\s*;/i;

export type CallbackFields = ReadonlyMap<string, string>;

/** Reads query (GET) or form (POST) fields; null without a form, with over 100 fields or duplicates. @throws if reading the body fails */
export async function readFields(call: CallbackCall): Promise<CallbackFields | null> {
  if (call.method !== 'POST') return fieldsOf(new URLSearchParams(call.query));
  const type = call.headers['content-type'] ?? '';
  const isForm = FORM.test(type);
  if (!isForm && !MULTIPART.test(type)) return null;
  const bytes = await call.body();
  if (isForm) return fieldsOf(new URLSearchParams(bytes.toString('utf8')));
  try {
    const form = await new Response(new Uint8Array(bytes), { headers: { 'content-type': type } }).formData();
    return fieldsOf(form);
  } catch {
    return null;
  }
}

function fieldsOf(form: Iterable<[string, unknown]>): CallbackFields | null {
  const fields = new Map<string, string>();
  for (const [name, value] of form) {
    if (typeof value !== 'string' || fields.has(name) || fields.size >= FIELDS_MAX) return null;
    fields.set(name, value);
  }
  return fields;
}

export interface CallbackCall {
  method: string;
  /** Raw, without the question mark. */
  query: string;
  headers: IncomingHttpHeaders;
  /** Reads the body on first use. @throws the API's own error for a body that is too large or cut off; do not catch it */
  body(): Promise<Buffer>;
}

export type CallbackContent =
  | { kind: 'reports'; reports: DeliveryReport[] }
  | { kind: 'replies'; replies: NetworkReply[] }
  /** `providerId` is the provider's id of the look-up. */
  | { kind: 'lookup'; providerId: string; answer: LookupAnswer };

export interface Callback {
  /** Path below the route; `:secret` stands for the route's secret: `:secret/reports`. */
  path: string;
  /** @returns null when the request is not such a callback: nothing is stored, and the provider is expected to retry */
  read(call: CallbackCall): Promise<CallbackContent | null>;
}

/** How a callback is authenticated: by a `:secret` in its path, by `signed`, or by both, and then both have to match. */
export interface CallbackGuard {
  /** Accepted in the path until `until` (epoch milliseconds); the first one is used in new URLs. */
  secrets: readonly { secret: string; until: number }[];
  /** IP addresses that may call; empty: any. */
  addresses: readonly string[];
  /** Verifies the provider's signature in constant time. */
  signed?: (call: CallbackCall) => Promise<boolean>;
}

/** The callbacks of a provider kind, given a route's settings and credentials. */
export interface Callbacks<Settings, Credentials> {
  /** Base URL of our API as the provider reaches it, without a trailing slash. */
  base(settings: Settings): string | undefined;
  guard(settings: Settings, credentials: Credentials): CallbackGuard;
  calls: Readonly<Record<string, Callback>>;
}

/** URL pattern of a callback path, for all routes. */
export const callbackPattern = (path: string): string => `/callbacks/:route/${path}`;

/** The URL for a provider (`base` has no trailing slash). Anyone who knows one with a secret can report on the route's messages. */
export function callbackAddress(base: string, route: string, path: string, secret: string): string {
  const given: Record<string, string> = { ':route': route, ':secret': secret };
  return `${base}${callbackPattern(path).replace(/:[a-z]+/g, (place) => given[place] ?? place)}`;
}
