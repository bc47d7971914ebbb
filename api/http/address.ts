import ipaddr from 'ipaddr.js';
import type { Request } from 'koa';

const WITH_PORT = /^(?:\[([^\]]+)\]|([0-9.]+)):[0-9]{1,5}$/;

/**
 * From where a request came, in one form of its many (IPv4 also where it hides in IPv6): the other end of the connection, or with
 * `TRUST_PROXY` what the proxy next to us wrote last into `X-Forwarded-For`. Where that is no address, the connection's.
 */
export function clientAddress(context: Pick<Request, 'ip' | 'req'>): string {
  return plainAddress(context.ip) ?? plainAddress(context.req.socket.remoteAddress ?? '') ?? UNKNOWN;
}

// Of a connection that was closed before it was looked at.
const UNKNOWN = '0.0.0.0';

/** An address in one form of its many: IPv4 also where it hides in IPv6; without port and zone. @returns null for what is none */
export function plainAddress(text: string): string | null {
  const [, six, four] = WITH_PORT.exec(text) ?? [];
  const [address = ''] = (six ?? four ?? text).split('%');
  return ipaddr.IPv4.isValidFourPartDecimal(address) || ipaddr.IPv6.isValid(address)
    ? ipaddr.process(address).toString()
    : null;
}
