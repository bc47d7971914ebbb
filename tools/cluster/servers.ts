import { awaitDatabase } from '../../bin/connections.ts';
import type { Config } from '../../bin/config.ts';
import { type DevPostgres, startPostgres } from '../../dev/postgres.ts';
import type { Members } from './members.ts';
import { prepareNamespace } from './namespace.ts';
import type { ClusterOptions } from './options.ts';
import type { KeptPorts } from './ports.ts';
import { PORTS_PER_SERVER, portsOfServer } from './temporalConfig.ts';
import type { TemporalStore } from './temporalDatabases.ts';
import { startTemporalServer } from './temporalServer.ts';

/** Everything the steps of the start share. */
export type Cluster = {
  config: Config;
  options: ClusterOptions;
  dataDir: string;
  members: Members;
  ports: KeptPorts;
  /** Aborted when the start is to end. */
  stopping: AbortSignal;
};

/** The service's database; what is optional is there where the server is ours. */
type ClusterDatabase = {
  databaseUrl: string;
  partUrls?: DevPostgres['partUrls'];
  /** Who creates Temporal's databases, and whose they are. */
  forTemporal?: { superuserUrl: string; role: DevPostgres['temporalRole'] };
};

// Each service of each Temporal server keeps connections of its own, beside those of APIs and workers.
const MAX_CONNECTIONS = '400';
const EXTERNAL_PATIENCE_MS = 10_000;

/**
 * DATABASE_URL, else a PostgreSQL of our own, where each part has a role of its own.
 * @returns postgres://user:password@host:port/database of the one that changes the schema
 */
export async function startDatabase({ config, dataDir, members }: Cluster): Promise<ClusterDatabase> {
  if (config.DATABASE_URL !== undefined) {
    await awaitDatabase(config.DATABASE_URL, EXTERNAL_PATIENCE_MS);
    return { databaseUrl: config.DATABASE_URL };
  }
  let server: DevPostgres | undefined;
  await members.add('postgres', async () => {
    server = await startPostgres(dataDir, { max_connections: MAX_CONNECTIONS });
    return server;
  });
  const { url, partUrls, superuserUrl, temporalRole } = server!;
  return { databaseUrl: url, partUrls, forTemporal: { superuserUrl, role: temporalRole } };
}

/**
 * Starts the Temporal servers and waits until each knows the namespace.
 * @param program path of the server
 * @returns host:port of each one's frontend
 */
export async function startTemporalServers(
  { config, options, dataDir, members, ports, stopping }: Cluster,
  store: TemporalStore,
  program: string,
): Promise<string[]> {
  const names = Array.from({ length: options.servers }, (_, index) => `temporal-${index + 1}`);
  const dealt = new Map<string, ReturnType<typeof portsOfServer>>();
  for (const name of names) dealt.set(name, portsOfServer(await ports.take(name, PORTS_PER_SERVER)));
  await members.together(async () => {
    const shared = { program, dataDir, store, shards: options.shards };
    // The first one alone: what a new cluster writes once must not be written by two.
    for (const name of names)
      await members.add(name, () => startTemporalServer({ ...shared, name, ports: dealt.get(name)! }));
  });
  stopping.throwIfAborted();
  const frontends = [...dealt.values()].map(({ frontend }) => `127.0.0.1:${frontend.grpc}`);
  await prepareNamespace(frontends, config.TEMPORAL_NAMESPACE);
  return frontends;
}
