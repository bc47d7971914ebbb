import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { Connection, type TLSConfig } from '@temporalio/client';
import { ConfigError, type Config } from './config.ts';
import { errorCode, errorText } from '../domain/errors.ts';
import { StartProblem } from './problem.ts';
import { readRunFile, type RunFile } from './runfile.ts';
import { openDatabase } from '../db/connection.ts';
import type { Part } from '../db/rights.ts';
import { ping } from '../db/setup.ts';

/** Options of the SDK's `Connection.connect` and `NativeConnection.connect`. */
export type TemporalTarget = {
  address: string;
  namespace: string;
  tls?: TLSConfig | boolean;
  apiKey?: string;
};

export type Connections = { databaseUrl: string; temporal: TemporalTarget };

/** DATABASE_URL and TEMPORAL_ADDRESS, else the servers of an `npm start` with the same DATA_DIR. @throws StartProblem without either */
export function connectTo(config: Config, as: Part | 'owner'): Connections {
  return { databaseUrl: databaseUrlOf(config, as), temporal: temporalOf(config) };
}

export function databaseUrlOf(config: Config, as: Part | 'owner'): string {
  const url = config.DATABASE_URL ?? urlOf(readRunFile(config.DATA_DIR), as);
  if (url === undefined) throw nothingThere('DATABASE_URL', config);
  return url;
}

/** The embedded database's URL for a part of the service, if it runs. */
export function urlOf(running: RunFile | null, as: Part | 'owner'): string | undefined {
  return (as === 'owner' ? undefined : running?.partUrls?.[as]) ?? running?.databaseUrl;
}

function temporalOf(config: Config): TemporalTarget {
  if (config.TEMPORAL_ADDRESS !== undefined) return externalTemporal(config, config.TEMPORAL_ADDRESS);
  const running = readRunFile(config.DATA_DIR);
  if (running === null) throw nothingThere('TEMPORAL_ADDRESS', config);
  return running.temporal.embedded
    ? { address: running.temporal.address, namespace: running.temporal.namespace }
    : externalTemporal(config, running.temporal.address);
}

function nothingThere(setting: string, config: Config): StartProblem {
  return new StartProblem(
    `${setting} is not set and no service is running in ${config.DATA_DIR}: set it, or run npm start.`,
  );
}

/** A Temporal that is not ours, with the settings of a hosted cluster (namespace, TLS, API key). */
export function externalTemporal(config: Config, address: string): TemporalTarget {
  const tls = tlsOf(config);
  return {
    address,
    namespace: config.TEMPORAL_NAMESPACE,
    ...(tls === undefined ? {} : { tls }),
    ...(config.TEMPORAL_API_KEY === undefined ? {} : { apiKey: config.TEMPORAL_API_KEY }),
  };
}

function tlsOf(config: Config): TLSConfig | boolean | undefined {
  const ca = pem('TEMPORAL_TLS_CA', config.TEMPORAL_TLS_CA);
  const crt = pem('TEMPORAL_TLS_CERT', config.TEMPORAL_TLS_CERT);
  const key = pem('TEMPORAL_TLS_KEY', config.TEMPORAL_TLS_KEY);
  const serverName = config.TEMPORAL_TLS_SERVER_NAME;
  if ((crt === undefined) !== (key === undefined)) {
    throw new ConfigError('TEMPORAL_TLS_CERT, TEMPORAL_TLS_KEY: either both or neither');
  }
  const details: TLSConfig = {
    ...(ca === undefined ? {} : { serverRootCACertificate: ca }),
    ...(serverName === undefined ? {} : { serverNameOverride: serverName }),
    ...(crt === undefined || key === undefined ? {} : { clientCertPair: { crt, key } }),
  };
  if (Object.keys(details).length === 0) return config.TEMPORAL_TLS;
  if (config.TEMPORAL_TLS === false)
    throw new ConfigError('TEMPORAL_TLS: false, but other TEMPORAL_TLS_ settings are given');
  return details;
}

// A path, or the PEM itself.
function pem(name: string, value: string | undefined): Buffer | undefined {
  if (value === undefined) return undefined;
  if (value.startsWith('-----BEGIN')) return Buffer.from(value.replaceAll('\\n', '\n'));
  try {
    return readFileSync(value);
  } catch (error) {
    throw new ConfigError(`${name}: ${value} cannot be read (${errorCode(error) ?? errorText(error)})`);
  }
}

const RETRY_MS = 500;
// The server refuses us: waiting does not help (bad password, no such database, no such role).
const FINAL_REFUSAL = /^(28|3D|42501)/;

/** Waits for PostgreSQL. @throws StartProblem (without the password) after `timeoutMs`, or immediately when it refuses us for good */
export async function awaitDatabase(url: string, timeoutMs: number): Promise<void> {
  const sql = openDatabase(url, 1);
  const place = `${new URL(url).host}${new URL(url).pathname}`;
  try {
    await retryUntil(timeoutMs, async () => {
      try {
        await ping(sql);
        return null;
      } catch (error) {
        const code = errorCode(error) ?? '';
        const problem = new StartProblem(
          `DATABASE_URL: PostgreSQL at ${place} cannot be used (${code || errorText(error)}).`,
        );
        if (FINAL_REFUSAL.test(code)) throw problem;
        return problem;
      }
    });
  } finally {
    await sql.end({ timeout: 1 });
  }
}

/** Waits for Temporal's namespace. @throws StartProblem after `timeoutMs`, or immediately when it refuses us for good */
export async function awaitTemporal(target: TemporalTarget, timeoutMs: number): Promise<void> {
  await retryUntil(timeoutMs, async () => {
    try {
      await withTemporal(target, (connection) =>
        connection.workflowService.describeNamespace({ namespace: target.namespace }),
      );
      return null;
    } catch (error) {
      const text =
        (error instanceof Error && 'details' in error && String(error.details)) || errorText(error);
      const problem = new StartProblem(
        `TEMPORAL_ADDRESS: Temporal at ${target.address} cannot be used with namespace "${target.namespace}" (${text.replace(/\.$/, '')}).`,
      );
      if (/unauthorized|permission|unauthenticated/i.test(text)) throw problem;
      return problem;
    }
  });
}

export async function withTemporal<T>(
  target: TemporalTarget,
  work: (connection: Connection) => Promise<T>,
): Promise<T> {
  const connection = await Connection.connect({ ...target, connectTimeout: '5s' });
  try {
    return await work(connection);
  } finally {
    await connection.close();
  }
}

async function retryUntil(timeoutMs: number, attempt: () => Promise<StartProblem | null>): Promise<void> {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    const problem = await attempt();
    if (problem === null) return;
    if (Date.now() > deadline) throw problem;
    await sleep(RETRY_MS);
  }
}
