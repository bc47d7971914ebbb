import { readdirSync, readFileSync } from 'node:fs';

// USER_HZ, which Linux fixes for all programs.
const TICK_MS = 10;

interface Stat {
  parent: number;
  ownTicks: number;
  /** Of children that have ended and were waited for. */
  pastTicks: number;
}

/**
 * Begins to count. What is called `…postgres` counts with its children, one for each connection.
 * @returns what gives the CPU milliseconds of each process for a message since then, given how many there were
 */
export function countCpu(pids: Record<string, number>): (messages: number) => Record<string, number> {
  const used = Object.entries(pids).map(([name, pid]) => {
    const ticks = name.endsWith('postgres') ? treeTicks : ownTicks;
    return { name, ticks: () => ticks(pid), before: ticks(pid) };
  });
  return (messages) =>
    Object.fromEntries(
      used.map(({ name, ticks, before }) => [name, ((ticks() - before) * TICK_MS) / messages]),
    );
}

function ownTicks(pid: number): number {
  return readStat(pid)?.ownTicks ?? 0;
}

function treeTicks(root: number): number {
  const children = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => readStat(Number(pid)))
    .filter((stat) => stat?.parent === root);
  return children.reduce(
    (sum, stat) => sum + stat!.ownTicks,
    ownTicks(root) + (readStat(root)?.pastTicks ?? 0),
  );
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
