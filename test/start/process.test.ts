import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
// Of 50 ms each: several times as long as a process needs to notice that its parent is gone.
const TICKS = 20;

/** A process of the service below a shell that is killed with -9 as soon as the process runs. */
async function orphaned(env: Record<string, string>) {
  const { PATH, HOME } = process.env;
  const line = '"$0" --import tsx test/start/programs/tick.ts & wait';
  const parent = spawn('sh', ['-c', line, process.execPath], {
    cwd: ROOT,
    env: { PATH, HOME, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void parent.kill('SIGKILL'));
  const lines = createInterface({ input: parent.stdout });
  const [pid] = (await once(lines, 'line')) as [string];
  onTestFinished(() => end(Number(pid)));
  const parentEnded = once(parent, 'exit');
  // The pipe closes when the last process that writes to it has ended, which may be before its parent is known to have.
  const closed = once(lines, 'close');
  parent.kill('SIGKILL');
  await parentEnded;
  return { lines, closed, pid: Number(pid) };
}

function end(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended already.
  }
}

test('what npm has started ends when npm is killed with -9', async () => {
  const { closed } = await orphaned({ npm_lifecycle_event: 'start' });
  await closed;
});

test('what something else has started lives on', async () => {
  const { lines, closed, pid } = await orphaned({});
  for (let ticks = 0; ticks < TICKS; ticks += 1) expect(await once(lines, 'line')).toEqual(['tick']);
  end(pid);
  await closed;
});
