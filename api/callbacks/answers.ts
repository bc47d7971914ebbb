import type { CallbackCall } from '../../operations/incoming/provenCallback.ts';
import { readBytes } from '../http/body.ts';
import type { PageAnswer, Visit } from '../http/page.ts';
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
