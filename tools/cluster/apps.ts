import type { Part } from '../../db/rights.ts';
import { localUrl } from '../../bin/ports.ts';
import { startNodeProcess } from './nodeProcess.ts';
import type { Cluster } from './servers.ts';

/** What APIs and workers connect to. */
export type ClusterServers = {
  databaseUrl: string;
  partUrls?: Record<Part, string> | undefined;
  temporalAddress: string;
};

/** One address in front of several. */
type Balanced = { kind: 'temporal' | 'api'; host: string; port: number; backends: string[] };

/** Starts a balancer process, supervised like the rest. */
export async function addBalancer(
  { dataDir, members }: Pick<Cluster, 'dataDir' | 'members'>,
  name: string,
  balanced: Balanced[],
): Promise<void> {
  await members.add(name, () =>
    startNodeProcess({
      name,
      dataDir,
      program: 'tools/cluster/balancerProcess.ts',
      args: [JSON.stringify(balanced)],
      env: process.env,
      saying: /the balancer listens/,
      port: balanced[0]!.port,
    }),
  );
}

/**
 * Starts workers, APIs and the balancer in front of the APIs.
 * @param host where that balancer listens; null for no APIs
 * @returns the balancer's address, null without APIs
 */
export async function addApps(
  cluster: Omit<Cluster, 'stopping'>,
  servers: ClusterServers,
  host: string | null,
): Promise<string | null> {
  const { config, options, dataDir, members, ports } = cluster;
  const front = config.PORT === 0 ? (await ports.take('api'))[0]! : config.PORT;
  const url = host === null ? null : localUrl(host, front);
  const publicUrl = config.PUBLIC_URL ?? url;
  const shared: NodeJS.ProcessEnv = {
    ...process.env,
    TEMPORAL_ADDRESS: servers.temporalAddress,
    DATA_DIR: dataDir,
    HOST: '127.0.0.1',
    ...(publicUrl === null ? {} : { PUBLIC_URL: publicUrl }),
    // What they say when they are ready is waited for.
    LOG_LEVEL: ['trace', 'debug'].includes(config.LOG_LEVEL) ? config.LOG_LEVEL : 'info',
  };
  let metricsPort = config.METRICS_PORT;
  const env = (part: 'api' | 'worker', port: number): NodeJS.ProcessEnv => {
    const databaseUrl = servers.partUrls?.[part] ?? servers.databaseUrl;
    const own = { ...shared, DATABASE_URL: databaseUrl, PORT: String(port) };
    // On one machine each process needs a port of its own.
    return metricsPort === undefined
      ? own
      : { ...own, METRICS_PORT: String(metricsPort === 0 ? 0 : metricsPort++) };
  };

  await members.together(() =>
    Promise.all(
      namesOf('worker', options.workers).map((name) => {
        const program = { name, dataDir, program: 'bin/worker.ts', env: env('worker', 0), port: 0 };
        return members.add(name, () => startNodeProcess({ ...program, saying: /"worker started"/ }));
      }),
    ),
  );
  if (host === null) return null;
  const backends: string[] = [];
  await members.together(async () => {
    const starts: Promise<unknown>[] = [];
    for (const name of namesOf('api', options.apis)) {
      const [port = 0] = await ports.take(name);
      backends.push(`127.0.0.1:${port}`);
      const program = { name, dataDir, program: 'bin/api.ts', env: env('api', port), port };
      starts.push(members.add(name, () => startNodeProcess({ ...program, saying: /"API listening"/ })));
    }
    await Promise.all(starts);
  });
  await addBalancer(cluster, 'api-balancer', [{ kind: 'api', host, port: front, backends }]);
  return url;
}

const namesOf = (part: string, count: number): string[] =>
  Array.from({ length: count }, (_, index) => `${part}-${index + 1}`);
