import { eventually } from './eventually.ts';

/** Asks again what the service could not decide in time, which it answers with 504 or, by a token, with 502. */
export async function decided<A extends { status: number }>(ask: () => Promise<A>): Promise<A> {
  return await eventually(ask, ({ status }) => status !== 502 && status !== 504);
}
