import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Logger } from 'pino';
import { collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import { openDatabase } from '../db/connection.ts';
import { registry } from '../telemetry/metrics.ts';
import type { Config } from './config.ts';
import { databaseMetrics } from './databaseMetrics.ts';
import { freePort } from './ports.ts';
import { errorCode } from '../domain/errors.ts';
import { StartProblem } from './problem.ts';

const REQUEST_TIMEOUT_MS = 5_000;
const SDK_TIMEOUT_MS = 2_000;
const HEADERS_MAX_BYTES = 8_192;
const CONNECTIONS_MAX = 20;

export interface RunningMetrics {
  port: number;
  /** Where the worker has the Temporal SDK serve its metrics; undefined without one. */
  sdkMetrics: string | undefined;
  stop(): Promise<void>;
}

interface MetricsOptions {
  databaseUrl: string;
  host: string;
  port: number;
  /** Where this process's Temporal SDK serves its metrics, host:port. */
  sdkMetrics?: string | undefined;
  onError: (error: unknown) => void;
}

/** Serves `GET /metrics` (Prometheus), even without database or Temporal SDK. @throws StartProblem when the port is in use */
export async function startMetrics(options: MetricsOptions): Promise<RunningMetrics> {
  const sql = openDatabase(options.databaseUrl, 1);
  const own = new Registry();
  collectDefaultMetrics({ register: own });

  let scrape: Promise<string> | undefined;
  // Concurrent scrapes share one read of the database.
  const text = (): Promise<string> => (scrape ??= collect().finally(() => (scrape = undefined)));
  const collect = async (): Promise<string> => {
    const fresh = new Registry();
    await databaseMetrics(sql, fresh, options.onError);
    const sdk = await sdkText(options, fresh);
    return (await Registry.merge([own, registry, fresh]).metrics()) + sdk;
  };

  const server = createMetricsServer(text, own.contentType, options.onError);
  try {
    await listen(server, options);
  } catch (error) {
    await sql.end({ timeout: 1 });
    throw error;
  }
  return {
    port: (server.address() as AddressInfo).port,
    sdkMetrics: options.sdkMetrics,
    async stop() {
      server.close();
      server.closeAllConnections();
      await sql.end({ timeout: 1 });
    },
  };
}

function createMetricsServer(
  text: () => Promise<string>,
  contentType: string,
  onError: (error: unknown) => void,
): Server {
  const limits = { requestTimeout: REQUEST_TIMEOUT_MS, maxHeaderSize: HEADERS_MAX_BYTES };
  const server = createServer(limits, ({ url, method }, response) => {
    if (url?.split('?')[0] !== '/metrics') return response.writeHead(404).end();
    if (method !== 'GET' && method !== 'HEAD') {
      return response.writeHead(405, { allow: 'GET, HEAD' }).end();
    }
    text().then(
      (body) => response.writeHead(200, { 'content-type': contentType }).end(body),
      (error: unknown) => {
        onError(error);
        response.writeHead(500).end();
      },
    );
  });
  server.maxConnections = CONNECTIONS_MAX;
  return server;
}

async function sdkText({ sdkMetrics, onError }: MetricsOptions, into: Registry): Promise<string> {
  if (sdkMetrics === undefined) return '';
  const up = new Gauge({
    name: 'goniec_temporal_sdk_up',
    help: 'Whether the metrics of the Temporal SDK (temporal_...) are there.',
    registers: [into],
  });
  try {
    const response = await fetch(`http://${sdkMetrics}/metrics`, {
      signal: AbortSignal.timeout(SDK_TIMEOUT_MS),
    });
    if (!response.ok) throw new Error(`the SDK's metrics answered ${response.status}`);
    const text = await response.text();
    up.set(1);
    return text;
  } catch (error) {
    onError(error);
    up.set(0);
    return '';
  }
}

/** Null without METRICS_PORT. @param withWorker whether a worker runs in this process, whose Temporal SDK has metrics of its own */
export async function startConfiguredMetrics(
  config: Pick<Config, 'METRICS_PORT' | 'METRICS_HOST'>,
  databaseUrl: string,
  log: Logger,
  withWorker: boolean,
): Promise<RunningMetrics | null> {
  if (config.METRICS_PORT === undefined) return null;
  const onError = (error: unknown): void => log.warn({ err: error }, 'metrics: incomplete');
  const metrics = await startMetrics({
    databaseUrl,
    host: config.METRICS_HOST,
    port: config.METRICS_PORT,
    sdkMetrics: withWorker ? `127.0.0.1:${await freePort()}` : undefined,
    onError,
  });
  log.info({ host: config.METRICS_HOST, port: metrics.port }, 'metrics at /metrics');
  return metrics;
}

async function listen(server: Server, { host, port }: MetricsOptions): Promise<void> {
  server.listen(port, host);
  try {
    await once(server, 'listening');
  } catch (error) {
    throw new StartProblem(
      `METRICS_PORT: ${host}:${port} cannot be listened on (${errorCode(error) ?? 'unknown'}); set METRICS_PORT or METRICS_HOST to another one.`,
    );
  }
}
