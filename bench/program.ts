import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const START_PATIENCE_MS = 60_000;
const STOP_PATIENCE_MS = 30_000;
const READY = ['the API listens', 'the worker takes work', 'ready'];

/** A process under measurement. */
export interface Program {
  pid: number;
  /** Where it listens; '' where it does not. */
  url: string;
  stop(): Promise<void>;
}

const running = new Set<Program>();

/** Ends every program that still runs: for a benchmark that is broken off. */
export async function stopPrograms(): Promise<void> {
  await Promise.all([...running].map((program) => program.stop()));
}

/**
 * Starts one of the service's or the benchmark's programs and waits until it says, in its log, that it is ready.
 * @param file below the project's folder
 * @param profiles folder for its CPU profile (written when it ends), or null
 */
export async function startProgram(
  file: string,
  settings: Record<string, string>,
  profiles: string | null = null,
): Promise<Program> {
  const profiling =
    profiles === null ? [] : ['--cpu-prof', '--cpu-prof-dir', profiles, '--cpu-prof-interval', '500'];
  const child = spawn(process.execPath, [...profiling, '--import', 'tsx', file], {
    cwd: fileURLToPath(new URL('..', import.meta.url)),
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'], ...settings },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let stopping = false;
  try {
    const url = await announcedUrl(child, file);
    child.once('exit', (code) => {
      if (!stopping) console.error(`${file} ended in the middle of the benchmark, with code ${code}`);
    });
    const program = { pid: child.pid!, url, stop };
    running.add(program);
    child.once('exit', () => running.delete(program));
    return program;
  } catch (error) {
    await stop();
    throw error;
  }

  async function stop(): Promise<void> {
    stopping = true;
    if (child.exitCode !== null || child.signalCode !== null) return;
    const end = once(child, 'exit');
    child.kill('SIGTERM');
    const kill = setTimeout(() => child.kill('SIGKILL'), STOP_PATIENCE_MS);
    await end;
    clearTimeout(kill);
  }
}

/** Reads what the process writes until it says that it is ready, and lets the rest flow away. */
function announcedUrl(child: ChildProcess, file: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const patience = setTimeout(() => reject(new Error(`${file}: not started in time`)), START_PATIENCE_MS);
    child.once('error', reject);
    child.once('exit', (code) => reject(new Error(`${file}: ended with code ${code}`)));
    const lines = createInterface({ input: child.stdout! });
    lines.on('line', (line) => {
      const url = readyUrl(line);
      if (url === undefined) return;
      clearTimeout(patience);
      lines.close();
      child.stdout!.resume();
      resolve(url);
    });
  });
}

function readyUrl(line: string): string | undefined {
  const { msg, url = '' } = JSON.parse(line) as { msg: string; url?: string };
  return READY.includes(msg) ? url : undefined;
}
