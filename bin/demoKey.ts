import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DemoAccount } from '../operations/accounts/demo.ts';
import { readConfig } from './config.ts';
import { shellWord } from './shell.ts';

const FILE = 'demo.key';
// The simulated provider delivers to it after about a second.
const RECIPIENT = '+48500100200';

interface HandedKey {
  remark: string;
  /** The key within double quotes of a shell command: itself, or a command that reads its file. */
  word: string;
}

/** Shows the key once, on a terminal. Other output may be logged and read by others: then it goes into a file for its owner only. */
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

/** The key's file, if it still exists. */
export function keptKey(dataDir: string): string | null {
  const path = demoKeyFile(dataDir);
  return existsSync(path) ? path : null;
}

function demoKeyFile(dataDir: string): string {
  return join(dataDir, FILE);
}

/** Terminal text: at the first start the key and how to send, later where the key is. */
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
