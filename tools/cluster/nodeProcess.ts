import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type EmbeddedServer, endLeftover, startChild } from '../../bin/embedded/children.ts';
import { lastLine, StartProblem } from '../../bin/embedded/problem.ts';

/** A process of this repository's own. */
export type NodeProcessOptions = {
  /** Logs and the process are called by it: `api-1`. */
  name: string;
  dataDir: string;
  /** The program, from the root of the repository. */
  program: string;
  args?: string[];
  env: NodeJS.ProcessEnv;
  /** What its output has once it is ready. */
  saying: string;
  /** 0 for what listens nowhere. */
  port: number;
  /** Milliseconds until one that was asked to stop is killed; longer than its own grace. */
  patienceMs?: number;
};

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
// Longer than a worker's own grace.
const STOP_PATIENCE_MS = 33_000;
const READY_PATIENCE_MS = 90_000;

/**
 * Starts one of this repository's programs and waits until it says that it is ready.
 * @throws StartProblem with its last words when it does not
 */
export async function startNodeProcess(options: NodeProcessOptions): Promise<EmbeddedServer> {
  const { name, dataDir, program, args = [], env, saying, port } = options;
  const { patienceMs = STOP_PATIENCE_MS } = options;
  const logFile = join(dataDir, 'logs', `${name}.log`);
  const pidFile = join(dataDir, `${name}.pid`);
  if (existsSync(pidFile)) await endLeftover(pidFile, 'SIGTERM', patienceMs);
  const child = await startChild({
    command: process.execPath,
    args: ['--import', 'tsx', program, ...args],
    cwd: ROOT,
    env,
    logFile,
    pidFile,
    stopSignal: 'SIGTERM',
    patienceMs,
  });
  let alive = true;
  void child.ended.then(() => (alive = false));
  const deadline = Date.now() + READY_PATIENCE_MS;
  while (!child.output().includes(saying)) {
    if (!alive || Date.now() > deadline) {
      await child.stop();
      throw new StartProblem(`${name} did not start: ${lastLine(child.output())} (see ${logFile})`);
    }
    await sleep(50);
  }
  const { pid, stop, onUnexpectedExit } = child;
  return { url: `127.0.0.1:${port}`, port, pid, stop, onUnexpectedExit };
}
