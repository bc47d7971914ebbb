import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { isPortFree } from '../../bin/ports.ts';
import { startPostgres } from '../../dev/postgres.ts';
import { identify } from '../../bin/runfile.ts';
import { killTree } from './processTree.ts';
import { dataFolder, run } from './support.ts';
import { read, withDatabase, write, WRITTEN } from './writing.ts';

const PROGRAM = 'test/start/programs/runPostgres.ts';

async function gone(pid: number): Promise<void> {
  await expect.poll(() => identify(pid), { timeout: 100_000 }).toBeNull();
}

describe('the embedded PostgreSQL', () => {
  it('keeps its data over a stop and comes back to its port', async () => {
    const dataDir = dataFolder();
    const first = await startPostgres(dataDir);
    await write(first.url);
    await first.stop();
    await first.stop();
    expect(identify(first.pid)).toBeNull();
    expect(existsSync(join(dataDir, 'postgres.pid'))).toBe(false);

    const second = await startPostgres(dataDir);
    onTestFinished(() => second.stop());
    expect(second.url).toBe(first.url);
    expect(await read(second.url)).toEqual(WRITTEN);
  });

  it('listens on the loopback address alone, wants a password, and writes durably', async () => {
    const dataDir = dataFolder();
    const server = await startPostgres(dataDir);
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

  it('says how it ended when it is killed, and comes back to its port with its data', async () => {
    const dataDir = dataFolder();
    const server = await startPostgres(dataDir);
    await write(server.url);
    process.kill(server.pid, 'SIGINT');
    expect(await server.ended).toBe('code 0');
    const again = await startPostgres(dataDir);
    killTree(again.pid);
    expect(await again.ended).toBe('signal SIGKILL');
    const last = await startPostgres(dataDir);
    onTestFinished(() => last.stop());
    expect(last.url).toBe(server.url);
    expect(await read(last.url)).toEqual(WRITTEN);
    await last.stop();
    expect(await isPortFree(last.port, '127.0.0.1')).toBe(true);
  });

  it('ends when the process that started it is killed, and starts again from what is left', async () => {
    const dataDir = dataFolder();
    const parent = run(PROGRAM, {}, [dataDir]);
    const { url, pid } = JSON.parse(await parent.firstLine) as { url: string; pid: number };
    await write(url);
    process.kill(parent.pid, 'SIGKILL');
    await gone(pid);
    const again = await startPostgres(dataDir);
    onTestFinished(() => again.stop());
    expect(await read(again.url)).toEqual(WRITTEN);
  });
});
