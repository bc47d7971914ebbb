import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { environmentFor } from './environment.ts';
import { errorCode } from './problem.ts';

/** A process by more than its number, which the system gives to another one some day. */
export type ProcessIdentity = { pid: number; started: string };

/**
 * Identifies a running process: its number and its start (on Linux boot id and clock ticks, elsewhere what `ps` says).
 * @returns null when no such process runs (a zombie does not run).
 */
export function identify(pid: number): ProcessIdentity | null {
  if (!Number.isSafeInteger(pid) || pid <= 0) return null;
  const started = process.platform === 'linux' ? startOnLinux(pid) : startByPs(pid);
  return started === null ? null : { pid, started };
}

function startOnLinux(pid: number): string | null {
  try {
    // The command name in parentheses may hold blanks and parentheses itself, so count from the last one.
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (fields[0] === 'Z' || fields[0] === 'X') return null;
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    return `${boot}:${fields[19] ?? ''}`;
  } catch {
    return null;
  }
}

function startByPs(pid: number): string | null {
  try {
    const out = execFileSync('ps', ['-o', 'stat=,lstart=', '-p', String(pid)], {
      env: environmentFor(),
      encoding: 'utf8',
    }).trim();
    return out === '' || out.startsWith('Z') ? null : out.replace(/^\S+\s+/, '');
  } catch {
    return null;
  }
}

/** How a running process was started, as far as the system says: its words, or elsewhere than on Linux all in one; null where none runs. */
export function commandLine(pid: number): string | string[] | null {
  if (identify(pid) === null) return null;
  try {
    if (process.platform === 'linux') return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
    return execFileSync('ps', ['-ww', '-o', 'command=', '-p', String(pid)], {
      env: environmentFor(),
      encoding: 'utf8',
    });
  } catch {
    return null;
  }
}

/** Whether exactly this process still runs. */
export function isRunning(identity: ProcessIdentity): boolean {
  return identify(identity.pid)?.started === identity.started;
}

/** Checks the shape of an identity read from a file. */
export function isIdentity(value: unknown): value is ProcessIdentity {
  return (
    typeof value === 'object' &&
    value !== null &&
    'pid' in value &&
    typeof value.pid === 'number' &&
    'started' in value &&
    typeof value.started === 'string'
  );
}

/** Sends a signal; a process that has ended meanwhile is no error. */
export function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if (errorCode(error) !== 'ESRCH') throw error;
  }
}

/**
 * Ends a process that is not our child: the polite signal first, SIGKILL when it has not gone after `patienceMs`.
 * Returns when it has gone.
 */
export async function end(
  identity: ProcessIdentity,
  polite: NodeJS.Signals,
  patienceMs: number,
): Promise<void> {
  if (!isRunning(identity)) return;
  signal(identity.pid, polite);
  const deadline = Date.now() + patienceMs;
  while (isRunning(identity)) {
    if (Date.now() > deadline) signal(identity.pid, 'SIGKILL');
    await sleep(50);
  }
}
