import {
  type LogLevel,
  type LogMetadata,
  NativeConnection,
  Runtime,
  type TLSConfig,
} from '@temporalio/worker';
import type { Logger } from 'pino';
import { Client } from '@temporalio/client';
import type { Seller } from '../domain/parties.ts';
import type { ProcessorName } from '../domain/payments.ts';
import { idsAmong } from '../telemetry/ids.ts';
import { type Database, openDatabase } from '../db/connection.ts';
import { temporalCallMetrics } from '../telemetry/temporalMetrics.ts';
import { watchPool } from '../telemetry/processMetrics.ts';
import { clientTraces } from '../telemetry/temporalTraces.ts';

const PROMETHEUS = { countersTotalSuffix: true, unitSuffix: true, useSecondsForDurations: true } as const;

let installed = false;

/**
 * Forwards the SDK's logs to ours. One runtime per process: only the first call counts. @param metrics host:port to serve; undefined: none
 */
export function installRuntime(log: Logger, metrics?: string): void {
  if (installed) return;
  installed = true;
  const write = (level: LogLevel, message: string, meta?: LogMetadata): void => {
    // Logged for every worker without workflows, as those of routes and webhooks are.
    if (message.startsWith('No workflows registered')) return;
    const target = level.toLowerCase() as 'trace' | 'debug' | 'info' | 'warn' | 'error';
    const { error, ...rest } = meta ?? {};
    const fields = { ...idsAmong([rest['workflowId']]), ...rest };
    log[target](error === undefined ? fields : { ...fields, err: error as unknown }, message);
  };
  Runtime.install({
    // Our processes stop their workers themselves.
    shutdownSignals: [],
    logger: {
      log: write,
      trace: (message, meta) => write('TRACE', message, meta),
      debug: (message, meta) => write('DEBUG', message, meta),
      info: (message, meta) => write('INFO', message, meta),
      warn: (message, meta) => write('WARN', message, meta),
      error: (message, meta) => write('ERROR', message, meta),
    },
    telemetryOptions: {
      logging: { filter: 'temporal_sdk_core=WARN', forward: {} },
      ...(metrics === undefined ? {} : { metrics: { prometheus: { bindAddress: metrics, ...PROMETHEUS } } }),
    },
  });
}

// The longest transaction; statements of the regular work are shorter.
const DATABASE_SILENCE_MS = 60_000;

export interface WorkerOptions {
  databaseUrl: string;
  databasePool: number;
  temporal: { address: string; namespace: string; tls?: TLSConfig | boolean; apiKey?: string };
  config: {
    WEBHOOK_ALLOW_PRIVATE: boolean;
    RETAIN_CONTENT_DAYS?: number | undefined;
    RETAIN_LOG_DAYS?: number | undefined;
    WORKFLOW_CALL_STACKS?: boolean | undefined;
    DNS_SERVERS?: readonly string[] | undefined;
    OWN_EMAIL_ACCOUNT?: string | undefined;
    PAYMENT_PROCESSOR?: ProcessorName | undefined;
    STRIPE_KEY?: string | undefined;
    PANEL_URL?: string | undefined;
    PUBLIC_URL?: string | undefined;
  };
  secretsKey: Buffer;
  /** The operator, as documents name it. */
  seller: Seller | null;
  /** Base URL of short links (`/l/…`). */
  shortUrl: string;
  log: Logger;
  /** host:port of the SDK's metrics; undefined: none. */
  sdkMetrics?: string | undefined;
}

export interface Servers {
  sql: Database;
  connection: NativeConnection;
  namespace: string;
  client: Client;
  close(): Promise<void>;
}

/** Opens the connections of a worker process. */
export async function connect({ databaseUrl, databasePool, temporal }: WorkerOptions): Promise<Servers> {
  const sql = openDatabase(databaseUrl, databasePool, DATABASE_SILENCE_MS);
  const unwatchPool = watchPool('worker', () => sql.poolState());
  const { namespace, ...server } = temporal;
  const connection = await NativeConnection.connect(server);
  const client = new Client({
    // The workers' own connection: eager starts need it.
    connection,
    namespace,
    interceptors: { workflow: [temporalCallMetrics(), ...clientTraces()] },
  });
  return {
    sql,
    connection,
    namespace,
    client,
    async close() {
      unwatchPool();
      await connection.close();
      await sql.end({ timeout: 5 });
    },
  };
}
