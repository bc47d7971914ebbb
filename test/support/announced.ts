import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { inject } from 'vitest';

/**
 * Announces a JSON body and never sends it: one that is too long is answered without.
 * @param headers beside those of its type and length
 * @returns the status
 */
export async function announce(
  method: string,
  path: string,
  { bytes, ...headers }: { bytes: number; authorization: string; 'content-type'?: string },
): Promise<number> {
  const asking = request(inject('service').apiUrl + path, {
    method,
    headers: { 'content-type': 'application/json', ...headers, 'content-length': bytes },
  });
  asking.flushHeaders();
  const [answer] = (await once(asking, 'response')) as [IncomingMessage];
  asking.on('error', () => undefined).destroy();
  return answer.statusCode!;
}
