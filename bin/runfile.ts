import { randomBytes } from 'node:crypto';
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { execFileSync } from 'node:child_process';
import { z } from 'zod';
import { join } from 'node:path';

/** Null when the file is missing or no JSON. */
export function readJson(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return null;
  }
}

/** Renamed into place, so that no reader sees half a file; readable by its owner only. */
export function writeJson(path: string, value: unknown): void {
  const draft = `${path}.${randomBytes(6).toString('hex')}`;
  writeFileSync(draft, JSON.stringify(value, null, 2), { mode: 0o600 });
  renameSync(draft, path);
}

// The system reuses pids.
type ProcessIdentity = { pid: number; started: string };

const identityShape = z.object({ pid: z.number(), started: z.string() });

/** Identifies a running process: pid and start (on Linux boot id and clock ticks, elsewhere by `ps`); null when it is gone or a zombie. */
export function identify(pid: number): ProcessIdentity | null {
  if (!Number.isSafeInteger(pid) || pid <= 0) return null;
  const started = process.platform === 'linux' ? startOnLinux(pid) : startByPs(pid);
  return started === null ? null : { pid, started };
}

export function isRunning(identity: ProcessIdentity): boolean {
  return identify(identity.pid)?.started === identity.started;
}

export function readIdentity(path: string): ProcessIdentity | null {
  return identityShape.nullable().catch(null).parse(readJson(path));
}

function startOnLinux(pid: number): string | null {
  try {
    // The command name in parentheses may contain blanks and parentheses, so count from the last one.
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
  /** For each part of the service; absent for an external database. */
  partUrls: z.object({ api: z.string(), worker: z.string(), admin: z.string() }).optional(),
  temporal: z.object({ address: z.string(), namespace: z.string(), embedded: z.boolean() }),
  /** Null for an external Temporal. */
  temporalUiUrl: z.string().nullable(),
  /** Null until the API listens. */
  apiUrl: z.string().nullable(),
});

/** What other commands learn from a running `npm start` about its servers. */
export type RunFile = z.infer<typeof shape>;

const runFilePath = (dataDir: string): string => join(dataDir, 'run.json');

/** The run file of a running service; null without one. */
export function readRunFile(dataDir: string): RunFile | null {
  const parsed = shape.safeParse(readJson(runFilePath(dataDir)));
  return parsed.success && isRunning(parsed.data.process) ? parsed.data : null;
}

/** Readable by its owner only: it contains the database's password. */
export function writeRunFile(dataDir: string, content: Omit<RunFile, 'process'>): void {
  writeJson(runFilePath(dataDir), { process: identify(process.pid), ...content });
}

export function removeRunFile(dataDir: string): void {
  rmSync(runFilePath(dataDir), { force: true });
}
