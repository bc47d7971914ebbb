import { randomInt } from 'node:crypto';
import { createServer, request, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { errorCode } from './problem.ts';
import { freePort, isPortFree } from './ports.ts';

/** Where a server listens. */
export type Place = { host: string; port: number };

/** A gate that listens. */
export type UiGate = {
  port: number;
  /** Listens no more and breaks every connection. May be called twice. */
  close(): Promise<void>;
};

// The names by which this machine is called from itself. A page whose name was made to lead here sends its own.
const OWN_NAMES = new Set(['localhost', '127.0.0.1', '[::1]']);
const CHANGES_NOTHING = new Set(['GET', 'HEAD']);
const PORTS = [20_000, 31_999] as const;

/**
 * Opens a door to Temporal's Web UI on 127.0.0.1 that only people at this machine and pages of the UI itself go through.
 * The UI asks nobody who he is and does not look at the name by which it was called, so that a page of another site could
 * read and cancel workflows once its name leads to this machine (DNS rebinding).
 * @param wanted the port to listen on, where it is free
 */
export async function openUiGate(wanted: number, target: Place): Promise<UiGate> {
  const server = createServer((incoming, answer) => {
    if (isWelcome(incoming)) passOn(incoming, answer, target);
    else answer.writeHead(403, { 'content-type': 'text/plain' }).end('Not for pages of other sites.\n');
  });
  const port = await listen(server, wanted);
  return {
    port,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/**
 * An address of the loopback network for the UI itself, which no page can find: one of 2^24 with one of 12,000 ports.
 * Elsewhere than on Linux only 127.0.0.1 is there.
 */
export async function hiddenPlace(): Promise<Place> {
  const part = (): number => randomInt(1, 255);
  const host = process.platform === 'linux' ? `127.${part()}.${part()}.${part()}` : '127.0.0.1';
  for (;;) {
    const port = randomInt(PORTS[0], PORTS[1] + 1);
    if (await isPortFree(port, host)) return { host, port };
  }
}

function isWelcome({ method = '', headers }: IncomingMessage): boolean {
  const { host = '', origin, 'sec-fetch-site': site, 'sec-fetch-mode': mode } = headers;
  if (!OWN_NAMES.has(host.replace(/:\d+$/, '').toLowerCase())) return false;
  if (origin !== undefined && origin !== `http://${host}`) return false;
  if (site === undefined || site === 'same-origin' || site === 'none') return true;
  // A link to the UI may stand anywhere.
  return CHANGES_NOTHING.has(method) && mode === 'navigate';
}

function passOn(incoming: IncomingMessage, answer: ServerResponse, { host, port }: Place): void {
  const { method, url, headers } = incoming;
  const onward = request({ host, port, method, path: url, headers }, (found) => {
    answer.writeHead(found.statusCode ?? 502, found.headers);
    found.pipe(answer);
    found.on('error', () => answer.destroy());
  });
  onward.on('error', () => {
    if (answer.headersSent) answer.destroy();
    else answer.writeHead(502).end();
  });
  answer.on('close', () => onward.destroy());
  incoming.pipe(onward);
}

async function listen(server: Server, wanted: number): Promise<number> {
  for (let port = wanted; ; port = await freePort()) {
    const taken = await new Promise<boolean>((resolve, reject) => {
      const failed = (error: Error): void =>
        errorCode(error) === 'EADDRINUSE' ? resolve(true) : reject(error);
      server.once('error', failed);
      server.listen(port, '127.0.0.1', () => {
        server.off('error', failed);
        resolve(false);
      });
    });
    if (!taken) return port;
  }
}
