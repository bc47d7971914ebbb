import { randomInt } from 'node:crypto';
import { createServer, isIP } from 'node:net';
import { errorCode, StartProblem } from './problem.ts';

/** Whether a TCP port can be listened on at this moment, whatever is in the way. */
export function isPortFree(port: number, host: string): Promise<boolean> {
  return listenOnce(port, host).then(
    () => true,
    () => false,
  );
}

// Below the range from which systems take the ports of outgoing connections: a client that reconnects to a server
// that has fallen could otherwise be given the server's own port, and the server could not come back to it.
const randomPort = (): number => randomInt(20_000, 32_000);

/** A TCP port on 127.0.0.1: the wanted one where it is free, else any. Whoever is faster can still take it. */
export async function freePort(wanted?: number): Promise<number> {
  let port = wanted ?? randomPort();
  while (!(await isPortFree(port, '127.0.0.1'))) port = randomPort();
  return port;
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
 * @param host undefined means every interface
 * @returns the port; rejects with the system's error where that cannot be
 */
function listenOnce(port: number, host: string | undefined): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen({ port, ...(host === undefined ? {} : { host }) }, () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : port));
    });
  });
}

/**
 * Tries whether the service could listen here at this moment, before anything is started for it.
 * @param host undefined means every interface
 * @throws StartProblem that says what is in the way
 */
export async function expectListenable(port: number, host: string | undefined): Promise<void> {
  try {
    await listenOnce(port, host);
  } catch (error) {
    throw new StartProblem(listenProblem(errorCode(error) ?? String(error), port, host));
  }
}

/** The sentence about an address that cannot be listened on, by the code of the system's error. */
export function listenProblem(code: string, port: number, host: string | undefined): string {
  switch (code) {
    case 'EADDRINUSE':
      return `Port ${port} is already in use by another program; stop it, or set PORT to another one.`;
    case 'EACCES':
    case 'EPERM':
      return `The service may not listen on port ${port} (${code}); allow it, or set PORT to another one.`;
    case 'EADDRNOTAVAIL':
      return `HOST: ${host} is not an address of this machine (${code}); set HOST to one that is.`;
    default:
      return host === undefined || isIP(host) !== 0
        ? `Port ${port} cannot be listened on (${code}); set PORT or HOST to another one.`
        : `HOST: ${host} cannot be listened on (${code}); set HOST to an address of this machine.`;
  }
}
