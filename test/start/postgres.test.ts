import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { isPortFree } from '../../bin/embedded/ports.ts';
import { startPostgres } from '../../bin/embedded/postgres.ts';
import { identify } from '../../bin/embedded/processes.ts';
import { keepRunning } from '../../bin/embedded/supervise.ts';
import { dataFolder, run } from './support.ts';
import { read, withDatabase, write, WRITTEN } from './writing.ts';

const PROGRAM = 'test/start/programs/runPostgres.ts';
const quiet = () => undefined;

async function gone(pid: number): Promise<void> {
  await expect.poll(() => identify(pid), { timeout: 100_000 }).toBeNull();
}

describe('the embedded PostgreSQL', () => {
  it('keeps its data over a stop and comes back to its port', async () => {
    const dataDir = dataFolder();
    const first = await startPostgres({ dataDir, log: quiet });
    await write(first.url);
    await first.stop();
    await first.stop();
    expect(identify(first.pid)).toBeNull();
    expect(existsSync(join(dataDir, 'postgres.pid'))).toBe(false);

    const second = await startPostgres({ dataDir, port: first.port, log: quiet });
    onTestFinished(() => second.stop());
    expect(second.url).toBe(first.url);
    expect(await read(second.url)).toEqual(WRITTEN);
  });

  it('listens on the loopback address alone, wants a password, and writes durably', async () => {
    const dataDir = dataFolder();
    const server = await startPostgres({ dataDir, log: quiet });
    onTestFinished(() => server.stop());
    const settings = await withDatabase(
      server.url,
      (sql) => sql`select current_setting('listen_addresses') as addresses, current_setting('fsync') as fsync,
                          current_setting('synchronous_commit') as commit, current_setting('server_encoding') as encoding`,
    );
    expect([...settings]).toEqual([{ addresses: '127.0.0.1', fsync: 'on', commit: 'on', encoding: 'UTF8' }]);
    const wrong = server.url.replace(/:[^:@]+@/, ':wrong@');
    await expect(withDatabase(wrong, (sql) => sql`select 1`)).rejects.toMatchObject({ code: '28P01' });
  });

  it('is started again on its port when it is killed', async () => {
    const dataDir = dataFolder();
    const server = await startPostgres({ dataDir, log: quiet });
    await write(server.url);
    const said: string[] = [];
    const kept = keepRunning(server, {
      name: 'PostgreSQL',
      say: (line) => said.push(line),
      restart: (fallen) => startPostgres({ dataDir, port: fallen.port, log: quiet }),
    });
    onTestFinished(() => kept.stop());
    process.kill(server.pid, 'SIGKILL');
    await expect.poll(() => said.at(-1), { timeout: 100_000 }).toBe('PostgreSQL is back.');
    expect(said[0]).toBe('PostgreSQL has ended unexpectedly (signal SIGKILL); starting it again …');
    expect(await read(server.url)).toEqual(WRITTEN);
    await kept.stop();
    expect(await isPortFree(server.port, '127.0.0.1')).toBe(true);
  });

  it('ends when the process that started it is killed, and starts again from what is left', async () => {
    const dataDir = dataFolder();
    const parent = run(PROGRAM, {}, [dataDir]);
    const { url, pid } = JSON.parse(await parent.firstLine) as { url: string; pid: number };
    await write(url);
    process.kill(parent.pid, 'SIGKILL');
    await gone(pid);
    const again = await startPostgres({ dataDir, log: quiet });
    onTestFinished(() => again.stop());
    expect(await read(again.url)).toEqual(WRITTEN);
  });
});
