import ipaddr from 'ipaddr.js';

// As proxies write them in X-Forwarded-For: IPv6 in brackets also where no port follows.
const WITH_PORT = /^(?:\[([^\]]+)\](?::[0-9]{1,5})?|([0-9.]+):[0-9]{1,5})$/;

/** An address in one form of its many: IPv4 also where it hides in IPv6; without port and zone. @returns null for what is none */
export function plainAddress(text: string): string | null {
  const [, six, four] = WITH_PORT.exec(text) ?? [];
  const [address = ''] = (six ?? four ?? text).split('%');
  return ipaddr.IPv4.isValidFourPartDecimal(address) || ipaddr.IPv6.isValid(address)
    ? ipaddr.process(address).toString()
    : null;
}
