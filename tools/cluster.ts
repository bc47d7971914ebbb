import { join } from 'node:path';
import { migrate } from '../db/migrate.ts';
import { addApps, addBalancer, type ClusterServers } from './cluster/apps.ts';
import { removeClusterFile, writeClusterFile, type ClusterFile, type Member } from './cluster/clusterFile.ts';
import { supervisedMembers } from './cluster/members.ts';
import { readOptions } from './cluster/options.ts';
import { keptPorts } from './cluster/ports.ts';
import { startDatabase, startTemporalServers, type Cluster } from './cluster/servers.ts';
import { prepareTemporalStore, temporalStoreOf } from './cluster/temporalDatabases.ts';
import { readConfig, type Config } from '../bin/config.ts';
import { lockDataDir } from '../dev/dataDir.ts';
import { StartProblem } from '../bin/problem.ts';
import { removeRunFile, writeRunFile } from '../bin/runfile.ts';
import { findTemporalServer } from './cluster/temporalServer.ts';
import { expectListenable } from '../bin/ports.ts';
import { runProcess } from '../bin/process.ts';
import { checkSecretsKey, loadSecretsKey } from '../bin/secrets.ts';

const USUAL_TEMPORAL_PORT = 7233;

// The patience with each kind of process, one after the other: all are killed when that is over.
const GRACE_MS = 120_000;

const say = (line: string): void => console.log(line);

await runProcess(async (stopping) => {
  const options = readOptions();
  const config = readConfig();
  if (config.TEMPORAL_ADDRESS !== undefined)
    throw new StartProblem('TEMPORAL_ADDRESS: this command starts Temporal itself; leave it out.');
  // Not the folder of `npm start`, whose Temporal is another one and knows other workflows.
  const dataDir = join(config.DATA_DIR, 'cluster');
  const release = lockDataDir(dataDir);
  let known: Omit<ClusterFile, 'processes'> | null = null;
  const publish = (processes: Member[]): void => {
    if (known !== null) writeClusterFile(dataDir, { ...known, processes });
  };
  const members = supervisedMembers(say, options.restart, publish);
  const stop = async (): Promise<void> => {
    try {
      await members.stop();
    } finally {
      removeRunFile(dataDir);
      removeClusterFile(dataDir);
      release();
    }
  };
  try {
    const cluster = { config, options, dataDir, members, ports: keptPorts(dataDir), stopping };
    known = { pid: process.pid, ...(await startAll(cluster)) };
    publish(members.list());
    say(announcement(known, members.list(), cluster));
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    async stop() {
      say('Stopping …');
      await stop();
      say('Stopped.');
    },
  };
}, GRACE_MS);

async function startAll(cluster: Cluster): Promise<Omit<ClusterFile, 'processes' | 'pid'>> {
  const { config, options, dataDir, ports, stopping } = cluster;
  const host = config.HOST ?? '127.0.0.1';
  const withApis = options.only === undefined && options.apis > 0;
  if (withApis) await expectListenable(config.PORT, host);
  const programs = await findTemporalServer(say, stopping);

  const { databaseUrl, partUrls, forTemporal } = await startDatabase(cluster);
  stopping.throwIfAborted();
  const store = temporalStoreOf(databaseUrl, forTemporal?.role);
  await prepareTemporalStore(forTemporal?.superuserUrl ?? databaseUrl, store, programs.sqlTool);
  stopping.throwIfAborted();

  const frontends = await startTemporalServers(cluster, store, programs.server);
  stopping.throwIfAborted();

  const [temporalPort = 0] = await ports.take('balancer', 1, USUAL_TEMPORAL_PORT);
  const temporalAddress = `127.0.0.1:${temporalPort}`;
  const balanced = [
    { kind: 'temporal' as const, host: '127.0.0.1', port: temporalPort, backends: frontends },
  ];
  await addBalancer(cluster, 'balancer', balanced);
  const found = { databaseUrl, temporalAddress };
  const servers = { ...found, partUrls };
  writeRunFile(dataDir, runFileOf(servers, config, null));
  if (options.only === 'temporal') return { ...found, apiUrl: null };

  const secretsKey = await loadSecretsKey({ SECRETS_KEY: config.SECRETS_KEY, DATA_DIR: dataDir });
  await migrate(databaseUrl);
  await checkSecretsKey(databaseUrl, secretsKey);
  stopping.throwIfAborted();
  const apiUrl = await addApps(cluster, servers, withApis ? host : null);
  writeRunFile(dataDir, runFileOf(servers, config, apiUrl));
  return { ...found, apiUrl };
}

function runFileOf(
  { databaseUrl, partUrls, temporalAddress }: ClusterServers,
  config: Config,
  apiUrl: string | null,
): Parameters<typeof writeRunFile>[1] {
  const temporal = { address: temporalAddress, namespace: config.TEMPORAL_NAMESPACE, embedded: true };
  const database = { databaseUrl, ...(partUrls === undefined ? {} : { partUrls }) };
  return { ...database, temporal, temporalUiUrl: null, apiUrl };
}

/** What the terminal shows once everything runs: what listens where, and how to go on. */
function announcement(
  { apiUrl, temporalAddress }: Omit<ClusterFile, 'processes'>,
  members: Member[],
  { config, dataDir, options }: Pick<Cluster, 'config' | 'dataDir' | 'options'>,
): string {
  const rows = members.map(
    ({ name, pid, address }) => `  ${name.padEnd(14)}pid ${String(pid).padEnd(9)}${address ?? ''}`,
  );
  return `
The cluster is running; data and logs are in ${dataDir}.

${rows.join('\n')}

  Temporal      ${temporalAddress}, namespace "${config.TEMPORAL_NAMESPACE}" (the balancer, in front of all servers)${
    apiUrl === null ? '' : `\n  API           ${apiUrl} (the balancer, in front of all APIs)`
  }

Commands of this installation: DATA_DIR=${dataDir} npm run admin -- …
${options.restart ? 'A process that ends is started again. ' : ''}Ctrl-C stops everything in order.`;
}
