import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { lockDataDir, LockedError, takeLock, withLock } from '../../bin/embedded/lock.ts';
import { identify } from '../../bin/embedded/processes.ts';
import { dataFolder, run } from './support.ts';

const HOLDER = 'test/start/programs/holdLock.ts';

describe('the lock of a data folder', () => {
  it('keeps a second process out while the first lives, and names it', async () => {
    const folder = dataFolder();
    const holder = run(HOLDER, {}, [folder]);
    await holder.firstLine;
    expect(() => lockDataDir(folder)).toThrow(`(process ${holder.pid})`);
  });

  it('is taken over at once from a process that was killed', async () => {
    const folder = dataFolder();
    const holder = run(HOLDER, {}, [folder]);
    await holder.firstLine;
    process.kill(holder.pid, 'SIGKILL');
    await holder.finished;
    const lock = lockDataDir(folder);
    expect(() => lockDataDir(folder)).toThrow('already runs');
    lock.release();
    lockDataDir(folder).release();
  });

  it('is not believed when its process number belongs to another process by now', () => {
    const folder = dataFolder();
    writeFileSync(join(folder, 'lock'), JSON.stringify({ pid: process.pid, started: 'long ago' }));
    lockDataDir(folder).release();
  });

  it('is taken over when its file holds no lock', () => {
    const folder = dataFolder();
    writeFileSync(join(folder, 'lock'), '');
    lockDataDir(folder).release();
  });

  it('leaves nothing behind', () => {
    const folder = dataFolder();
    lockDataDir(folder).release();
    expect(readdirSync(folder)).toEqual(['logs']);
  });

  it('goes to exactly one of many that find the same dead holder', () => {
    const path = join(dataFolder(), 'lock');
    writeFileSync(path, JSON.stringify({ pid: 2 ** 22 + 1, started: 'x' }));
    const results = Array.from({ length: 20 }, () => {
      try {
        return takeLock(path);
      } catch (error) {
        expect(error).toBeInstanceOf(LockedError);
        return null;
      }
    });
    expect(results.filter((lock) => lock !== null)).toHaveLength(1);
  });

  it('lets work that must not run twice at once wait', async () => {
    const path = join(dataFolder(), 'build.lock');
    let running = 0;
    let waited = 0;
    const work = () =>
      withLock(
        path,
        () => (waited += 1),
        async () => {
          running += 1;
          expect(running).toBe(1);
          await new Promise((resolve) => setImmediate(resolve));
          running -= 1;
        },
      );
    await Promise.all([work(), work(), work()]);
    expect(waited).toBeGreaterThan(0);
  });
});

describe('identify', () => {
  it('knows this process and no process that does not exist', () => {
    expect(identify(process.pid)?.pid).toBe(process.pid);
    expect(identify(0)).toBeNull();
    expect(identify(2 ** 22 + 1)).toBeNull();
  });
});
