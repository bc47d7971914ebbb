import { join } from 'node:path';
import type { Logger } from 'pino';
import { startApi } from '../api/server.ts';
import { openDatabase } from '../db/connection.ts';
import { migrate } from '../db/migrate.ts';
import { startWorker } from '../worker/worker.ts';
import { SEARCH_ATTRIBUTES } from '../workflows/contracts.ts';
import { ensureDemoAccount, type DemoAccount } from '../operations/accounts/demo.ts';
import { operatingUser } from './admin/tools.ts';
import { readConfig, type Config } from './config.ts';
import {
  awaitDatabase,
  awaitTemporal,
  externalTemporal,
  withTemporal,
  type TemporalTarget,
} from './connections.ts';
import { handOverKey, keptKey } from './demoKey.ts';
import { lockDataDir } from './embedded/lock.ts';
import { localUrl } from './embedded/ports.ts';
import { startPostgres } from './embedded/postgres.ts';
import { readPorts, removeRunFile, writePorts, writeRunFile, type RunFile } from './embedded/runfile.ts';
import { keepRunning } from './embedded/supervise.ts';
import { findTemporal, startTemporal, temporalWorks } from './embedded/temporal.ts';
import { expectListenable } from './listening.ts';
import { watchSecretsKey } from './keyWatch.ts';
import { startLog } from './log.ts';
import { doors } from './doors.ts';
import { startConfiguredMetrics } from './metrics.ts';
import { endsWithin, runProcess, type Running } from './process.ts';
import { addSearchAttributes, searchAttributesOf } from './searchAttributes.ts';
import { checkSecretsKey, loadSecretsKey } from './secrets.ts';
import { shellWord } from './shell.ts';
import { startConfiguredTracing } from './tracing.ts';

// A service with a demo account is for this machine alone unless whoever runs it says otherwise.
const HOST = '127.0.0.1';
const EXTERNAL_PATIENCE_MS = 10_000;
// The sum of what each part gets to stop in.
const GRACE_MS = 85_000;
// Where Temporal's own tools put the Web UI.
const USUAL_UI_PORT = 8233;
// Of the simulated provider, delivered after about a second.
const DEMO_RECIPIENT = '+48500100200';

const say = (line: string): void => console.log(line);

/**
 * What has been started, to be stopped in the opposite order; after `withinMs` the next one's turn comes all the same. A server
 * that has not ended then is ended by its watchdog, when we have.
 */
type Started = { name: string; withinMs: number; stop: () => Promise<void> | void }[];

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
  const host = config.HOST ?? HOST;
  // Before the port: it is the service in this folder that has it, where somebody starts it twice.
  const lock = lockDataDir(config.DATA_DIR);
  started.push({ name: 'lock', withinMs: 1_000, stop: () => lock.release() });
  await expectListenable(config.PORT, host);
  const log = startLog(config, join(config.DATA_DIR, 'logs', 'goniec.log'), (line) => console.error(line));
  const secretsKey = await loadSecretsKey(config);

  const { databaseUrl, partUrls } = await startDatabase(config, started);
  stopping.throwIfAborted();
  const { target: temporal, uiUrl } = await startOrchestration(config, started, stopping);
  stopping.throwIfAborted();
  await migrate(databaseUrl);
  await checkSecretsKey(databaseUrl, secretsKey);

  const known: Omit<RunFile, 'process'> = {
    databaseUrl,
    ...(partUrls === undefined ? {} : { partUrls }),
    temporal: { address: temporal.address, namespace: temporal.namespace, embedded: uiUrl !== null },
    temporalUiUrl: uiUrl,
    apiUrl: null,
  };
  writeRunFile(config.DATA_DIR, known);
  started.push({ name: 'run file', withinMs: 1_000, stop: () => removeRunFile(config.DATA_DIR) });
  stopping.throwIfAborted();

  const shared = { databasePool: config.DATABASE_POOL, temporal, config, secretsKey, log };
  const traces = await startConfiguredTracing('goniec', log);
  if (traces !== null) started.push({ name: 'traces', withinMs: 3_000, stop: () => traces.stop() });
  const metrics = await startConfiguredMetrics(config, partUrls?.worker ?? databaseUrl, log, true);
  if (metrics !== null) started.push({ name: 'metrics', withinMs: 3_000, stop: () => metrics.stop() });
  const { PUBLIC_URL: publicUrl, SHORT_URL: shortUrl, MCP_URL: mcpUrl } = config;
  const api = await startApi({
    ...{ ...shared, databaseUrl: partUrls?.api ?? databaseUrl },
    ...{ port: config.PORT, host, publicUrl, shortUrl, mcpUrl, mounts: doors },
  });
  started.push({ name: 'API', withinMs: 15_000, stop: () => api.stop() });
  const apiUrl = localUrl(host, api.port);
  stopping.throwIfAborted();
  // Webhooks name links as the API wrote them into the texts, whatever the host and the port it found free.
  const worker = await startWorker({
    ...shared,
    databaseUrl: partUrls?.worker ?? databaseUrl,
    shortUrl: api.shortUrl,
    sdkMetrics: metrics?.sdkMetrics,
  });
  const keyWatch = watchSecretsKey(partUrls?.worker ?? databaseUrl, secretsKey);
  const stopWorker = async (): Promise<void> => void (await Promise.all([worker.stop(), keyWatch.stop()]));
  // Stopped after the API, whose last requests still want their charge.
  started.splice(-1, 0, { name: 'worker', withinMs: 27_000, stop: stopWorker });
  writeRunFile(config.DATA_DIR, { ...known, apiUrl });

  // Last, because its key is shown only once and must not be lost with a start that fails.
  const demo = await demoAccount(partUrls?.admin ?? databaseUrl);
  announce({ config, apiUrl, uiUrl, temporal, demo, metricsPort: metrics?.port ?? null });
  return {
    finished: Promise.race([worker.finished, keyWatch.changed]),
    stop: async () => {
      say('Stopping …');
      await stopAll(started, log);
      say('Stopped.');
    },
  };
}

async function stopAll(started: Started, log?: Logger): Promise<void> {
  for (const { name, withinMs, stop } of started.reverse()) {
    try {
      const ended = await endsWithin(withinMs, Promise.resolve(stop()));
      if (!ended) log?.error({ withinMs }, `${name}: did not stop in time`);
    } catch (error) {
      log?.error({ err: error }, `${name}: did not stop cleanly`);
    }
  }
}

/** `partUrls` are those of the roles of an embedded database. */
async function startDatabase(
  config: Config,
  started: Started,
): Promise<Pick<RunFile, 'databaseUrl' | 'partUrls'>> {
  const { DATA_DIR: dataDir, DATABASE_URL: external } = config;
  if (external !== undefined) {
    await awaitDatabase(external, EXTERNAL_PATIENCE_MS);
    return { databaseUrl: external };
  }
  const begin = (port: number | undefined) =>
    startPostgres({ dataDir, log: say, ...(port === undefined ? {} : { port }) });
  const server = await begin(readPorts(dataDir).postgres);
  const { stop } = keepRunning(server, { name: 'PostgreSQL', say, restart: (fallen) => begin(fallen.port) });
  started.push({ name: 'PostgreSQL', withinMs: 22_000, stop });
  writePorts(dataDir, { ...readPorts(dataDir), postgres: server.port });
  return { databaseUrl: server.url, partUrls: server.partUrls };
}

type Orchestration = { target: TemporalTarget; uiUrl: string | null };

async function startOrchestration(
  config: Config,
  started: Started,
  signal: AbortSignal,
): Promise<Orchestration> {
  const { DATA_DIR: dataDir, TEMPORAL_ADDRESS: external, TEMPORAL_NAMESPACE: namespace } = config;
  const searchAttributes = searchAttributesOf(SEARCH_ATTRIBUTES);
  if (external !== undefined) {
    const target = externalTemporal(config, external);
    await awaitTemporal(target, EXTERNAL_PATIENCE_MS);
    await withTemporal(target, (connection) => addSearchAttributes(connection, namespace, searchAttributes));
    return { target, uiUrl: null };
  }
  const binary = await findTemporal({ cliPath: config.TEMPORAL_CLI_PATH, log: say, signal });
  const begin = (ports: { grpc?: number | undefined; ui?: number | undefined }) =>
    startTemporal({ binary, dataDir, namespace, log: say, searchAttributes, ports });
  const last = readPorts(dataDir);
  const server = await begin({ grpc: last.temporal, ui: last.temporalUi ?? USUAL_UI_PORT });
  const { stop } = keepRunning(server, {
    name: 'Temporal',
    say,
    restart: (fallen) => begin({ grpc: fallen.port, ui: fallen.uiPort }),
    works: ({ address }) => temporalWorks(address, namespace),
  });
  started.push({ name: 'Temporal', withinMs: 12_000, stop });
  writePorts(dataDir, { ...readPorts(dataDir), temporal: server.port, temporalUi: server.uiPort });
  return { target: { address: server.address, namespace }, uiUrl: server.uiUrl };
}

async function demoAccount(databaseUrl: string): Promise<DemoAccount> {
  const sql = openDatabase(databaseUrl, 1);
  try {
    return await ensureDemoAccount(sql, operatingUser());
  } finally {
    await sql.end({ timeout: 5 });
  }
}

type Announcement = {
  config: Config;
  apiUrl: string;
  uiUrl: string | null;
  temporal: TemporalTarget;
  demo: DemoAccount;
  /** Null where no metrics are served. */
  metricsPort: number | null;
};

function announce({ config, apiUrl, uiUrl, temporal, demo, metricsPort }: Announcement): void {
  const database =
    config.DATABASE_URL === undefined ? `embedded, in ${config.DATA_DIR}` : 'external (DATABASE_URL)';
  say(`
goniec is running.

  API           ${apiUrl}
  Temporal UI   ${uiUrl ?? `not ours (Temporal at ${temporal.address})`}
  PostgreSQL    ${database}${metricsPort === null ? '' : `\n  Metrics       ${localUrl(config.METRICS_HOST, metricsPort)}/metrics`}
`);
  say(demo.apiKey === undefined ? laterStart(demo, config) : firstStart(demo.apiKey, config, apiUrl));
  say('Ctrl-C stops it.');
}

function firstStart(apiKey: string, { DATA_DIR: dataDir }: Config, apiUrl: string): string {
  const { remark, word } = handOverKey(apiKey, dataDir, process.stdout.isTTY);
  const body = JSON.stringify({ to: DEMO_RECIPIENT, text: 'Hello from goniec' });
  return `  ${remark}

  Send a message (to the simulated provider), then look at it:

    curl -sS ${apiUrl}/v1/messages -H "Authorization: Bearer ${word}" -H 'Content-Type: application/json' -d '${body}'
    curl -sS '${apiUrl}/v1/messages?limit=1' -H "Authorization: Bearer ${word}"
`;
}

function laterStart(demo: DemoAccount, { DATA_DIR: dataDir }: Config): string {
  const where = dataDir === readConfig({}).DATA_DIR ? '' : `DATA_DIR=${shellWord(dataDir)} `;
  const kept = keptKey(dataDir);
  const place = kept === null ? 'was handed over at the first start' : `is still in ${kept}`;
  return `  The demo account's API key ${place}; make another one with

    ${where}npm run --silent admin -- keys create --account ${demo.accountId}
`;
}
