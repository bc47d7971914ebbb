import { Client } from '@temporalio/client';
import { NativeConnection, type TLSConfig } from '@temporalio/worker';
import type { Logger } from 'pino';
import { type Database, openDatabase } from '../db/connection.ts';
import { watchPool } from '../telemetry/processMetrics.ts';
import { temporalCallMetrics } from '../telemetry/temporalMetrics.ts';
import { clientTraces } from '../telemetry/temporalTraces.ts';

// As long as a transaction may take; the regular work's statements are shorter.
const DATABASE_SILENCE_MS = 60_000;

/** What a worker process needs to run. */
export interface WorkerOptions {
  databaseUrl: string;
  databasePool: number;
  temporal: { address: string; namespace: string; tls?: TLSConfig | boolean; apiKey?: string };
  config: {
    WEBHOOK_ALLOW_PRIVATE: boolean;
    RETAIN_CONTENT_DAYS?: number | undefined;
    RETAIN_LOG_DAYS?: number | undefined;
    RECONCILE_RESTARTS?: number | undefined;
    WORKFLOW_CALL_STACKS?: boolean | undefined;
    DNS_SERVERS?: readonly string[] | undefined;
    OWN_EMAIL_ACCOUNT?: string | undefined;
  };
  secretsKey: Buffer;
  /** Where `/l/…` is found from outside, for events that name a link. */
  shortUrl: string;
  log: Logger;
  /** Where the SDK's own metrics are served, host:port; nowhere unless given. */
  sdkMetrics?: string | undefined;
}

/** The servers of a worker process, and its connections to them. */
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
    // The workers' own: only so does a start bring its first workflow task along.
    connection,
    namespace,
    interceptors: { workflow: [temporalCallMetrics(), ...clientTraces()] },
  });
  return {
    ...{ sql, connection, namespace, client },
    async close() {
      unwatchPool();
      await connection.close();
      await sql.end({ timeout: 5 });
    },
  };
}
