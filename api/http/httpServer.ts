import {
  createServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http';
import type { Socket } from 'node:net';
import { newId } from '../../db/ids.ts';
import { countRefusal } from '../../telemetry/httpMetrics.ts';
import { errorBody } from './middleware.ts';
import { type ErrorAnswer, errorAnswer, HttpRefused } from './refusals.ts';

const DRAIN_MS = 10_000;
const HEADERS_TIMEOUT_MS = 10_000;
// How often Node checks for slow requests.
const CHECK_MS = 2_000;
// Above every timeout of `readBytes`.
const REQUEST_TIMEOUT_MS = 180_000;
// A response stays in memory until the client has read it.
const IDLE_TIMEOUT_MS = 60_000;
// Longer than a load balancer's usual timeout, so that we never close a connection that it is about to reuse.
const KEEP_ALIVE_MS = 75_000;

/** Creates the HTTP server. Requests that Node would reject itself get the API's error envelope. */
export function createHttpServer(
  handler: (request: IncomingMessage, response: ServerResponse) => Promise<void>,
): Server {
  const answer = (request: IncomingMessage, response: ServerResponse) => void handler(request, response);
  const server = createServer({ connectionsCheckingInterval: CHECK_MS, requireHostHeader: false }, answer);
  server.on('checkExpectation', answer);
  server.headersTimeout = HEADERS_TIMEOUT_MS;
  server.requestTimeout = REQUEST_TIMEOUT_MS;
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  server.timeout = IDLE_TIMEOUT_MS;
  server.on('clientError', (error: NodeJS.ErrnoException, socket) =>
    answerMalformed(error, socket as Socket),
  );
  return server;
}

/** Resolves when the server listens. @throws the error of `listen`, e.g. EADDRINUSE */
export function listen(server: Server, port: number, host: string | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ port, ...(host === undefined ? {} : { host }) }, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

/** Stops accepting connections; requests in progress have ten seconds to finish. */
export async function drain(server: Server): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeIdleConnections();
  // Keep-alive connections become idle after their last response and would keep the server open.
  const sweep = setInterval(() => server.closeIdleConnections(), 50);
  const cut = setTimeout(() => server.closeAllConnections(), DRAIN_MS);
  await closed;
  clearInterval(sweep);
  clearTimeout(cut);
}

function answerMalformed(error: NodeJS.ErrnoException, socket: Socket): void {
  if (!socket.writable || socket.destroyed || error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  const refusal = errorAnswer(malformed(error.code));
  // A request cut off midway is counted by its handler.
  if (error.code !== 'HPE_INVALID_EOF_STATE') countRefusal(refusal.status);
  socket.end(refusalText(refusal));
}

/** A raw HTTP response, for a connection without a parsed request. */
function refusalText(refusal: ErrorAnswer): string {
  const id = newId('req');
  const body = JSON.stringify(errorBody(refusal, id));
  return [
    `HTTP/1.1 ${refusal.status} ${STATUS_CODES[refusal.status]}`,
    ...Object.entries(refusal.headers).map(([name, value]) => `${name}: ${value}`),
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    `X-Request-Id: ${id}`,
    'Cache-Control: no-store',
    'Connection: close',
    '',
    body,
  ].join('\r\n');
}

function malformed(code: string | undefined): HttpRefused {
  if (code === 'HPE_HEADER_OVERFLOW') return new HttpRefused({ reason: 'headers_too_large' });
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return new HttpRefused({ reason: 'request_too_slow' });
  return new HttpRefused({ reason: 'request_malformed' });
}
