import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { lockDataDir } from '../../dev/dataDir.ts';
import { identify } from '../../bin/runfile.ts';
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
    const release = lockDataDir(folder);
    expect(() => lockDataDir(folder)).toThrow('already runs');
    release();
    lockDataDir(folder)();
  });

  it('is not believed when its process number belongs to another process by now', () => {
    const folder = dataFolder();
    writeFileSync(join(folder, 'lock'), JSON.stringify({ pid: process.pid, started: 'long ago' }));
    lockDataDir(folder)();
  });

  it('is taken over when its file holds no lock', () => {
    const folder = dataFolder();
    writeFileSync(join(folder, 'lock'), '');
    lockDataDir(folder)();
  });
});

describe('identify', () => {
  it('knows this process and no process that does not exist', () => {
    expect(identify(process.pid)?.pid).toBe(process.pid);
    expect(identify(0)).toBeNull();
    expect(identify(2 ** 22 + 1)).toBeNull();
  });
});
