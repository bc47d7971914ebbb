import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A local HTTP server. */
export interface HttpReceiver {
  /** Without a slash at the end. */
  url: string;
  /** Ends open connections, too, and waits until nobody listens any more. */
  close(): Promise<void>;
}

/**
 * Starts an HTTP server on a free port.
 * @param take gets each request once its body is there; what it does not answer stays open
 */
export async function startHttpReceiver(
  take: (response: ServerResponse, raw: Buffer, request: IncomingMessage) => void,
): Promise<HttpReceiver> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => take(response, Buffer.concat(chunks), request));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
