import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** A process as Linux shows it. */
export interface SeenProcess {
  pid: number;
  command: string;
  /** What it was started with. */
  environment: Record<string, string>;
}

/** Where a process listens. */
export interface Listener {
  pid: number;
  /** An IPv4 address. */
  host: string;
  port: number;
}

const LISTENS = '0A';

/** A process with all that it and its children have started. */
export function treeOf(root: number): SeenProcess[] {
  const parents = new Map<number, number>();
  for (const name of readdirSync('/proc').filter((entry) => /^\d+$/.test(entry))) {
    const stat = read(`/proc/${name}/stat`);
    if (stat !== '') parents.set(Number(name), Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]));
  }
  const belongs = (pid: number): boolean => pid === root || (parents.has(pid) && belongs(parents.get(pid)!));
  return [...parents.keys()].filter(belongs).map((pid) => ({
    pid,
    command: read(`/proc/${pid}/cmdline`).replaceAll('\0', ' ').trim(),
    environment: Object.fromEntries(
      read(`/proc/${pid}/environ`)
        .split('\0')
        .filter((pair) => pair.includes('='))
        .map((pair) => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)]),
    ),
  }));
}

/** Kills a process with all that it and its children have started, but what ends meanwhile. */
export function killTree(root: number): void {
  for (const { pid } of treeOf(root)) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
  }
}

/** The TCP addresses on which processes listen. */
export function listenersOf(processes: readonly SeenProcess[]): Listener[] {
  const byInode = new Map<string, { host: string; port: number }>();
  for (const line of read('/proc/net/tcp').split('\n').slice(1)) {
    const [, local = '', , state, , , , , , inode = ''] = line.trim().split(/\s+/);
    if (state === LISTENS) byInode.set(inode, addressOf(local));
  }
  if (/^\s*\d+:.* 0A /m.test(onlyOurs(processes))) throw new Error('something listens on IPv6');
  return processes.flatMap(({ pid }) =>
    inodesOf(pid).flatMap((inode) => (byInode.has(inode) ? [{ pid, ...byInode.get(inode)! }] : [])),
  );
}

function onlyOurs(processes: readonly SeenProcess[]): string {
  const ours = new Set(processes.flatMap(({ pid }) => inodesOf(pid)));
  return read('/proc/net/tcp6')
    .split('\n')
    .filter((line) => ours.has(line.trim().split(/\s+/)[9] ?? ''))
    .join('\n');
}

function inodesOf(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
      try {
        return /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${fd}`))?.slice(1) ?? [];
      } catch {
        return [];
      }
    });
  } catch {
    return [];
  }
}

// Four bytes in the order of this machine (little-endian), then the port.
function addressOf(hex: string): { host: string; port: number } {
  const [address = '', port = ''] = hex.split(':');
  const bytes = address.match(/../g)!.map((byte) => parseInt(byte, 16));
  return { host: bytes.reverse().join('.'), port: parseInt(port, 16) };
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
