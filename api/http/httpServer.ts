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
// How often slow senders are looked for.
const CHECK_MS = 2_000;
// Nobody reads a body for longer, see `readBytes`.
const REQUEST_TIMEOUT_MS = 180_000;
// An answer stays in memory until its client has taken it.
const SILENCE_MS = 60_000;
// Longer than the usual load balancer's, so that it is not us who close a connection it is about to use.
const KEEP_ALIVE_MS = 75_000;

/** An HTTP server of one handler. What Node would refuse by itself, without a word, is refused in the API's envelope. */
export function createHttpServer(
  handler: (request: IncomingMessage, response: ServerResponse) => Promise<void>,
): Server {
  const answer = (request: IncomingMessage, response: ServerResponse) => void handler(request, response);
  const server = createServer({ connectionsCheckingInterval: CHECK_MS, requireHostHeader: false }, answer);
  server.on('checkExpectation', answer);
  server.headersTimeout = HEADERS_TIMEOUT_MS;
  server.requestTimeout = REQUEST_TIMEOUT_MS;
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  server.timeout = SILENCE_MS;
  server.on('clientError', (error: NodeJS.ErrnoException, socket) =>
    answerMalformed(error, socket as Socket),
  );
  return server;
}

/**
 * Resolves when the server listens.
 * @throws the error of `listen`, for example EADDRINUSE
 */
export function listen(server: Server, port: number, host: string | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ port, ...(host === undefined ? {} : { host }) }, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

/** Takes no more connections, and lets requests under way finish for up to ten seconds. */
export async function drain(server: Server): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeIdleConnections();
  // A connection kept alive becomes idle when its last request is answered, and would keep the server open.
  const sweep = setInterval(() => server.closeIdleConnections(), 50);
  const cut = setTimeout(() => server.closeAllConnections(), DRAIN_MS);
  await closed;
  clearInterval(sweep);
  clearTimeout(cut);
}

/** Answers what is not HTTP in the same envelope, as far as the connection still takes an answer. */
function answerMalformed(error: NodeJS.ErrnoException, socket: Socket): void {
  if (!socket.writable || socket.destroyed || error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  const refusal = errorAnswer(malformed(error.code));
  // Who left in the middle of a request is counted with that.
  if (error.code !== 'HPE_INVALID_EOF_STATE') countRefusal(refusal.status);
  socket.end(refusalText(refusal));
}

/** A whole answer in the envelope, for a connection that has no request to answer. */
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
