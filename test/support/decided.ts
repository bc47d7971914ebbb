import { eventually } from './eventually.ts';

/**
 * Asks until the service has decided in time. What it answers otherwise, 504 or by a token 502, it has not done: a customer asks again, and
 * so does a test that does not mean that.
 */
export async function decided<A extends { status: number }>(ask: () => Promise<A>): Promise<A> {
  return await eventually(ask, ({ status }) => status !== 502 && status !== 504);
}
