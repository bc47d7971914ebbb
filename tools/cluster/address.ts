/** Splits `host:port` at its last colon. */
export function splitAddress(address: string): { host: string; port: string } {
  const colon = address.lastIndexOf(':');
  return { host: address.slice(0, colon), port: address.slice(colon + 1) };
}
