import { setTimeout as sleep } from 'node:timers/promises';
import type { DevServer } from '../../dev/children.ts';
import { errorText } from '../../domain/errors.ts';

// The first restart is immediate; a server that cannot live must not eat the machine.
const DELAYS_MS = [0, 1_000, 2_000, 5_000];
// A server that has lived this long starts from the first delay again.
const STABLE_MS = 60_000;

/**
 * Keeps a server running: when it ends unexpectedly, starts it again on the same port, because everybody who uses it knows
 * it by that.
 * @param name for the terminal: "temporal-1"
 * @param say receives one line when the server has fallen and one when it is back
 * @returns stops it
 */
export function keepRunning(
  first: DevServer,
  name: string,
  restart: () => Promise<DevServer>,
  say: (line: string) => void,
): () => Promise<void> {
  let current = first;
  let stopping = false;
  let recovery: Promise<void> = Promise.resolve();
  let failures = 0;
  let since = Date.now();

  const watch = (server: DevServer): void => {
    void server.ended.then((how) => {
      if (stopping) return;
      say(`${name} has ended unexpectedly (${how}); starting it again …`);
      recovery = recover(server.port);
    });
  };

  const recover = async (port: number): Promise<void> => {
    if (Date.now() - since > STABLE_MS) failures = 0;
    while (!stopping) {
      await sleep(DELAYS_MS[Math.min(failures, DELAYS_MS.length - 1)]);
      failures += 1;
      if (stopping) return;
      const again = await restart().catch((error: unknown) => {
        say(`${name} cannot be started again yet: ${errorText(error)}`);
        return null;
      });
      if (again === null) continue;
      if (again.port !== port) {
        say(`${name} cannot be started again yet: its port ${port} is taken by another program.`);
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
  return async () => {
    stopping = true;
    await recovery;
    await current.stop();
  };
}
