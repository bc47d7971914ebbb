import { spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { errorCode } from '../domain/errors.ts';
import { lastLine, StartProblem } from '../bin/problem.ts';
import { identify, isRunning, readIdentity } from '../bin/runfile.ts';

/** A process that this one has started. */
export type Child = {
  pid: number;
  /** Resolves at its exit with the reason: "code 1", "signal SIGKILL". */
  ended: Promise<string>;
  /** Stops it in order, by SIGKILL after 35 seconds, and waits for its exit. May be called twice. */
  stop(): Promise<void>;
  logFile: string;
  output(): string;
};

/** A server that this process has started and must stop; clients use `url`. */
export type DevServer = Pick<Child, 'pid' | 'ended' | 'stop'> & { url: string; port: number };

/** The user of a child, which only root may choose. */
export type RunAs = { uid: number; gid: number };

type ChildOptions = {
  dataDir: string;
  /** Output goes to `logs/<name>.log`; `<name>.pid` tells the next start what a kill has left running. */
  name: string;
  command: string;
  args: string[];
  /** `/` by default, so that it keeps no disk busy. */
  cwd?: string;
  /** Complete: nothing of ours is inherited. */
  env: NodeJS.ProcessEnv;
  runAs?: RunAs | null;
};

// Longer than any server started here takes to stop in order.
const STOP_TIMEOUT_MS = 35_000;
// PostgreSQL recovers after a crash first.
const READY_MS = 120_000;
const LOG_LIMIT = 10_000_000;
// Servers' files must not be readable for other users of this machine.
const FOR_OURSELVES_ALONE = 'umask 077; exec "$0" "$@"';
// Reads until this process has exited (end of file); a line means that the child has exited.
const WATCHDOG = `
trap '' HUP INT TERM
read -r line && exit 0
kill -s INT "$1"
i=0
while kill -0 "$1" && [ "$i" -lt 35 ]; do sleep 1; i=$((i + 1)); done
kill -s KILL "$1"
`;

/** What any program needs of our environment; none of the service's settings. */
export function systemEnvironment(): NodeJS.ProcessEnv {
  const { PATH, HOME, TMPDIR, LANG, TZ } = process.env;
  return { PATH, HOME, TMPDIR, LANG, TZ };
}

/**
 * Starts a server process, after stopping one left over under this name. It gets its own session: Ctrl-C reaches only this process,
 * which stops its servers in order. A watchdog stops it when this process is killed.
 */
export async function startChild(options: ChildOptions): Promise<Child> {
  const { dataDir, name, command, args, cwd = '/', env, runAs } = options;
  await endLeftover(dataDir, name);
  const logFile = join(dataDir, 'logs', `${name}.log`);
  const isLarge = (statSync(logFile, { throwIfNoEntry: false })?.size ?? 0) > LOG_LIMIT;
  const log = openSync(logFile, isLarge ? 'w' : 'a', 0o600);
  const logStart = statSync(logFile).size;
  const child = spawn('sh', ['-c', FOR_OURSELVES_ALONE, command, ...args], {
    cwd,
    env,
    detached: true,
    stdio: ['ignore', log, log],
    ...runAs,
  });
  closeSync(log);
  const pid = child.pid!;
  writeFileSync(pidFile(dataDir, name), JSON.stringify(identify(pid)), { mode: 0o600 });

  const watchdog = spawn('sh', ['-c', WATCHDOG, 'goniec-watchdog', String(pid)], {
    cwd: '/',
    env: systemEnvironment(),
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  watchdog.stdin.on('error', () => undefined);
  watchdog.unref();

  const ended = new Promise<string>((resolve) => {
    child.once('exit', (code, signalName) => {
      watchdog.stdin.end('ended\n');
      rmSync(pidFile(dataDir, name), { force: true });
      resolve(signalName === null ? `code ${code}` : `signal ${signalName}`);
    });
  });
  const stop = async (): Promise<void> => {
    child.kill('SIGINT');
    const hurry = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS);
    await ended;
    clearTimeout(hurry);
  };
  let stopped: Promise<void> | undefined;
  const output = (): string => readFileSync(logFile).subarray(logStart).toString('utf8');
  return { pid, ended, stop: () => (stopped ??= stop()), logFile, output };
}

const pidFile = (dataDir: string, name: string): string => join(dataDir, `${name}.pid`);

/** Stops a server that a killed process left running. @returns its pid, running or not; null if the last one stopped in order */
export async function endLeftover(dataDir: string, name: string): Promise<number | null> {
  const left = readIdentity(pidFile(dataDir, name));
  if (left === null) return null;
  const deadline = Date.now() + STOP_TIMEOUT_MS;
  if (isRunning(left)) kill(left.pid, 'SIGINT');
  while (isRunning(left)) {
    if (Date.now() > deadline) kill(left.pid, 'SIGKILL');
    await sleep(50);
  }
  return left.pid;
}

function kill(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    // It may have exited meanwhile.
    if (errorCode(error) !== 'ESRCH') throw error;
  }
}

/** Waits until a child is ready, for two minutes. @param title begins a sentence: "PostgreSQL" @throws StartProblem with its last line */
export async function untilReady(
  child: Child,
  title: string,
  isReady: () => Promise<boolean> | boolean,
): Promise<void> {
  let alive = true;
  void child.ended.then(() => (alive = false));
  const deadline = Date.now() + READY_MS;
  while (!(await isReady())) {
    if (!alive || Date.now() > deadline) {
      await child.stop();
      throw new StartProblem(`${title} did not start: ${lastLine(child.output())} (see ${child.logFile}).`);
    }
    await sleep(50);
  }
}
