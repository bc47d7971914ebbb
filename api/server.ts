import { Client, Connection, type ConnectionOptions } from '@temporalio/client';
import {
  createServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Logger } from 'pino';
import { createRunning } from '../concurrency/running.ts';
import { addPools, openDatabase, sharesOf } from '../db/connection.ts';
import { fairDatabase } from '../db/fairDatabase.ts';
import { newId } from '../db/ids.ts';
import { currentRouting } from '../operations/routes/current.ts';
import { watchBlocks } from '../telemetry/blockMetrics.ts';
import { countRefusal } from '../telemetry/httpMetrics.ts';
import { watchPool } from '../telemetry/poolMetrics.ts';
import { temporalCallMetrics } from '../telemetry/temporalMetrics.ts';
import { clientTraces } from '../telemetry/temporalTraces.ts';
import { createApp, type Mount } from './app.ts';
import { endpoints } from './endpoints.ts';
import { createAdmission } from './http/admission.ts';
import { errorBody } from './http/middleware.ts';
import { createSingles } from '../operations/sending/singles.ts';
import type { ApiSettings, Services } from './services.ts';
import { type ErrorAnswer, errorAnswer, HttpRefused } from './http/refusals.ts';

/** What an API process needs to run. */
export interface ApiOptions {
  databaseUrl: string;
  /** Connections held at most. */
  databasePool: number;
  temporal: {
    address: string;
    namespace: string;
    tls?: NonNullable<ConnectionOptions['tls']>;
    apiKey?: string;
  };
  config: ApiSettings;
  /** 32 bytes. */
  secretsKey: Buffer;
  log: Logger;
  /** 0 takes a free port. */
  port: number;
  host?: string | undefined;
  /** The address that people outside see; the local one unless given. */
  publicUrl?: string | undefined;
  /** Where short links lead; the public address unless given. */
  shortUrl?: string | undefined;
  /** Doors beside the two interfaces; none unless given. */
  mounts?: readonly Mount[];
}

/** A running API. */
export interface RunningApi {
  port: number;
  url: string;
  /** Where the short links of its messages lead, with scheme. */
  shortUrl: string;
  /** Stops accepting, lets requests finish for up to ten seconds, closes all connections. */
  stop(): Promise<void>;
}

const DRAIN_MS = 10_000;
// Nobody waits for an answer any more: every request has got its own after ten seconds.
const DATABASE_SILENCE_MS = 15_000;
// Nobody waits longer for the answer either; a lock is waited for with a connection in hand, which others could have.
const STATEMENT_LIMITS = { statementMs: 9_500, lockMs: 4_000 };
const HEADERS_TIMEOUT_MS = 10_000;
// How often slow senders are looked for.
const CHECK_MS = 2_000;
const REQUEST_TIMEOUT_MS = 30_000;
// Longer than the usual load balancer's, so that it is not us who close a connection it is about to use.
const KEEP_ALIVE_MS = 75_000;
// For the caller to take the refusal and close.
const TUNNEL_CLOSE_MS = 2_000;

/**
 * Starts the API. Neither the database nor Temporal has to be there yet: until they are, requests get 502.
 * @throws the error of `listen`, for example EADDRINUSE
 */
export async function startApi(options: ApiOptions): Promise<RunningApi> {
  const { log, config, secretsKey } = options;
  const [frontPlaces, places] = sharesOf(options.databasePool);
  const open = (max: number) => openDatabase(options.databaseUrl, max, DATABASE_SILENCE_MS, STATEMENT_LIMITS);
  const front = open(frontPlaces);
  const pool = open(places);
  const sql = fairDatabase(pool, places);
  const { namespace, ...temporalServer } = options.temporal;
  const connection = Connection.lazy(temporalServer);
  const workflow = [temporalCallMetrics(), ...clientTraces({ apart: false })];
  const temporal = new Client({ connection, namespace, interceptors: { workflow } });
  const unwatchBlocks = watchBlocks();
  const unwatchPool = watchPool('api', () => addPools(sql.poolState(), front.poolState()));
  const services: Services = {
    sql,
    front,
    admission: createAdmission({
      requests: config.REQUESTS_AT_ONCE,
      heavy: config.HEAVY_REQUESTS_AT_ONCE,
    }),
    background: createRunning(),
    temporal,
    singles: createSingles({ sql, temporal }),
    routing: currentRouting(front),
    settings: config,
    secretsKey,
    log,
    shortUrl: options.shortUrl ?? options.publicUrl ?? '',
    publicUrl: options.publicUrl ?? null,
  };

  const app = createApp(services, options.mounts);
  const handler = app.callback();
  const answer = (request: IncomingMessage, response: ServerResponse) => void handler(request, response);
  // What Node would refuse by itself, without a word, the application refuses in its envelope.
  const server = createServer({ connectionsCheckingInterval: CHECK_MS, requireHostHeader: false }, answer);
  server.on('checkExpectation', answer);
  server.on('connect', (_request, socket) => refuseTunnel(socket as Socket));
  server.headersTimeout = HEADERS_TIMEOUT_MS;
  server.requestTimeout = REQUEST_TIMEOUT_MS;
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  server.on('clientError', (error: NodeJS.ErrnoException, socket) =>
    answerMalformed(error, socket as Socket),
  );

  const closeClients = () => {
    unwatchPool();
    unwatchBlocks();
    const databases = [pool, front].map((one) => one.end({ timeout: 5 }));
    return Promise.allSettled([...databases, connection.close()]);
  };
  try {
    await listen(server, options.port, options.host);
  } catch (error) {
    await closeClients();
    throw error;
  }
  const { port } = server.address() as AddressInfo;
  const url = options.publicUrl ?? `http://${localHost(options.host)}:${port}`;
  // With a free port nobody knows the address before now, and no request is read before this.
  services.shortUrl ||= url;
  return {
    port,
    url,
    shortUrl: services.shortUrl,
    async stop() {
      await drain(server);
      await services.background.settled();
      await closeClients();
    },
  };
}

function listen(server: Server, port: number, host: string | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ port, ...(host === undefined ? {} : { host }) }, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

function localHost(host: string | undefined): string {
  if (host === undefined || host === '0.0.0.0' || host === '::') return 'localhost';
  return host.includes(':') ? `[${host}]` : host;
}

async function drain(server: Server): Promise<void> {
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
  if (error.code !== 'HPE_INVALID_EOF_STATE') countRefusal(null, refusal.status);
  socket.end(refusalText(refusal));
}

/** Answers CONNECT: we are no proxy. Node has let go of the connection, so its errors and its end are ours. */
function refuseTunnel(socket: Socket): void {
  const cut = setTimeout(() => socket.destroy(), TUNNEL_CLOSE_MS);
  socket.on('error', () => socket.destroy());
  socket.on('close', () => clearTimeout(cut));
  const allowed = [...new Set(endpoints.map(({ method }) => method))].sort();
  const problem = { reason: 'method_not_allowed', method: 'CONNECT', allowed } as const;
  countRefusal('CONNECT', 405);
  // Read to its end: closing with bytes unread would reset the connection and lose the answer.
  socket.resume();
  socket.end(refusalText(errorAnswer(new HttpRefused(problem))));
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
