import { copyFileSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startPostgres } from '../../bin/embedded/postgres.ts';
import { identify, isRunning } from '../../bin/embedded/processes.ts';
import { keepRunning } from '../../bin/embedded/supervise.ts';
import { dataFolder } from './support.ts';
import { read, write, WRITTEN } from './writing.ts';

const quiet = () => undefined;

describe('the embedded PostgreSQL', () => {
  it('is left alone by a copy of its data folder that is a link to the same data', async () => {
    const [dataDir, copy] = [dataFolder(), dataFolder()];
    const server = await startPostgres({ dataDir, log: quiet });
    onTestFinished(() => server.stop());
    await write(server.url);
    symlinkSync(join(dataDir, 'postgres'), join(copy, 'postgres'));
    copyFileSync(join(dataDir, 'postgres.password'), join(copy, 'postgres.password'));
    const starting = startPostgres({ dataDir: copy, log: quiet });
    await expect(starting).rejects.toThrow(`is in use by process ${process.pid}`);
    expect(await read(server.url)).toEqual(WRITTEN);
    await server.stop();

    const said: string[] = [];
    const again = await startPostgres({ dataDir: copy, log: (line) => said.push(line) });
    onTestFinished(() => again.stop());
    expect(await read(again.url)).toEqual(WRITTEN);
    expect(said).toEqual([expect.stringContaining('a backup needs both')]);
  });

  it('takes another port when the wanted one is taken', async () => {
    const first = await startPostgres({ dataDir: dataFolder(), log: quiet });
    onTestFinished(() => first.stop());
    const second = await startPostgres({ dataDir: dataFolder(), port: first.port, log: quiet });
    onTestFinished(() => second.stop());
    expect(second.port).not.toBe(first.port);
  });

  it('is ended and started again when it runs but does not work', async () => {
    const dataDir = dataFolder();
    const server = await startPostgres({ dataDir, log: quiet });
    await write(server.url);
    const said: string[] = [];
    const asked: number[] = [];
    const kept = keepRunning(server, {
      name: 'PostgreSQL',
      say: (line) => said.push(line),
      restart: (fallen) => startPostgres({ dataDir, port: fallen.port, log: quiet }),
      works: ({ pid }) => Promise.resolve(asked.push(pid) === 3 || pid !== server.pid),
      askEveryMs: 50,
    });
    onTestFinished(() => kept.stop());
    await expect.poll(() => said.at(-1), { timeout: 100_000 }).toBe('PostgreSQL is back.');
    expect(said[0]).toBe('PostgreSQL runs but does not work any more; ending it …');
    // Twice no, then yes: from then on five times no in a row.
    expect(asked.filter((pid) => pid === server.pid)).toHaveLength(8);
    expect(await read(server.url)).toEqual(WRITTEN);
  });

  it('ends a server that nobody owns before it starts its own', async () => {
    const dataDir = dataFolder();
    const orphan = await startPostgres({ dataDir, log: quiet });
    onTestFinished(() => orphan.stop());
    const identity = identify(orphan.pid);
    // As if its process was killed, and that before the server was recorded.
    writeFileSync(join(dataDir, 'postgres.pid'), '');
    rmSync(join(dataDir, 'postgres.lock'));
    const own = await startPostgres({ dataDir, log: quiet });
    onTestFinished(() => own.stop());
    expect(identity !== null && isRunning(identity)).toBe(false);
  });

  it('is not misled by a stale pid file that names another living process', async () => {
    const dataDir = dataFolder();
    const first = await startPostgres({ dataDir, log: quiet });
    const path = join(dataDir, 'postgres', 'postmaster.pid');
    const lines = readFileSync(path, 'utf8').split('\n');
    const killed = new Promise((resolve) => first.onUnexpectedExit(resolve));
    process.kill(first.pid, 'SIGKILL');
    await killed;
    writeFileSync(path, [String(process.pid), ...lines.slice(1)].join('\n'));
    const second = await startPostgres({ dataDir, log: quiet });
    await second.stop();
  });
});
