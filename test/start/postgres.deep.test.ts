import { copyFileSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { identify } from '../../bin/runfile.ts';
import { startPostgres } from '../../dev/postgres.ts';
import { killTree } from './processTree.ts';
import { dataFolder } from './support.ts';
import { read, write, WRITTEN } from './writing.ts';

describe('the embedded PostgreSQL', () => {
  it('is left alone by a copy of its data folder that is a link to the same data', async () => {
    const [dataDir, copy] = [dataFolder(), dataFolder()];
    const server = await startPostgres(dataDir);
    onTestFinished(() => server.stop());
    await write(server.url);
    symlinkSync(join(dataDir, 'postgres'), join(copy, 'postgres'));
    copyFileSync(join(dataDir, 'postgres.password'), join(copy, 'postgres.password'));
    await expect(startPostgres(copy)).rejects.toThrow('lock file "postmaster.pid" already exists');
    expect(await read(server.url)).toEqual(WRITTEN);
    await server.stop();

    const again = await startPostgres(copy);
    onTestFinished(() => again.stop());
    expect(await read(again.url)).toEqual(WRITTEN);
  });

  it('ends a server that nobody owns before it starts its own', async () => {
    const dataDir = dataFolder();
    const orphan = await startPostgres(dataDir);
    onTestFinished(() => orphan.stop());
    const own = await startPostgres(dataDir);
    onTestFinished(() => own.stop());
    expect(identify(orphan.pid)).toBeNull();
    expect(own.url).toBe(orphan.url);
  });

  it('is not misled by a pid file of its own that names another living process by now', async () => {
    const dataDir = dataFolder();
    const first = await startPostgres(dataDir);
    const path = join(dataDir, 'postgres', 'postmaster.pid');
    const lines = readFileSync(path, 'utf8').split('\n');
    killTree(first.pid);
    await first.ended;
    // What a machine leaves that lost its power, and gave the number to us since.
    writeFileSync(path, [String(process.pid), ...lines.slice(1)].join('\n'));
    const left = { pid: process.pid, started: 'before' };
    writeFileSync(join(dataDir, 'postgres.pid'), JSON.stringify(left));
    const second = await startPostgres(dataDir);
    await second.stop();
  });
});
