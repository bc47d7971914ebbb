import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import { until } from '../support/eventually.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** A fresh data folder, removed with everything in it when the test ends. */
export function dataFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'goniec-start-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

type Finished = { code: number | null; signal: NodeJS.Signals | null; stdout: string; stderr: string };

/** A process of this project under test; killed when the test ends. */
export type Program = {
  pid: number;
  finished: Promise<Finished>;
  /** Resolves with the first complete line of stdout. */
  firstLine: Promise<string>;
};

/** Runs a TypeScript file of the project with these variables over a bare environment. */
export function run(file: string, env: Record<string, string>, args: string[] = []): Program {
  const { PATH, HOME } = process.env;
  const child = spawn(process.execPath, ['--import', 'tsx', file, ...args], {
    cwd: ROOT,
    env: { PATH, HOME, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  const firstLine = new Promise<string>((resolve) => {
    child.stdout.on('data', (chunk: Buffer) => {
      stdout += chunk.toString();
      if (stdout.includes('\n')) resolve(stdout.slice(0, stdout.indexOf('\n')));
    });
  });
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  const finished = new Promise<Finished>((resolve) => {
    child.on('close', (code, signal) => resolve({ code, signal, stdout, stderr }));
  });
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await finished;
  });
  return { pid: child.pid ?? 0, finished, firstLine };
}

/** Listens on a port of the system's choice until the test ends. */
export async function takenPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => new Promise<void>((resolve) => server.close(() => resolve())));
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

/** `npm start` without npm, on a port of its own. */
interface WholeService {
  child: ChildProcess;
  /** All that it has said so far. */
  output: () => string;
}

/** Starts the whole service in a data folder; resolves once it says that it runs. */
export async function startWhole(
  dataDir: string,
  settings: Record<string, string> = {},
): Promise<WholeService> {
  const child = spawn(process.execPath, ['--import', 'tsx', 'dev/start.ts'], {
    cwd: ROOT,
    env: { ...process.env, PORT: '0', DATA_DIR: dataDir, ...settings },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  try {
    await until('the service runs', () => {
      if (child.exitCode !== null) throw new Error(`it ended: ${output}`);
      return Promise.resolve(output.includes('Ctrl-C stops it'));
    });
  } catch (error) {
    child.kill('SIGKILL');
    throw error;
  }
  return { child, output: () => output };
}
