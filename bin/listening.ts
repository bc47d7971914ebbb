import { isIP } from 'node:net';
import { listenOnce } from './ports.ts';
import { errorCode, StartProblem } from './problem.ts';

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
