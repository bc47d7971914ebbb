import { spawn, type ChildProcess } from 'node:child_process';
import {
  closeSync,
  existsSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename } from 'node:path';
import { environmentFor } from './environment.ts';
import { errorCode, StartProblem } from './problem.ts';
import { end, identify, isIdentity, signal, type ProcessIdentity } from './processes.ts';

/** A server that this process started and has to stop. */
export type EmbeddedServer = {
  /** Where clients reach it. */
  url: string;
  port: number;
  pid: number;
  /** Ends it in its orderly way (by force after its patience) and waits for that. May be called twice. */
  stop(): Promise<void>;
  /** Called once when it ends without `stop` having been called. */
  onUnexpectedExit(callback: (how: string) => void): void;
};

/** A child process with its end as a promise. */
export type Child = Pick<EmbeddedServer, 'pid' | 'stop' | 'onUnexpectedExit'> & {
  /** How it ended ("code 1", "signal SIGKILL"); resolves when it has ended. */
  ended: Promise<string>;
  /** What it has written since it was started. */
  output(): string;
};

export type ChildOptions = {
  command: string;
  args: string[];
  /** Where it runs; `/` by default, so that it holds no disk. */
  cwd?: string;
  /** All it is given: nothing of ours passes by itself. */
  env: NodeJS.ProcessEnv;
  /** The user to run as (only root may choose). */
  runAs?: { uid: number; gid: number } | null;
  /** Receives stdout and stderr; moved aside when it has grown over 10 MB. */
  logFile: string;
  /** Remembers the process, so that the next start finds it if this process is killed together with the watchdog. */
  pidFile: string;
  stopSignal: NodeJS.Signals;
  /** Milliseconds between the stop signal and SIGKILL. */
  patienceMs: number;
};

const LOG_LIMIT = 10 * 1024 * 1024;

// Reads until this process has gone (end of file); a line means that the child has ended already. It ends the child
// politely, then by force.
const WATCHDOG = `
trap '' HUP INT TERM
read -r line && exit 0
kill -s "$2" "$1" 2>/dev/null
i=0
while kill -0 "$1" 2>/dev/null && [ "$i" -lt "$3" ]; do sleep 1; i=$((i + 1)); done
kill -s KILL "$1" 2>/dev/null
`;

/**
 * Starts a server process. It runs in its own session, so that a Ctrl-C on the terminal reaches only this process,
 * which then stops its servers in order; a watchdog beside it ends it when this process is killed.
 * @throws StartProblem when the command cannot be executed.
 */
export async function startChild(options: ChildOptions): Promise<Child> {
  const log = openLog(options.logFile);
  const logStart = statSync(options.logFile).size;
  const child = spawn(options.command, options.args, {
    cwd: options.cwd ?? '/',
    detached: true,
    stdio: ['ignore', log, log],
    env: options.env,
    ...(options.runAs ?? {}),
  });
  closeSync(log);
  const pid = await spawned(child, options.command);
  const watchdog = startWatchdog(pid, options.stopSignal, options.patienceMs);
  const identity = identify(pid);
  if (identity !== null) writeFileSync(options.pidFile, JSON.stringify(identity), { mode: 0o600 });

  let stopping = false;
  let how: string | null = null;
  const listeners: ((how: string) => void)[] = [];
  const ended = new Promise<string>((resolve) => {
    child.once('exit', (code, signalName) => {
      watchdog.stdin?.end('done\n');
      rmSync(options.pidFile, { force: true });
      const ending = signalName === null ? `code ${code}` : `signal ${signalName}`;
      how = ending;
      resolve(ending);
      if (!stopping) for (const listener of listeners) listener(ending);
    });
  });

  return {
    pid,
    ended,
    output: () => readFileSync(options.logFile).subarray(logStart).toString('utf8'),
    onUnexpectedExit: (callback) => {
      if (how === null) listeners.push(callback);
      else if (!stopping) callback(how);
    },
    stop: async () => {
      const hurry = setTimeout(() => signalIfAlive(child, 'SIGKILL'), options.patienceMs);
      if (!stopping) signalIfAlive(child, options.stopSignal);
      stopping = true;
      await ended;
      clearTimeout(hurry);
    },
  };
}

function signalIfAlive(child: ChildProcess, name: NodeJS.Signals): void {
  if (child.exitCode === null && child.signalCode === null && child.pid !== undefined)
    signal(child.pid, name);
}

function openLog(path: string): number {
  if (existsSync(path) && statSync(path).size > LOG_LIMIT) renameSync(path, `${path}.1`);
  return openSync(path, 'a', 0o600);
}

function spawned(child: ChildProcess, command: string): Promise<number> {
  return new Promise((resolve, reject) => {
    child.once('spawn', () => resolve(child.pid ?? 0));
    child.once('error', (error) => {
      reject(
        new StartProblem(
          `${basename(command)} cannot be executed at ${command} (${errorCode(error) ?? error.message}).`,
        ),
      );
    });
  });
}

function startWatchdog(pid: number, stopSignal: NodeJS.Signals, patienceMs: number): ChildProcess {
  const watchdog = spawn(
    'sh',
    [
      '-c',
      WATCHDOG,
      'goniec-watchdog',
      String(pid),
      stopSignal.replace(/^SIG/, ''),
      String(Math.ceil(patienceMs / 1000)),
    ],
    { cwd: '/', env: environmentFor(), detached: true, stdio: ['pipe', 'ignore', 'ignore'] },
  );
  // Without a shell there is no watchdog: the server still works, and the next start finds what a kill left behind.
  watchdog.on('error', () => undefined);
  watchdog.stdin?.on('error', () => undefined);
  watchdog.unref();
  return watchdog;
}

/** Ends the server that an earlier process recorded in `pidFile`, if it still runs. */
export async function endLeftover(
  pidFile: string,
  stopSignal: NodeJS.Signals,
  patienceMs: number,
): Promise<void> {
  const left = readIdentity(pidFile);
  if (left !== null) await end(left, stopSignal, patienceMs);
  rmSync(pidFile, { force: true });
}

function readIdentity(pidFile: string): ProcessIdentity | null {
  try {
    const value: unknown = JSON.parse(readFileSync(pidFile, 'utf8'));
    return isIdentity(value) ? value : null;
  } catch {
    return null;
  }
}
