import { randomInt } from 'node:crypto';
import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http';
import { freePort } from '../bin/ports.ts';

type Place = { host: string; port: number };

// The loopback names. After DNS rebinding, a page's own name would be here.
const OWN_NAMES = ['localhost', '127.0.0.1', '[::1]'];

/**
 * Proxies Temporal's Web UI on 127.0.0.1 for users of this machine and pages of the UI. The UI neither authenticates nor checks the Host
 * header, so that a page of another site could read and cancel workflows by DNS rebinding. @returns closes it and its connections
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

/** A loopback address for the UI that pages cannot guess: of 2^24 hosts and 12,000 ports; 127.0.0.1 except on Linux. */
export async function randomLoopbackAddress(): Promise<Place> {
  const part = (): number => randomInt(1, 255);
  const host = process.platform === 'linux' ? `127.${part()}.${part()}.${part()}` : '127.0.0.1';
  return { host, port: await freePort() };
}

function isSameOrigin({ method = '', headers }: IncomingMessage): boolean {
  const { host = '', origin, 'sec-fetch-site': site, 'sec-fetch-mode': mode } = headers;
  if (!OWN_NAMES.includes(host.replace(/:\d+$/, '').toLowerCase())) return false;
  if (origin !== undefined && origin !== `http://${host}`) return false;
  if (site === undefined || site === 'same-origin' || site === 'none') return true;
  // Any site may link to the UI.
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
