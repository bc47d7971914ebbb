import { readdirSync, readFileSync } from 'node:fs';

// USER_HZ, which Linux fixes for all programs.
const TICK_MS = 10;
const KIB = 1024;

interface Stat {
  parent: number;
  ownTicks: number;
  /** Of children that have ended and were waited for. */
  pastTicks: number;
}

/** Counted with its children, of which there is one for each connection: `postgres`, `temporal-postgres`. */
const isPostgres = (name: string): boolean => name.endsWith('postgres');

/** CPU milliseconds that processes have used so far, by their names; `postgres` with all its children. */
export function cpuMs(pids: Record<string, number>): Record<string, number> {
  return Object.fromEntries(
    Object.entries(pids).map(([name, pid]) => [name, isPostgres(name) ? treeMs(pid) : ownMs(pid)]),
  );
}

/**
 * Bytes of memory that processes hold, by their names: resident ones; for `postgres` with all its children, where pages
 * in common count once.
 */
export function memoryBytes(pids: Record<string, number>): Record<string, number> {
  return Object.fromEntries(
    Object.entries(pids).map(([name, pid]) => [
      name,
      isPostgres(name)
        ? [pid, ...childrenOf(pid)].reduce((sum, one) => sum + kib(one, 'smaps_rollup', 'Pss') * KIB, 0)
        : kib(pid, 'status', 'VmRSS') * KIB,
    ]),
  );
}

function ownMs(pid: number): number {
  return (readStat(pid)?.ownTicks ?? 0) * TICK_MS;
}

function treeMs(root: number): number {
  const own = readStat(root);
  const ticks = childrenOf(root).reduce(
    (sum, pid) => sum + (readStat(pid)?.ownTicks ?? 0),
    (own?.ownTicks ?? 0) + (own?.pastTicks ?? 0),
  );
  return ticks * TICK_MS;
}

function childrenOf(parent: number): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => readStat(pid)?.parent === parent);
}

function kib(pid: number, file: string, field: string): number {
  const line = new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(readProc(pid, file) ?? '');
  return Number(line?.[1] ?? 0);
}

/** Null when the process has ended meanwhile. */
function readStat(pid: number): Stat | null {
  const text = readProc(pid, 'stat');
  if (text === null) return null;
  // The name in brackets may hold anything; the fields after it are numbers, the third of all being first here.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const number = (field: number): number => Number(fields[field - 3]);
  return { parent: number(4), ownTicks: number(14) + number(15), pastTicks: number(16) + number(17) };
}

function readProc(pid: number, file: string): string | null {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return null;
  }
}
