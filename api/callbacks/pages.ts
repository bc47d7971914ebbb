import {
  type CallbackCall,
  callbackPaths,
  provenCallback,
  storeContent,
} from '../../operations/incoming/provenCallback.ts';
import { readBytes } from '../http/body.ts';
import type { Page, PageAnswer, Visit } from '../http/page.ts';
import { errorAnswer, HttpRefused } from '../http/refusals.ts';

const PLAIN = { 'Content-Type': 'text/plain; charset=utf-8' };

interface CallReading {
  maxBytes: number;
  /** Milliseconds for the whole body to arrive; by default derived from `maxBytes`. */
  withinMs?: number;
  mayRead?: () => Promise<void>;
}

/** A visit as a provider's callback; the body is read once, on first use. */
export function callOf(
  { method, query, headers, request }: Visit,
  { maxBytes, withinMs, mayRead }: CallReading,
): CallbackCall {
  let body: Promise<Buffer> | undefined;
  const read = async (): Promise<Buffer> => {
    await mayRead?.();
    return await readBytes(request, { limitBytes: maxBytes, withinMs });
  };
  return { method, query, headers, body: () => (body ??= read()) };
}

export function plain(
  status: number,
  body: string,
  headers: Readonly<Record<string, string>> = {},
): PageAnswer {
  return { status, headers: { ...PLAIN, ...headers }, body };
}

/** Turns an HttpRefused, e.g. for a body over the limit, into a plain response with the error code. */
export async function answered(answering: Promise<PageAnswer>): Promise<PageAnswer> {
  try {
    return await answering;
  } catch (error) {
    if (!(error instanceof HttpRefused)) throw error;
    const { status, code, headers } = errorAnswer(error);
    return plain(status, code, headers);
  }
}

// 100 reports with a dozen fields of 30 characters each are 36 kB; the longest reply is far shorter.
const BODY_BYTES = 64 * 1024;

/** Callbacks for delivery reports, replies and look-ups. `OK` only once the content is stored: the provider retries after anything else. */
export const callbacks: readonly Page[] = [...callbackPaths()].map(callbackPage);

function callbackPage([path, pattern]: [string, string]): Page {
  return {
    methods: ['GET', 'POST'],
    path: pattern,
    visitors: false,
    handle: (visit) => answered(answerTo(path, visit)),
    failed: () => plain(503, 'unavailable'),
  };
}

async function answerTo(path: string, visit: Visit): Promise<PageAnswer> {
  const { services, params, address, method } = visit;
  const { route = '', secret = null } = params;
  const call = callOf(visit, { maxBytes: BODY_BYTES });
  const callback = await provenCallback(services, { route, path, secret, address }, call);
  // HEAD must not store anything, and has no body for the `OK`.
  if (callback === null || method === 'HEAD') return plain(404, 'not found');
  const content = await callback.read(call);
  if (content !== null) {
    await storeContent(services.sql, route, content);
    return plain(200, 'OK');
  }
  // Staff must look into this: our parser does not understand the payload, so its content is not stored.
  const { requestId } = visit;
  services.log.warn({ route, kind: callback.name, requestId }, 'a callback was not understood');
  return plain(400, 'not understood');
}
