import {
  type CallbackCall,
  callbackPaths,
  authenticateCallback,
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
  beforeRead?: () => Promise<void>;
}

/** A visit as a provider's callback; the body is read once, on first use. */
export function callOf(
  { method, query, headers, request }: Visit,
  { maxBytes, withinMs, beforeRead }: CallReading,
): CallbackCall {
  let body: Promise<Buffer> | undefined;
  const read = async (): Promise<Buffer> => {
    await beforeRead?.();
    return await readBytes(request, { limitBytes: maxBytes, withinMs });
  };
  return { method, query, headers, body: () => (body ??= read()) };
}

export function textResponse(
  status: number,
  body: string,
  headers: Readonly<Record<string, string>> = {},
): PageAnswer {
  return { status, headers: { ...PLAIN, ...headers }, body };
}

/** Turns an HttpRefused, e.g. for a body over the limit, into a plain response with the error code. */
export async function withPlainErrors(answering: Promise<PageAnswer>): Promise<PageAnswer> {
  try {
    return await answering;
  } catch (error) {
    if (!(error instanceof HttpRefused)) throw error;
    const { status, code, headers } = errorAnswer(error);
    return textResponse(status, code, headers);
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
    handle: (visit) => withPlainErrors(answerTo(path, visit)),
    failed: () => textResponse(503, 'unavailable'),
  };
}

async function answerTo(path: string, visit: Visit): Promise<PageAnswer> {
  const { services, params, address, method } = visit;
  const { route = '', secret = null } = params;
  const call = callOf(visit, { maxBytes: BODY_BYTES });
  const callback = await authenticateCallback(services, { route, path, secret, address }, call);
  // HEAD must not store anything, and has no body for the `OK`.
  if (callback === null || method === 'HEAD') return textResponse(404, 'not found');
  const content = await callback.read(call);
  if (content !== null) {
    await storeContent(services.sql, route, content);
    return textResponse(200, 'OK');
  }
  // Staff must look into this: our parser does not understand the payload, so its content is not stored.
  const { requestId } = visit;
  services.log.warn({ route, kind: callback.name, requestId }, 'a callback was not understood');
  return textResponse(400, 'not understood');
}
