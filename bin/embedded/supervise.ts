import { setTimeout as sleep } from 'node:timers/promises';
import type { EmbeddedServer } from './children.ts';
import { errorText } from './problem.ts';
import { signal } from './processes.ts';

export type Supervision<S extends EmbeddedServer> = {
  /** For the terminal: "PostgreSQL". */
  name: string;
  /** Starts the server again, on the wanted port where it can. */
  restart: (wanted: S) => Promise<S>;
  /** Receives one line when the server has fallen and one when it is back. */
  say: (line: string) => void;
  /** Whether the server does its work; asked again and again while it runs. It has to answer by itself. */
  works?: (server: S) => Promise<boolean>;
  /** Between two such questions; five seconds by default. */
  askEveryMs?: number;
};

// The first restart is immediate; a server that cannot live must not eat the machine.
const DELAYS_MS = [0, 1_000, 2_000, 5_000];
const ASK_EVERY_MS = 5_000;
// One that says so often in a row that it cannot work will not mend itself.
const FAULTS_MAX = 5;
// A server that has lived this long starts from the first delay again.
const STABLE_MS = 60_000;

/**
 * Keeps an embedded server running: when it ends unexpectedly, or lives on without working, starts it again on the same
 * port, because everybody who uses it knows it by that.
 */
export function keepRunning<S extends EmbeddedServer>(
  first: S,
  supervision: Supervision<S>,
): Pick<S, 'stop'> {
  const { name, restart, say } = supervision;
  let current = first;
  let stopping = false;
  let recovery: Promise<void> = Promise.resolve();
  let failures = 0;
  let since = Date.now();

  const watch = (server: S): void => {
    let ended = false;
    server.onUnexpectedExit((how) => {
      ended = true;
      if (stopping) return;
      say(`${name} has ended unexpectedly (${how}); starting it again …`);
      recovery = recover(server);
    });
    void endWhenBroken(server, supervision, () => stopping || ended);
  };

  const recover = async (fallen: S): Promise<void> => {
    if (Date.now() - since > STABLE_MS) failures = 0;
    while (!stopping) {
      await sleep(DELAYS_MS[Math.min(failures, DELAYS_MS.length - 1)]);
      failures += 1;
      if (stopping) return;
      const again = await restart(fallen).catch((error: unknown) => {
        say(`${name} cannot be started again yet: ${errorText(error)}`);
        return null;
      });
      if (again === null) continue;
      if (again.port !== fallen.port) {
        say(`${name} cannot be started again yet: its port ${fallen.port} is taken by another program.`);
        await again.stop();
        continue;
      }
      current = again;
      since = Date.now();
      say(`${name} is back.`);
      watch(again);
      return;
    }
  };

  watch(first);
  return {
    stop: async () => {
      stopping = true;
      await recovery;
      await current.stop();
    },
  };
}

/** Ends a server that runs and does not work; that it has ended is then as unexpected as any other end. */
async function endWhenBroken<S extends EmbeddedServer>(
  server: S,
  { name, say, works, askEveryMs = ASK_EVERY_MS }: Supervision<S>,
  isOver: () => boolean,
): Promise<void> {
  if (works === undefined) return;
  let faults = 0;
  while (faults < FAULTS_MAX) {
    await sleep(askEveryMs, undefined, { ref: false });
    if (isOver()) return;
    faults = (await works(server)) ? 0 : faults + 1;
  }
  if (isOver()) return;
  say(`${name} runs but does not work any more; ending it …`);
  signal(server.pid, 'SIGKILL');
}
