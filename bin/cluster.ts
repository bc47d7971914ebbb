import { join } from 'node:path';
import { migrate } from '../db/migrate.ts';
import { removeClusterFile, writeClusterFile, type ClusterFile } from './cluster/clusterFile.ts';
import { addApps, addBalancer } from './cluster/apps.ts';
import { supervisedMembers, type Member, type Members } from './cluster/members.ts';
import { prepareNamespace } from './cluster/namespace.ts';
import { readOptions, type ClusterOptions } from './cluster/options.ts';
import { keptPorts, type KeptPorts } from './cluster/ports.ts';
import { PORTS_PER_SERVER, portsOfServer } from './cluster/temporalConfig.ts';
import { prepareTemporalStore, temporalStoreOf } from './cluster/temporalDatabases.ts';
import { startTemporalServer } from './cluster/temporalServer.ts';
import { readConfig, type Config } from './config.ts';
import { awaitDatabase } from './connections.ts';
import { lockDataDir } from './embedded/lock.ts';
import { isPortFree } from './embedded/ports.ts';
import { startPostgres } from './embedded/postgres.ts';
import { StartProblem } from './embedded/problem.ts';
import { removeRunFile, writeRunFile } from './embedded/runfile.ts';
import { findTemporalServer } from './embedded/temporalServerBinary.ts';
import { portTaken, runProcess, type Running } from './process.ts';
import { checkSecretsKey, loadSecretsKey } from './secrets.ts';

// Each service of each Temporal server keeps connections of its own, beside those of APIs and workers.
const MAX_CONNECTIONS = 400;
const EXTERNAL_PATIENCE_MS = 10_000;
const USUAL_TEMPORAL_PORT = 7233;

const say = (line: string): void => console.log(line);

/** Everything the steps of the start share. */
type Cluster = {
  config: Config;
  options: ClusterOptions;
  dataDir: string;
  members: Members;
  ports: KeptPorts;
  stopping: AbortSignal;
};

await runProcess(async (stopping) => {
  const options = readOptions();
  const config = readConfig();
  if (config.TEMPORAL_ADDRESS !== undefined)
    throw new StartProblem('TEMPORAL_ADDRESS: this command starts Temporal itself; leave it out.');
  // Not the folder of `npm start`, whose Temporal is another one and knows other workflows.
  const dataDir = join(config.DATA_DIR, 'cluster');
  const lock = lockDataDir(dataDir);
  let known: Omit<ClusterFile, 'processes'> | null = null;
  const publish = (processes: Member[]): void => {
    if (known !== null) writeClusterFile(dataDir, { ...known, processes });
  };
  const members = supervisedMembers({ say, restart: options.restart, onChange: publish });
  const stop = async (): Promise<void> => {
    try {
      await members.stop();
    } finally {
      removeRunFile(dataDir);
      removeClusterFile(dataDir);
      lock.release();
    }
  };
  try {
    const cluster = { config, options, dataDir, members, ports: keptPorts(dataDir), stopping };
    known = { pid: process.pid, ...(await startAll(cluster)) };
    publish(members.list());
    announce(known, members.list(), cluster);
  } catch (error) {
    await stop();
    throw error;
  }
  const running: Running = {
    async stop() {
      say('Stopping …');
      await stop();
      say('Stopped.');
    },
  };
  return running;
});

async function startAll(cluster: Cluster): Promise<Omit<ClusterFile, 'processes' | 'pid'>> {
  const { config, options, dataDir, members, ports, stopping } = cluster;
  const host = config.HOST ?? '127.0.0.1';
  const withApis = options.only === undefined && options.apis > 0;
  if (withApis && config.PORT !== 0 && !(await isPortFree(config.PORT, host)))
    throw new StartProblem(portTaken(config.PORT));
  const programs = await findTemporalServer(say, stopping);

  const databaseUrl = await startDatabase(cluster);
  stopping.throwIfAborted();
  const store = temporalStoreOf(databaseUrl);
  await prepareTemporalStore(databaseUrl, store, programs.sqlTool);
  stopping.throwIfAborted();

  const names = Array.from({ length: options.servers }, (_, index) => `temporal-${index + 1}`);
  const dealt = new Map<string, ReturnType<typeof portsOfServer>>();
  for (const name of names) dealt.set(name, portsOfServer(await ports.take(name, PORTS_PER_SERVER)));
  await members.together(async () => {
    const shared = { program: programs.server, dataDir, store, shards: options.shards };
    // The first one alone: what a new cluster writes once must not be written by two.
    for (const name of names)
      await members.add(name, () => startTemporalServer({ ...shared, name, ports: dealt.get(name)! }));
  });
  stopping.throwIfAborted();
  const frontends = [...dealt.values()].map(({ frontend }) => `127.0.0.1:${frontend.grpc}`);
  await prepareNamespace(frontends, config.TEMPORAL_NAMESPACE);
  stopping.throwIfAborted();

  const [temporalPort = 0] = await ports.take('balancer', 1, USUAL_TEMPORAL_PORT);
  const temporalAddress = `127.0.0.1:${temporalPort}`;
  const balanced = [
    { kind: 'temporal' as const, host: '127.0.0.1', port: temporalPort, backends: frontends },
  ];
  await addBalancer(cluster, 'balancer', balanced);
  const found = { databaseUrl, temporalAddress };
  writeRunFile(dataDir, runFileOf(found, config, null));
  if (options.only === 'temporal') return { ...found, apiUrl: null };

  const secretsKey = await loadSecretsKey({ SECRETS_KEY: config.SECRETS_KEY, DATA_DIR: dataDir });
  await migrate(databaseUrl);
  await checkSecretsKey(databaseUrl, secretsKey);
  stopping.throwIfAborted();
  const apiUrl = await addApps(cluster, found, withApis ? host : null);
  writeRunFile(dataDir, runFileOf(found, config, apiUrl));
  return { ...found, apiUrl };
}

function runFileOf(
  { databaseUrl, temporalAddress }: { databaseUrl: string; temporalAddress: string },
  config: Config,
  apiUrl: string | null,
): Parameters<typeof writeRunFile>[1] {
  const temporal = { address: temporalAddress, namespace: config.TEMPORAL_NAMESPACE, embedded: true };
  return { databaseUrl, temporal, temporalUiUrl: null, apiUrl };
}

async function startDatabase({ config, dataDir, members, ports }: Cluster): Promise<string> {
  if (config.DATABASE_URL !== undefined) {
    await awaitDatabase(config.DATABASE_URL, EXTERNAL_PATIENCE_MS);
    return config.DATABASE_URL;
  }
  const [port = 0] = await ports.take('postgres');
  const server = await members.add('postgres', () =>
    startPostgres({ dataDir, port, log: say, maxConnections: MAX_CONNECTIONS }),
  );
  return server.url;
}

function announce(
  { apiUrl, temporalAddress }: Omit<ClusterFile, 'processes'>,
  members: Member[],
  { config, dataDir, options }: Cluster,
): void {
  const rows = members.map(
    ({ name, pid, address }) => `  ${name.padEnd(14)}pid ${String(pid).padEnd(9)}${address ?? ''}`,
  );
  say(`
The cluster is running; data and logs are in ${dataDir}.

${rows.join('\n')}

  Temporal      ${temporalAddress}, namespace "${config.TEMPORAL_NAMESPACE}" (the balancer, in front of all servers)${
    apiUrl === null ? '' : `\n  API           ${apiUrl} (the balancer, in front of all APIs)`
  }

Commands of this installation: DATA_DIR=${dataDir} npm run admin -- …
${options.restart ? 'A process that ends is started again. ' : ''}Ctrl-C stops everything in order.`);
}
