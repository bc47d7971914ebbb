import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DemoAccount } from '../operations/accounts/demo.ts';
import { readConfig } from './config.ts';
import { shellWord } from './shell.ts';

const FILE = 'demo.key';
// Of the simulated provider, delivered after about a second.
const RECIPIENT = '+48500100200';

/** How the demo account's key is handed over. */
interface HandedKey {
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

/** What the terminal shows about the demo account: at the first start its key and how to send, later where the key is. */
export function welcome({ apiKey, accountId }: DemoAccount, dataDir: string, apiUrl: string): string {
  return apiKey === undefined ? laterStart(accountId, dataDir) : firstStart(apiKey, dataDir, apiUrl);
}

function firstStart(apiKey: string, dataDir: string, apiUrl: string): string {
  const { remark, word } = handOverKey(apiKey, dataDir, process.stdout.isTTY);
  const body = JSON.stringify({ to: RECIPIENT, text: 'Hello from goniec' });
  return `  ${remark}

  Send a message (to the simulated provider), then look at it:

    curl -sS ${apiUrl}/v1/messages -H "Authorization: Bearer ${word}" -H 'Content-Type: application/json' -d '${body}'
    curl -sS '${apiUrl}/v1/messages?limit=1' -H "Authorization: Bearer ${word}"
`;
}

function laterStart(accountId: string, dataDir: string): string {
  const where = dataDir === readConfig({}).DATA_DIR ? '' : `DATA_DIR=${shellWord(dataDir)} `;
  const path = keptKey(dataDir);
  const place = path === null ? 'was handed over at the first start' : `is still in ${path}`;
  return `  The demo account's API key ${place}; make another one with

    ${where}npm run --silent admin -- keys create --account ${accountId}
`;
}
