import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { shellWord } from './shell.ts';

const FILE = 'demo.key';

/** How the demo account's key is handed over. */
export interface HandedKey {
  /** What to read about it, one sentence. */
  remark: string;
  /** What stands for the key within double quotes of a shell's line: itself, or the reading of its file. */
  word: string;
}

/**
 * Hands the key of the demo account over, this once: shown at a terminal. Where the output goes anywhere else it may be kept and read
 * by others (a service manager's log, a container's), so the key goes into a file that its owner alone reads.
 * @param terminal whether somebody sees the output
 */
export function handOverKey(key: string, dataDir: string, terminal: boolean): HandedKey {
  if (terminal) return { remark: `API key of the demo account, shown this once:\n\n    ${key}`, word: key };
  const path = demoKeyFile(dataDir);
  rmSync(path, { force: true });
  writeFileSync(path, `${key}\n`, { mode: 0o600, flag: 'wx' });
  return {
    remark: `API key of the demo account: in ${path} (not shown, as this is no terminal); take it and delete the file.`,
    word: `$(cat ${shellWord(path)})`,
  };
}

/** Where the key still lies, if it does. */
export function keptKey(dataDir: string): string | null {
  const path = demoKeyFile(dataDir);
  return existsSync(path) ? path : null;
}

function demoKeyFile(dataDir: string): string {
  return join(dataDir, FILE);
}
