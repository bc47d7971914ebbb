import { join } from 'node:path';
import type { Logger } from 'pino';
import { startApi } from '../api/server.ts';
import { operatingUser } from '../bin/admin/tools.ts';
import { readConfig, sellerOf, type Config } from '../bin/config.ts';
import {
  awaitDatabase,
  awaitTemporal,
  externalTemporal,
  withTemporal,
  type TemporalTarget,
} from '../bin/connections.ts';
import { welcome } from '../bin/demoKey.ts';
import { mounts } from '../bin/mounts.ts';
import { watchSecretsKey } from '../bin/keyWatch.ts';
import { startConsole } from '../bin/consoleServer.ts';
import { expectListenable, freePort, localUrl } from '../bin/ports.ts';
import { startLog } from '../bin/log.ts';
import { startConfiguredMetrics } from '../bin/metrics.ts';
import { StartProblem } from '../bin/problem.ts';
import { runProcess, type Running } from '../bin/process.ts';
import { removeRunFile, writeRunFile, type RunFile } from '../bin/runfile.ts';
import { addSearchAttributes } from '../bin/searchAttributes.ts';
import { checkSecretsKey, loadSecretsKey } from '../bin/secrets.ts';
import { startConfiguredTracing } from '../bin/tracing.ts';
import { type Database, withDatabase } from '../db/connection.ts';
import { migrate } from '../db/migrate.ts';
import { ensureDemoAccount } from '../operations/accounts/demo.ts';
import { ensureOwnEmailAccount } from '../operations/accounts/ownEmailAccount.ts';
import { routingNow } from '../operations/routes/routes.ts';
import { hasSimulatedNetwork } from '../operations/support/simulator.ts';
import { startWorker } from '../worker/worker.ts';
import { lockDataDir } from './dataDir.ts';
import { startPostgres } from './postgres.ts';
import { startTemporal } from './temporal.ts';
import { findTemporal } from './temporalProgram.ts';

// A service with a demo account listens on this machine only, unless HOST is set.
const HOST = '127.0.0.1';
const EXTERNAL_PATIENCE_MS = 10_000;
// The sum of all stop timeouts; a server that still runs then is stopped by its watchdog.
const GRACE_MS = 85_000;

const say = (line: string): void => console.log(line);

// Stopped in reverse order; `ended` resolves when a server exits by itself.
type Started = { name: string; stop: () => Promise<void> | void; ended?: Promise<string> }[];

await runProcess(async (stopping) => {
  const started: Started = [];
  try {
    return await startAll(started, stopping);
  } catch (error) {
    await stopAll(started);
    throw error;
  }
}, GRACE_MS);

async function startAll(started: Started, stopping: AbortSignal): Promise<Running> {
  const config = readConfig();
  const { DATA_DIR: dataDir, PORT: port, HOST: host = HOST } = config;
  // Before the port: on a second start in this folder, the service itself has the port.
  started.push({ name: 'lock', stop: lockDataDir(dataDir) });
  await expectListenable(port, host);
  const log = startLog(config, join(dataDir, 'logs', 'goniec.log'), (line) => console.error(line));
  const secretsKey = await loadSecretsKey(config);

  const { databaseUrl, partUrls } = await startDatabase(config, started);
  stopping.throwIfAborted();
  const { temporal, temporalUiUrl } = await startOrchestration(config, started, stopping);
  stopping.throwIfAborted();
  await migrate(databaseUrl);
  await checkSecretsKey(databaseUrl, secretsKey);
  config.OWN_EMAIL_ACCOUNT ??= await withDatabase(partUrls?.admin ?? databaseUrl, (sql) =>
    ownEmailAccount(sql, secretsKey),
  );

  const traces = await startConfiguredTracing('goniec', log);
  if (traces !== null) started.push({ name: 'traces', stop: () => traces.stop() });
  const workerUrl = partUrls?.worker ?? databaseUrl;
  const metrics = await startConfiguredMetrics(config, workerUrl, log, true);
  if (metrics !== null) started.push({ name: 'metrics', stop: () => metrics.stop() });
  const { DATABASE_POOL: databasePool, PUBLIC_URL: publicUrl, SHORT_URL: shortUrl } = config;
  const { MCP_URL: mcpUrl, PANEL_URL: panelUrl } = config;
  const shared = { databasePool, temporal, config, secretsKey, log };
  const api = await startApi({
    ...shared,
    databaseUrl: partUrls?.api ?? databaseUrl,
    port,
    host,
    publicUrl,
    shortUrl,
    mcpUrl,
    panelUrl,
    mounts,
  });
  const worker = await startWorker({
    ...shared,
    databaseUrl: workerUrl,
    seller: sellerOf(config),
    sdkMetrics: metrics?.sdkMetrics,
    // Webhooks name links as the API wrote them into the texts, with its actual host and port.
    shortUrl: api.shortUrl,
  });
  const keyWatch = watchSecretsKey(workerUrl, secretsKey);
  // The API stops first: its last requests still need the worker to charge them.
  started.push({ name: 'key watch', stop: () => keyWatch.stop() });
  started.push({ name: 'worker', stop: () => worker.stop() });
  started.push({ name: 'API', stop: () => api.stop() });
  const staffPages = await startConsole({
    ...shared,
    databaseUrl: partUrls?.admin ?? databaseUrl,
    port: config.CONSOLE_PORT ?? (port === 0 ? 0 : await freePort(port + 1)),
    temporalUiUrl: config.TEMPORAL_UI_URL ?? temporalUiUrl,
  });
  started.push({ name: 'console', stop: () => staffPages.stop() });

  const apiUrl = localUrl(host, api.port);
  const { address, namespace } = temporal;
  const known = { databaseUrl, partUrls, temporalUiUrl, apiUrl };
  writeRunFile(dataDir, { ...known, temporal: { address, namespace, embedded: temporalUiUrl !== null } });
  started.push({ name: 'run file', stop: () => removeRunFile(dataDir) });
  // Last, because the key is shown only once and must not be lost with a failed start.
  const { demo, simulates } = await withDatabase(partUrls?.admin ?? databaseUrl, async (sql) => ({
    demo: await ensureDemoAccount(sql, operatingUser()),
    simulates: hasSimulatedNetwork(await routingNow(sql)),
  }));
  const uiUrl = temporalUiUrl ?? `not ours (Temporal at ${address})`;
  say(
    addresses(config, { apiUrl, consoleUrl: staffPages.url, uiUrl, simulates, metricsPort: metrics?.port }),
  );
  say(welcome(demo, dataDir, apiUrl));
  say('Ctrl-C stops it.');
  return {
    finished: Promise.race([worker.finished, keyWatch.changed, ...started.map(endOf)]),
    async stop() {
      say('Stopping …');
      await stopAll(started, log);
      say('Stopped.');
    },
  };
}

async function stopAll(started: Started, log?: Logger): Promise<void> {
  for (const { name, stop } of started.reverse()) {
    try {
      await stop();
    } catch (error) {
      log?.error({ err: error }, `${name}: did not stop cleanly`);
    }
  }
}

async function endOf({ name, ended = new Promise(() => undefined) }: Started[number]): Promise<never> {
  throw new StartProblem(`${name} has ended unexpectedly (${await ended}); start the service again.`);
}

async function startDatabase(
  { DATA_DIR: dataDir, DATABASE_URL: external }: Config,
  started: Started,
): Promise<Pick<RunFile, 'databaseUrl' | 'partUrls'>> {
  if (external !== undefined) {
    await awaitDatabase(external, EXTERNAL_PATIENCE_MS);
    return { databaseUrl: external };
  }
  const { url, partUrls, ended, stop } = await startPostgres(dataDir);
  started.push({ name: 'PostgreSQL', ended, stop });
  return { databaseUrl: url, partUrls };
}

/** The account that sends e-mails to sign in by, where no other is set. */
async function ownEmailAccount(sql: Database, secretsKey: Buffer): Promise<string> {
  const services = {
    sql,
    temporal: () => Promise.reject(new Error('it needs none')),
    secretsKey: () => Promise.resolve(secretsKey),
  };
  return await ensureOwnEmailAccount(services, { kind: 'staff', name: operatingUser() });
}

async function startOrchestration(
  config: Config,
  started: Started,
  signal: AbortSignal,
): Promise<{ temporal: TemporalTarget; temporalUiUrl: string | null }> {
  const { DATA_DIR: dataDir, TEMPORAL_ADDRESS: external, TEMPORAL_NAMESPACE: namespace } = config;
  if (external !== undefined) {
    const temporal = externalTemporal(config, external);
    await awaitTemporal(temporal, EXTERNAL_PATIENCE_MS);
    await withTemporal(temporal, (connection) => addSearchAttributes(connection, namespace));
    return { temporal, temporalUiUrl: null };
  }
  const binary = await findTemporal({ cliPath: config.TEMPORAL_CLI_PATH, log: say, signal });
  const { url, uiUrl, ended, stop } = await startTemporal({ binary, dataDir, namespace });
  started.push({ name: 'Temporal', ended, stop });
  return { temporal: { address: url, namespace }, temporalUiUrl: uiUrl };
}

interface Addresses {
  apiUrl: string;
  consoleUrl: string;
  uiUrl: string;
  simulates: boolean;
  metricsPort: number | undefined;
}

function addresses(config: Config, { apiUrl, consoleUrl, uiUrl, simulates, metricsPort }: Addresses): string {
  const { DATABASE_URL: external, DATA_DIR: dataDir, METRICS_HOST: metricsHost } = config;
  const simulator = simulates ? `\n  Simulator     ${apiUrl}/simulator (phones and mailboxes)` : '';
  const metrics =
    metricsPort === undefined ? '' : `\n  Metrics       ${localUrl(metricsHost, metricsPort)}/metrics`;
  return `
goniec is running.

  API           ${apiUrl}
  Panel         ${config.PANEL_URL ?? apiUrl}/panel${simulator}
  Console       ${consoleUrl}
  Temporal UI   ${uiUrl}
  PostgreSQL    ${external === undefined ? `embedded, in ${dataDir}` : 'external (DATABASE_URL)'}${metrics}
`;
}
