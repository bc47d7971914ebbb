import type { CallbackCall } from '../../operations/incoming/provenCallback.ts';
import { readBytes } from '../http/body.ts';
import type { PageAnswer, Visit } from '../http/page.ts';
import { errorAnswer, HttpRefused } from '../http/refusals.ts';

const PLAIN = { 'Content-Type': 'text/plain; charset=utf-8' };

/**
 * A provider's call, whose body is read once, by whoever asks for it first.
 * @param maxBytes of the body
 * @param mayRead waited for before it is read
 */
export function callOf(
  { method, query, headers, request }: Visit,
  maxBytes: number,
  mayRead?: () => Promise<void>,
): CallbackCall {
  let body: Promise<Buffer> | undefined;
  const read = async (): Promise<Buffer> => {
    await mayRead?.();
    return await readBytes(request, { owner: null, limitBytes: maxBytes });
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
