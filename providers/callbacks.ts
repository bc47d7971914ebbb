import type { IncomingHttpHeaders } from 'node:http';
import type { NetworkReply } from '../domain/incoming.ts';
import type { DeliveryReport, LookupAnswer } from '../domain/submission.ts';

const FIELDS_MAX = 100;
const FORM = /^application\/x-www-form-urlencoded\s*(?:;|$)/i;
const MULTIPART = /^multipart\/form-data\s*;/i;

/** The fields of a callback; each came exactly once. */
export type CallbackFields = ReadonlyMap<string, string>;

/**
 * The fields of a callback: of the query for GET, of the form for POST.
 * @returns null when there is no form to read, or too much of it, or one field came twice
 * @throws what reading the body throws
 */
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

/** A call as it came to one of our callback addresses. */
export interface CallbackCall {
  method: string;
  /** As it came, without the question mark. */
  query: string;
  headers: IncomingHttpHeaders;
  /**
   * Read when it is first asked for.
   * @throws what the API answers where there is too much of it, or it was cut off: to be let through
   */
  body(): Promise<Buffer>;
}

/** What a call brought. */
export type CallbackContent =
  | { kind: 'reports'; reports: DeliveryReport[] }
  | { kind: 'replies'; replies: NetworkReply[] }
  /** `providerId` is what the provider called the look-up when it was asked. */
  | { kind: 'lookup'; providerId: string; answer: LookupAnswer };

/** What a provider calls us for. */
export interface Callback {
  /** What follows the route in the address; `:secret` stands for the route's secret: `:secret/reports`. */
  path: string;
  /** @returns null when this is no such call: nothing of it is stored, and the provider is to call again */
  read(call: CallbackCall): Promise<CallbackContent | null>;
}

/**
 * What shows that a call is the provider's. A path with `:secret` is proven by a secret; one without needs `signed`. Where there
 * are both, both have to fit.
 */
export interface CallbackGuard {
  /** Good in the path until then, epoch milliseconds; the first is the one for new addresses. */
  secrets: readonly { secret: string; until: number }[];
  /** Where calls may come from; none: from anywhere. */
  addresses: readonly string[];
  /** Whether the provider signed this; compares in constant time. */
  signed?: (call: CallbackCall) => Promise<boolean>;
}

/** The callbacks of a kind, for routes with these settings and credentials. */
export interface Callbacks<Settings, Credentials> {
  /** The base address of our API as the provider sees it, without a slash at the end. */
  base(settings: Settings): string | undefined;
  guard(settings: Settings, credentials: Credentials): CallbackGuard;
  /** By what each is for. */
  calls: Readonly<Record<string, Callback>>;
}

/** The pattern of the addresses of all routes that a callback of this path comes to. */
export const callbackPattern = (path: string): string => `/callbacks/:route/${path}`;

/**
 * An address that the provider is to call. Whoever knows it may report anything about the route's messages where it holds a
 * secret.
 *
 * @param base of our API, without a slash at the end
 */
export function callbackAddress(base: string, route: string, path: string, secret: string): string {
  const given: Record<string, string> = { ':route': route, ':secret': secret };
  return `${base}${callbackPattern(path).replace(/:[a-z]+/g, (place) => given[place] ?? place)}`;
}
