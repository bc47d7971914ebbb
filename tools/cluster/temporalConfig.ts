import type { TemporalStore } from './temporalDatabases.ts';

const SERVICES = ['frontend', 'matching', 'history', 'worker'] as const;
type Service = (typeof SERVICES)[number];

/** The ports of one server process, all on 127.0.0.1. */
export type ServerPorts = Record<Service, { grpc: number; membership: number }> & { metrics: number };

/** How many ports a server needs. */
export const PORTS_PER_SERVER = SERVICES.length * 2 + 1;

/** Deals `PORTS_PER_SERVER` ports to the services of a server; the first is the one that clients talk to. */
export function portsOfServer(ports: number[]): ServerPorts {
  const [of, metrics] = [(index: number) => ports[index]!, ports[PORTS_PER_SERVER - 1]!];
  const pair = (service: Service) => {
    const index = SERVICES.indexOf(service) * 2;
    return { grpc: of(index), membership: of(index + 1) };
  };
  return {
    frontend: pair('frontend'),
    matching: pair('matching'),
    history: pair('history'),
    worker: pair('worker'),
    metrics,
  };
}

// Per service of a process, and each process runs four: two processes hold at most 4 × 2 × (20 + 5) connections.
const CONNECTIONS = { default: 20, visibility: 5 };

/** The configuration of one server process, as its `--config` folder has it: JSON, which is YAML too. */
export function serverConfig(
  store: TemporalStore,
  ports: ServerPorts,
  shards: number,
  dynamicConfigFile: string,
): string {
  const sql = (databaseName: string, connections: number) => ({
    sql: {
      pluginName: 'postgres12',
      databaseName,
      connectAddr: `${store.host}:${store.port}`,
      connectProtocol: 'tcp',
      user: store.user,
      password: store.password,
      maxConns: connections,
      maxIdleConns: connections,
      maxConnLifetime: '1h',
    },
  });
  const service = (name: Service) => ({
    rpc: { grpcPort: ports[name].grpc, membershipPort: ports[name].membership, bindOnLocalHost: true },
  });
  const config = {
    log: { stdout: true, level: 'warn' },
    persistence: {
      defaultStore: 'default',
      visibilityStore: 'visibility',
      numHistoryShards: shards,
      datastores: {
        default: sql(store.database, CONNECTIONS.default),
        visibility: sql(store.visibilityDatabase, CONNECTIONS.visibility),
      },
    },
    global: {
      membership: { maxJoinDuration: '30s', broadcastAddress: '127.0.0.1' },
      metrics: { prometheus: { timerType: 'histogram', listenAddress: `127.0.0.1:${ports.metrics}` } },
    },
    services: Object.fromEntries(SERVICES.map((name) => [name, service(name)])),
    clusterMetadata: {
      enableGlobalNamespace: false,
      failoverVersionIncrement: 10,
      masterClusterName: 'active',
      currentClusterName: 'active',
      clusterInformation: {
        active: {
          enabled: true,
          initialFailoverVersion: 1,
          rpcName: 'frontend',
          rpcAddress: `127.0.0.1:${ports.frontend.grpc}`,
        },
      },
    },
    dcRedirectionPolicy: { policy: 'noop' },
    archival: { history: { state: 'disabled' }, visibility: { state: 'disabled' } },
    dynamicConfigClient: { filepath: dynamicConfigFile, pollInterval: '10s' },
  };
  return JSON.stringify(config, null, 2);
}
