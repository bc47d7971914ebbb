import { join } from 'node:path';
import { expect, it } from 'vitest';
import { applyPatches, copyOfProject, runIn } from '../support/projectCopy.ts';

const NOWHERE = {
  DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none',
  TEMPORAL_ADDRESS: '127.0.0.1:1',
  SECRETS_KEY: 'A'.repeat(43) + '=',
};

const SENTENCE =
  'The PostgreSQL driver (npm package postgres) is installed without its corrections: run npm ci again, and after npm ci --ignore-scripts also npm run postinstall.';

it('nothing runs with a driver that has not had its corrections, and all say what to do', async () => {
  const folder = await copyOfProject();
  const reversed = await applyPatches(folder, '--reverse');
  expect(reversed.code, reversed.stderr).toBe(0);
  for (const entry of ['dev/start.ts', 'bin/migrate.ts', 'bin/admin.ts']) {
    const env = { ...NOWHERE, DATA_DIR: join(folder, 'data'), PORT: '0' };
    const words = entry === 'bin/admin.ts' ? ['accounts', 'list'] : [];
    const command = ['--import', 'tsx', entry, ...words];
    const ended = await runIn(folder, process.execPath, command, env);
    expect(ended, entry).toEqual({ code: 1, stdout: '', stderr: `${SENTENCE}\n` });
  }
}, 120_000);
