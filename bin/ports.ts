import { randomInt } from 'node:crypto';
import { createServer, isIP } from 'node:net';
import { errorCode } from '../domain/errors.ts';
import { StartProblem } from './problem.ts';

export function isPortFree(port: number, host: string): Promise<boolean> {
  return listenOnce(port, host).then(
    () => true,
    () => false,
  );
}

// Below the ephemeral ports: a client that reconnects to a crashed server could be given the server's own port, which would block it.
const randomPort = (): number => randomInt(20_000, 32_000);

/** A TCP port on 127.0.0.1: the wanted one where it is free, else any. Another process may still take it first. */
export async function freePort(wanted?: number): Promise<number> {
  let port = wanted ?? randomPort();
  while (!(await isPortFree(port, '127.0.0.1'))) port = randomPort();
  return port;
}

/** The URL of a listener on this machine; PUBLIC_URL may work from outside only. */
export function localUrl(host: string, port: number): string {
  const name = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
  return `http://${name.includes(':') ? `[${name}]` : name}:${port}`;
}

// Listens for a moment. `port` 0: any free one; `host` undefined: every interface. Returns the port.
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

/** Checks that the service could listen here, before anything is started for it. @throws StartProblem that says what is in the way */
export async function expectListenable(port: number, host: string | undefined): Promise<void> {
  try {
    await listenOnce(port, host);
  } catch (error) {
    throw new StartProblem(listenProblem(errorCode(error) ?? String(error), port, host));
  }
}

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
