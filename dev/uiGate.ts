import { randomInt } from 'node:crypto';
import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http';
import { freePort } from '../bin/ports.ts';

type Place = { host: string; port: number };

// The names by which this machine is called from itself. A page whose name was made to lead here sends its own.
const OWN_NAMES = ['localhost', '127.0.0.1', '[::1]'];

/**
 * Opens a door to Temporal's Web UI on 127.0.0.1 that only people at this machine and pages of the UI itself go through.
 * The UI asks nobody who he is and does not look at the name by which it was called, so that a page of another site could
 * read and cancel workflows once its name leads to this machine (DNS rebinding).
 * @returns what closes it and breaks every connection
 */
export async function openUiGate(port: number, target: Place): Promise<() => void> {
  const server = createServer((incoming, answer) => {
    if (isSameOrigin(incoming)) passOn(incoming, answer, target);
    else answer.writeHead(403, { 'content-type': 'text/plain' }).end('Not for pages of other sites.\n');
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(port, '127.0.0.1', resolve);
  });
  return () => {
    server.close();
    server.closeAllConnections();
  };
}

/**
 * An address of the loopback network for the UI itself, which no page can find: one of 2^24 with one of 12,000 ports.
 * Elsewhere than on Linux only 127.0.0.1 is there.
 */
export async function hiddenPlace(): Promise<Place> {
  const part = (): number => randomInt(1, 255);
  const host = process.platform === 'linux' ? `127.${part()}.${part()}.${part()}` : '127.0.0.1';
  return { host, port: await freePort() };
}

function isSameOrigin({ method = '', headers }: IncomingMessage): boolean {
  const { host = '', origin, 'sec-fetch-site': site, 'sec-fetch-mode': mode } = headers;
  if (!OWN_NAMES.includes(host.replace(/:\d+$/, '').toLowerCase())) return false;
  if (origin !== undefined && origin !== `http://${host}`) return false;
  if (site === undefined || site === 'same-origin' || site === 'none') return true;
  // A link to the UI may stand anywhere.
  return ['GET', 'HEAD'].includes(method) && mode === 'navigate';
}

function passOn(incoming: IncomingMessage, answer: ServerResponse, { host, port }: Place): void {
  const { method, url, headers } = incoming;
  const onward = request({ host, port, method, path: url, headers }, (found) => {
    answer.writeHead(found.statusCode ?? 502, found.headers);
    found.on('error', () => answer.destroy()).pipe(answer);
  });
  onward.on('error', () => answer.destroy());
  answer.on('close', () => onward.destroy());
  incoming.pipe(onward);
}
