import type { Request } from 'koa';
import { plainAddress } from '../../domain/ipAddress.ts';

/**
 * From where a request came, in one form of its many (IPv4 also where it hides in IPv6): the other end of the connection, or with
 * `TRUST_PROXY` what the proxy next to us wrote last into `X-Forwarded-For`. Where that is no address, the connection's.
 */
export function clientAddress(context: Pick<Request, 'ip' | 'req'>): string {
  return plainAddress(context.ip) ?? plainAddress(context.req.socket.remoteAddress ?? '') ?? UNKNOWN;
}

// Of a connection that was closed before it was looked at.
const UNKNOWN = '0.0.0.0';
