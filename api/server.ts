import {
  Client,
  Connection,
  type ConnectionOptions,
  defaultGrpcRetryOptions,
  makeGrpcRetryInterceptor,
} from '@temporalio/client';
import type { AddressInfo } from 'node:net';
import type { Logger } from 'pino';
import { cachedRead } from '../concurrency/gather.ts';
import { sharedAcceptance } from '../db/messages/acceptShared.ts';
import { addPools, openDatabase, splitPool } from '../db/connection.ts';
import { readBacklog } from '../db/money/reservations.ts';
import { currentRouting } from '../operations/routes/routes.ts';
import { temporalCallMetrics } from '../telemetry/temporalMetrics.ts';
import { watchBlocks, watchPool } from '../telemetry/processMetrics.ts';
import { clientTraces } from '../telemetry/temporalTraces.ts';
import { createApp, type Mount } from './app.ts';
import { createAdmission } from './http/admission.ts';
import { createKeyLookups } from './http/authentication.ts';
import { createHttpServer, drain, listen } from './http/httpServer.ts';
import type { ApiSettings, Services } from './services.ts';

type Interceptor = NonNullable<ConnectionOptions['interceptors']>[number];
type Call = ReturnType<Parameters<Interceptor>[1]>;

const CANCELLED = 1;

/** A lazy connection to Temporal. Calls that wait for a retry fail once it is closed. */
export function temporalConnection(
  server: Pick<ConnectionOptions, 'address' | 'tls' | 'apiKey'>,
): Connection {
  const interceptors = [makeGrpcRetryInterceptor(defaultGrpcRetryOptions()), failingOnceClosed];
  return Connection.lazy({ ...server, interceptors });
}

// A closed channel throws in the SDK's retry timer, where nothing can catch it, and the process would exit.
const failingOnceClosed: Interceptor = (options, nextCall) => {
  try {
    return nextCall(options) as ReturnType<Interceptor>;
  } catch (error) {
    return failed(String(error)) as ReturnType<Interceptor>;
  }
};

function failed(details: string): Call {
  return {
    start(metadata, listener) {
      queueMicrotask(() => {
        listener?.onReceiveMessage?.(null);
        listener?.onReceiveStatus?.({ code: CANCELLED, details, metadata });
      });
    },
    sendMessageWithContext: () => undefined,
    sendMessage: () => undefined,
    startRead: () => undefined,
    halfClose: () => undefined,
    cancelWithStatus: () => undefined,
    getPeer: () => 'closed',
    getAuthContext: () => null,
  };
}

export interface ApiOptions {
  databaseUrl: string;
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
  /** 0: any free port. */
  port: number;
  host?: string | undefined;
  /** What URLs of this machine call it; by default as `host` does. */
  hostName?: string;
  /** Public URL of the API; the local one by default. */
  publicUrl?: string | undefined;
  /** Public URL of the MCP server, if it has one of its own. */
  mcpUrl?: string | undefined;
  /** Public URL of the panel, if it has one of its own. */
  panelUrl?: string | undefined;
  /** Base URL of short links; the public URL by default. */
  shortUrl?: string | undefined;
  mounts?: readonly Mount[];
  /** False: it serves the mounts and no interface of the API. */
  isApi?: boolean;
}

export interface RunningApi {
  port: number;
  url: string;
  shortUrl: string;
  /** Stops accepting, gives requests ten seconds to finish, and closes all connections. */
  stop(): Promise<void>;
}

// Meanwhile the backlog grows by a few thousand messages; its limits are far above.
const BACKLOG_TTL_MS = 5_000;
// Every request has been answered after ten seconds.
const DATABASE_SILENCE_MS = 15_000;
// Slow statements are aborted while the caller still waits, and leave no effect. Waiting for a lock occupies a connection.
const STATEMENT_LIMITS = { statementMs: 8_000, lockMs: 4_000, transactionMs: 8_500 };

/** Starts the API; while PostgreSQL or Temporal is down, requests get 502. @throws the error of `listen`, e.g. EADDRINUSE */
export async function startApi(options: ApiOptions): Promise<RunningApi> {
  const { services, close } = openServices(options);
  const server = createHttpServer(createApp(services, options.mounts, options.isApi).callback());
  try {
    await listen(server, options.port, options.host);
  } catch (error) {
    await close();
    throw error;
  }
  const { port } = server.address() as AddressInfo;
  const url = options.publicUrl ?? `http://${options.hostName ?? localHost(options.host)}:${port}`;
  // A free port is known only now; no request has been read before.
  services.shortUrl ||= url;
  services.panelUrl ||= url;
  return {
    port,
    url,
    shortUrl: services.shortUrl,
    async stop() {
      await drain(server);
      await close();
    },
  };
}

interface Opened {
  services: Services;
  close: () => Promise<void>;
}

/** Services that can neither change nor decrypt anything, whatever code they are given to. */
export function openReadOnlyServices(options: Omit<ApiOptions, 'secretsKey'>): Opened {
  const { services, close } = openServices({ ...options, secretsKey: Buffer.alloc(32) }, true);
  return { services: { ...services, temporal: NO_TEMPORAL }, close };
}

const NO_TEMPORAL = new Proxy({} as Client, {
  get() {
    throw new Error('workflows are out of reach: these services only read');
  },
});

function openServices(options: ApiOptions, readOnly = false): Opened {
  const { log, config, secretsKey } = options;
  const [priorityPoolSize, poolSize] = splitPool(options.databasePool);
  const limits = { ...STATEMENT_LIMITS, readOnly };
  const open = (max: number) => openDatabase(options.databaseUrl, max, DATABASE_SILENCE_MS, limits);
  const priorityPool = open(priorityPoolSize);
  const sql = open(poolSize);
  const { namespace, ...temporalServer } = options.temporal;
  const connection = temporalConnection(temporalServer);
  const workflow = [temporalCallMetrics(), ...clientTraces()];
  const temporal = new Client({ connection, namespace, interceptors: { workflow } });
  const unwatchBlocks = watchBlocks();
  const unwatchPool = watchPool('api', () => addPools(sql.poolState(), priorityPool.poolState()));
  const { REQUESTS_AT_ONCE: requests, HEAVY_REQUESTS_AT_ONCE: heavy } = config;
  const services: Services = {
    keyLookups: createKeyLookups(priorityPool),
    sql,
    priorityPool: priorityPool,
    temporal,
    secretsKey,
    log,
    admission: createAdmission({ requests, heavy }),
    acceptMessages: sharedAcceptance(sql),
    backlog: cachedRead(BACKLOG_TTL_MS, () => readBacklog(sql)),
    routing: currentRouting(priorityPool),
    settings: config,
    shortUrl: options.shortUrl ?? options.publicUrl ?? '',
    publicUrl: options.publicUrl ?? null,
    mcpUrl: options.mcpUrl ?? null,
    panelUrl: options.panelUrl ?? options.publicUrl ?? '',
    panelHost: options.panelUrl === undefined ? null : new URL(options.panelUrl).host,
    ownEmailAccount: config.OWN_EMAIL_ACCOUNT ?? null,
  };
  return {
    services,
    async close() {
      unwatchPool();
      unwatchBlocks();
      const databases = [sql, priorityPool].map((one) => one.end({ timeout: 5 }));
      await Promise.allSettled([...databases, connection.close()]);
    },
  };
}

function localHost(host: string | undefined): string {
  if (host === undefined || host === '0.0.0.0' || host === '::') return 'localhost';
  return host.includes(':') ? `[${host}]` : host;
}
