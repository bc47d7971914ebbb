import { randomBytes } from 'node:crypto';
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { execFileSync } from 'node:child_process';
import { z } from 'zod';
import { join } from 'node:path';

/** What a file of ours holds; null when it is not there or holds no JSON. */
export function readJson(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return null;
  }
}

/** Renamed into place, so that a reader never sees half a file; readable by its owner alone. */
export function writeJson(path: string, value: unknown): void {
  const draft = `${path}.${randomBytes(6).toString('hex')}`;
  writeFileSync(draft, JSON.stringify(value, null, 2), { mode: 0o600 });
  renameSync(draft, path);
}

/** A process by more than its number, which the system gives to another one some day. */
type ProcessIdentity = { pid: number; started: string };

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

const shape = z.object({
  /** The `npm start` that wrote it. */
  process: identityShape,
  /** Of the database's owner, who changes its schema. */
  databaseUrl: z.string(),
  /** The same database as each part of the service connects to it; absent where it is not ours. */
  partUrls: z.object({ api: z.string(), worker: z.string(), admin: z.string() }).optional(),
  temporal: z.object({ address: z.string(), namespace: z.string(), embedded: z.boolean() }),
  /** Temporal's Web UI; null for a Temporal that is not ours. */
  temporalUiUrl: z.string().nullable(),
  /** Null until the API listens. */
  apiUrl: z.string().nullable(),
});

/** What the other commands learn from a running `npm start` about its servers. */
export type RunFile = z.infer<typeof shape>;

const runFilePath = (dataDir: string): string => join(dataDir, 'run.json');

/** The running service of this data folder; null when there is none, or the one that wrote the file has ended. */
export function readRunFile(dataDir: string): RunFile | null {
  const parsed = shape.safeParse(readJson(runFilePath(dataDir)));
  return parsed.success && isRunning(parsed.data.process) ? parsed.data : null;
}

/** Writes the file (readable by its owner alone: the database's password is in it) in the name of this process. */
export function writeRunFile(dataDir: string, content: Omit<RunFile, 'process'>): void {
  writeJson(runFilePath(dataDir), { process: identify(process.pid), ...content });
}

/** Removes the file at a clean stop. */
export function removeRunFile(dataDir: string): void {
  rmSync(runFilePath(dataDir), { force: true });
}
