import { readdirSync, readFileSync } from 'node:fs';

// USER_HZ, which Linux fixes for all programs.
const TICK_MS = 10;

interface Stat {
  parent: number;
  ownTicks: number;
  /** Of children that have ended and were waited for. */
  pastTicks: number;
}

/** CPU milliseconds that processes have used so far, by their names; `postgres` with all its children. */
export function cpuMs(pids: Record<string, number>): Record<string, number> {
  return Object.fromEntries(
    Object.entries(pids).map(([name, pid]) => [name, name === 'postgres' ? treeMs(pid) : ownMs(pid)]),
  );
}

function ownMs(pid: number): number {
  return (readStat(pid)?.ownTicks ?? 0) * TICK_MS;
}

function treeMs(root: number): number {
  const own = readStat(root);
  const children = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => readStat(Number(name)))
    .filter((stat) => stat?.parent === root);
  const ticks = children.reduce(
    (sum, stat) => sum + (stat?.ownTicks ?? 0),
    (own?.ownTicks ?? 0) + (own?.pastTicks ?? 0),
  );
  return ticks * TICK_MS;
}

/** Null when the process has ended meanwhile. */
function readStat(pid: number): Stat | null {
  let text: string;
  try {
    text = readFileSync(`/proc/${pid}/stat`, 'utf8');
  } catch {
    return null;
  }
  // The name in brackets may hold anything; the fields after it are numbers, the third of all being first here.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const number = (field: number): number => Number(fields[field - 3]);
  return { parent: number(4), ownTicks: number(14) + number(15), pastTicks: number(16) + number(17) };
}
