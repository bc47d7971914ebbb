import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/** Whether a TCP port can be listened on at this moment, whatever is in the way; host undefined means every interface. */
export function isPortFree(port: number, host: string | undefined): Promise<boolean> {
  return listenOnce(port, host).then(
    () => true,
    () => false,
  );
}

// Below the range from which systems take the ports of outgoing connections: a client that reconnects to a server
// that has fallen could otherwise be given the server's own port, and the server could not come back to it.
const FIRST_PORT = 20_000;
const LAST_PORT = 31_999;
const TRIES = 100;

/**
 * A TCP port on 127.0.0.1: the first of the wanted ones that is free, else any. Whoever is faster can still take it, so
 * callers that fail to bind ask again.
 */
export async function freePort(...wanted: (number | undefined)[]): Promise<number> {
  for (const port of wanted) {
    if (port !== undefined && (await isPortFree(port, '127.0.0.1'))) return port;
  }
  for (let attempt = 0; attempt < TRIES; attempt += 1) {
    const port = randomInt(FIRST_PORT, LAST_PORT + 1);
    if (await isPortFree(port, '127.0.0.1')) return port;
  }
  return listenOnce(0, '127.0.0.1');
}

/** A free port on 127.0.0.1 that is not among those dealt out already: the wanted one where it can be. */
export async function freePortBeside(
  dealt: ReadonlySet<number>,
  wanted: number | undefined,
): Promise<number> {
  for (;;) {
    const port = await freePort(wanted !== undefined && dealt.has(wanted) ? undefined : wanted);
    if (!dealt.has(port)) return port;
  }
}

/**
 * The address of what listens on `host`, as it works on this machine: PUBLIC_URL may lead here only from outside.
 */
export function localUrl(host: string, port: number): string {
  const name = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
  return `http://${name.includes(':') ? `[${name}]` : name}:${port}`;
}

/**
 * Listens on a TCP port for a moment.
 * @param port 0 takes a free one
 * @returns the port; rejects with the system's error where that cannot be
 */
export function listenOnce(port: number, host: string | undefined): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen({ port, ...(host === undefined ? {} : { host }) }, () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : port));
    });
  });
}
