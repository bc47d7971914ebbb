import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Child, type EmbeddedServer, endLeftover, startChild } from '../../bin/embedded/children.ts';
import { lastLine, StartProblem } from '../../bin/embedded/problem.ts';
import { frontendServes } from './frontendHealth.ts';
import { dynamicConfig, serverConfig, type ServerPorts } from './temporalConfig.ts';
import type { TemporalStore } from './temporalDatabases.ts';

/** One process of Temporal's real server, with all four of its services. */
export type TemporalServerOptions = {
  /** Path of the server program. */
  program: string;
  /** Files, logs and the process are called by it; `temporal-1`. */
  name: string;
  dataDir: string;
  store: TemporalStore;
  ports: ServerPorts;
  /** Counts only at the first start with these databases. */
  shards: number;
};

// Hands its shards over to the others and lets long polls end.
const STOP_PATIENCE_MS = 20_000;
const READY_PATIENCE_MS = 90_000;

/**
 * Starts a server process and waits until its frontend serves. Those with the same databases find one another there and
 * share the work.
 * @throws StartProblem with the last line of its log when it does not come up
 */
export async function startTemporalServer(options: TemporalServerOptions): Promise<EmbeddedServer> {
  const { name, dataDir, ports } = options;
  const pidFile = join(dataDir, `${name}.pid`);
  await endLeftover(pidFile, 'SIGTERM', STOP_PATIENCE_MS);
  const folder = writeConfig(options);
  const child = await startChild({
    command: options.program,
    args: ['--allow-no-auth', '--root', folder, '--config', '.', '--env', name, 'start'],
    env: { PATH: process.env['PATH'], TZ: 'UTC' },
    logFile: join(dataDir, 'logs', `${name}.log`),
    pidFile,
    stopSignal: 'SIGTERM',
    patienceMs: STOP_PATIENCE_MS,
  });
  const address = `127.0.0.1:${ports.frontend.grpc}`;
  if (!(await becameReady(child, address))) {
    throw new StartProblem(
      `The Temporal server ${name} did not start: ${lastLine(child.output())} (see ${join(dataDir, 'logs', `${name}.log`)})`,
    );
  }
  const { pid, stop, onUnexpectedExit } = child;
  return { url: address, port: ports.frontend.grpc, pid, stop, onUnexpectedExit };
}

// One folder for all servers: each reads the file that is called as it is. The password of the database is in it.
function writeConfig({ name, dataDir, store, ports, shards }: TemporalServerOptions): string {
  const folder = join(dataDir, 'temporal');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const dynamic = join(folder, 'dynamic.yaml');
  writeFileSync(dynamic, dynamicConfig(), { mode: 0o600 });
  const config = serverConfig(store, ports, shards, dynamic);
  writeFileSync(join(folder, `${name}.yaml`), config, { mode: 0o600 });
  return folder;
}

async function becameReady(child: Child, address: string): Promise<boolean> {
  let alive = true;
  void child.ended.then(() => (alive = false));
  const deadline = Date.now() + READY_PATIENCE_MS;
  while (alive && Date.now() < deadline) {
    if ((await frontendServes(address)) === 'serves') return true;
    await sleep(100);
  }
  await child.stop();
  return false;
}
