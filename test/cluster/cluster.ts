import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type ClusterFile, clusterFile } from '../../tools/cluster/clusterFile.ts';
import { identify, readJson } from '../../bin/runfile.ts';
import { findTemporalServer } from '../../tools/cluster/temporalServer.ts';
import {
  type Installation,
  leaveNothing,
  newDataDir,
  runAdmin,
  systemSettings,
} from '../crash/installation.ts';

const PROJECT = fileURLToPath(new URL('../..', import.meta.url));
/** How long a machine's first start may take, which builds the server. */
export const BUILD_PATIENCE_MS = 1_200_000;
const START_PATIENCE_MS = 180_000;
const BACK_PATIENCE_MS = 120_000;
const STOP_PATIENCE_MS = 90_000;
const LOOK_AGAIN_MS = 50;

/** `npm run cluster` in a folder and on ports of its own. */
export interface Cluster extends Installation {
  secretsKey: string;
  /** What runs at this moment. */
  now(): ClusterFile;
  /** The running process of this name. */
  pid(name: string): number;
  /** Waits until another process has this name, and serves. */
  untilBack(name: string, killed: number): Promise<void>;
  /** What the command has said so far. */
  output(): string;
}

/**
 * Starts the cluster's own command.
 * @param args what follows `npm run cluster --`
 * @param settings environment variables beyond the usual ones
 */
export async function startCluster(
  args: string[] = [],
  settings: Record<string, string> = {},
): Promise<Cluster> {
  await findTemporalServer((line) => console.log(line));
  const folder = newDataDir();
  const dataDir = join(folder, 'cluster');
  const secretsKey = randomBytes(32).toString('base64');
  const child = spawn(process.execPath, ['--import', 'tsx', 'tools/cluster.ts', ...args], {
    cwd: PROJECT,
    env: {
      ...systemSettings(),
      DATA_DIR: folder,
      PORT: '0',
      // As npm would: then it ends with this process, however that ends.
      npm_lifecycle_event: 'cluster',
      SECRETS_KEY: secretsKey,
      WEBHOOK_ALLOW_PRIVATE: 'true',
      ...settings,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => (output += String(chunk)));
  await untilRunning(child, dataDir, () => output);
  const read = () => readJson(clusterFile(dataDir)) as ClusterFile | null;
  const now = (): ClusterFile => read()!;
  const pid = (name: string): number => {
    const found = now().processes.find((process) => process.name === name);
    if (found === undefined) throw new Error(`there is no ${name}`);
    return found.pid;
  };
  const { databaseUrl, temporalAddress, apiUrl } = now();
  return {
    dataDir,
    secretsKey,
    apiUrls: apiUrl === null ? [] : [apiUrl],
    databaseUrl,
    temporalAddress,
    now,
    pid,
    output: () => output,
    async untilBack(name, killed) {
      const deadline = Date.now() + BACK_PATIENCE_MS;
      while (pid(name) === killed || identify(pid(name)) === null) {
        if (Date.now() > deadline) throw new Error(`${name} has not come back:\n${output}`);
        await delay(LOOK_AGAIN_MS);
      }
    },
    admin: (...words) =>
      runAdmin({ DATA_DIR: dataDir, DATABASE_URL: databaseUrl, SECRETS_KEY: secretsKey }, words),
    async stop() {
      const pids = read()?.processes.map((process) => process.pid) ?? [];
      if (child.exitCode === null && child.signalCode === null) {
        const ended = once(child, 'exit');
        const hurry = setTimeout(() => child.kill('SIGKILL'), STOP_PATIENCE_MS);
        child.kill('SIGTERM');
        await ended;
        clearTimeout(hurry);
      }
      await leaveNothing(folder);
      const left = pids.filter((one) => identify(one) !== null);
      if (left.length > 0) throw new Error(`processes left over: ${left.join(', ')}`);
    },
  };
}

async function untilRunning(child: ChildProcess, dataDir: string, output: () => string): Promise<void> {
  const deadline = Date.now() + START_PATIENCE_MS;
  while (!output().includes('The cluster is running')) {
    if (child.exitCode !== null || child.signalCode !== null || Date.now() > deadline) {
      child.kill('SIGKILL');
      throw new Error(`the cluster did not start:\n${output()}\n${lastOf(join(dataDir, 'logs'))}`);
    }
    await delay(LOOK_AGAIN_MS);
  }
}

function lastOf(logs: string): string {
  try {
    return readFileSync(join(logs, 'temporal-1.log'), 'utf8').slice(-2000);
  } catch {
    return '';
  }
}
