import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { readJson } from './jsonFile.ts';

/** A process by more than its number, which the system gives to another one some day. */
export type ProcessIdentity = { pid: number; started: string };

/** Its shape in a file. */
export const identityShape = z.object({ pid: z.number(), started: z.string() });

/**
 * Identifies a running process: its number and its start (on Linux boot id and clock ticks, elsewhere what `ps` says).
 * @returns null when no such process runs (a zombie does not run).
 */
export function identify(pid: number): ProcessIdentity | null {
  if (!Number.isSafeInteger(pid) || pid <= 0) return null;
  const started = process.platform === 'linux' ? startOnLinux(pid) : startByPs(pid);
  return started === null ? null : { pid, started };
}

/** Whether exactly this process still runs. */
export function isRunning(identity: ProcessIdentity): boolean {
  return identify(identity.pid)?.started === identity.started;
}

/** The process that a file names; null where it names none. */
export function readIdentity(path: string): ProcessIdentity | null {
  return identityShape.nullable().catch(null).parse(readJson(path));
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
    const out = execFileSync('ps', ['-o', 'stat=,lstart=', '-p', String(pid)], { encoding: 'utf8' }).trim();
    return out === '' || out.startsWith('Z') ? null : out.replace(/^\S+\s+/, '');
  } catch {
    return null;
  }
}
