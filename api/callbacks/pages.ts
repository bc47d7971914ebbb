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

/** How a provider's body is read. */
interface CallReading {
  maxBytes: number;
  /** For how many milliseconds it may take to come; as any body of its size unless told. */
  withinMs?: number;
  /** Waited for before it is read. */
  mayRead?: () => Promise<void>;
}

/** A provider's call, whose body is read once, by whoever asks for it first. */
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

/** Answers a provider with one line of text. */
export function plain(
  status: number,
  body: string,
  headers: Readonly<Record<string, string>> = {},
): PageAnswer {
  return { status, headers: { ...PLAIN, ...headers }, body };
}

/** Answers a call that is refused, a body over the limit say, with the code alone. */
export async function answered(answering: Promise<PageAnswer>): Promise<PageAnswer> {
  try {
    return await answering;
  } catch (error) {
    if (!(error instanceof HttpRefused)) throw error;
    const { status, code, headers } = errorAnswer(error);
    return plain(status, code, headers);
  }
}

// A hundred reports with their dozen fields of 30 characters are 36 kB; the longest reply is far shorter.
const BODY_BYTES = 64 * 1024;

/**
 * The addresses that providers call with delivery reports, replies and answers to look-ups. `OK` means that we have what the call
 * brought, so it is answered only once that is stored; after anything else the provider calls again.
 */
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
  // HEAD stands for nothing here: it must not store anything, and has no body to say OK in.
  if (callback === null || method === 'HEAD') return plain(404, 'not found');
  const content = await callback.read(call);
  if (content !== null) {
    await storeContent(services.sql, route, content);
    return plain(200, 'OK');
  }
  // Somebody has to look: the provider speaks otherwise than we understand, and what it brought is not stored.
  const { requestId } = visit;
  services.log.warn({ route, kind: callback.name, requestId }, 'a callback was not understood');
  return plain(400, 'not understood');
}
