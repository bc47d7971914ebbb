import { DriverProblem, requireDriver } from '../db/connection.ts';
import { ConfigError } from './config.ts';
import { errorCode, errorText } from '../domain/errors.ts';
import { StartProblem } from './problem.ts';
import { listenProblem } from './ports.ts';

export type Running = {
  /** Finishes what runs, accepts nothing new, and closes everything. */
  stop(): Promise<void>;
  /** Rejects when it fails. */
  finished?: Promise<unknown>;
};

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
// npm forwards a Ctrl-C that the terminal has sent to both: within this time it is the same one.
const SAME_SIGNAL_MS = 500;
const PARENT_CHECK_MS = 250;

/**
 * Runs a process until a signal, then stops it and exits with 0; a second signal exits immediately. A failed start prints one sentence on
 * stderr and exits with 1.
 * @param start gets a signal that aborts the start; when it throws, it has cleaned up itself
 * @param graceMs timeout of the stop, after which the process exits anyway: everything survives that, as it survives a kill
 */
export async function runProcess(
  start: (stopping: AbortSignal) => Promise<Running>,
  graceMs: number,
): Promise<never> {
  const stopping = new AbortController();
  stopping.signal.addEventListener('abort', () => endAfter(graceMs), { once: true });
  let first = 0;
  for (const name of SIGNALS) {
    process.on(name, () => {
      if (first === 0) first = Date.now();
      else if (Date.now() - first > SAME_SIGNAL_MS) process.exit(130);
      stopping.abort();
    });
  }
  if (process.env['npm_lifecycle_event'] !== undefined) endWithParent();
  // A closed pipe (`npm start | head`) must not stop the service.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);

  let running: Running;
  try {
    requireDriver();
    running = await start(stopping.signal);
  } catch (error) {
    if (stopping.signal.aborted) process.exit(0);
    console.error(describe(error));
    process.exit(1);
  }
  const broken = await Promise.race([aborted(stopping.signal), brokenBy(running)]);
  if (broken !== null) {
    console.error(describe(broken));
    endAfter(graceMs);
  }
  try {
    await running.stop();
  } catch (error) {
    console.error(describe(error));
    process.exit(1);
  }
  process.exit(broken === null ? 0 : 1);
}

/** Runs a single task: exits with 0, or reports the error as {@link runProcess} does. */
export async function runTask(task: () => Promise<void>): Promise<never> {
  try {
    requireDriver();
    await task();
    process.exit(0);
  } catch (error) {
    console.error(describe(error));
    process.exit(1);
  }
}

function endAfter(graceMs: number): void {
  setTimeout(() => {
    console.error(`Not everything has ended within ${graceMs / 1000} s; what is left is cut off.`);
    process.exit(1);
  }, graceMs).unref();
}

// Killing npm with -9 is meant for us too: running on, we would hold the port and the data folder against the next start. Exits as
// abruptly as npm did, which everything here survives.
function endWithParent(): void {
  const parent = process.ppid;
  setInterval(() => {
    if (process.ppid !== parent) process.exit(137);
  }, PARENT_CHECK_MS).unref();
}

function aborted(signal: AbortSignal): Promise<null> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(null);
    else signal.addEventListener('abort', () => resolve(null), { once: true });
  });
}

function brokenBy(running: Running): Promise<unknown> {
  return new Promise((resolve) => {
    running.finished?.catch((error: unknown) => resolve(error ?? new Error('ended unexpectedly')));
  });
}

/** One sentence for a condition the reader can change, a stack for a bug. */
export function describe(error: unknown): string {
  if (error instanceof ConfigError) return `Bad setting: ${error.message}`;
  if (error instanceof StartProblem || error instanceof DriverProblem) return error.message;
  const unlistenable = problemOfListening(error);
  if (unlistenable !== null) return unlistenable;
  return error instanceof Error ? (error.stack ?? error.message) : errorText(error);
}

function problemOfListening(error: unknown): string | null {
  if (!(error instanceof Error && 'syscall' in error && error.syscall === 'listen')) return null;
  const { port, address } = error as NodeJS.ErrnoException & { port?: number; address?: string };
  return listenProblem(errorCode(error) ?? error.message, port ?? 0, address);
}
