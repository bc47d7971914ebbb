import { expect, it } from 'vitest';
import { dataFolder, run, takenPort } from './support.ts';

it('npm start says in one sentence what it cannot do, and exits with 1: its port is taken', async () => {
  const port = await takenPort();
  const { code, stdout, stderr } = await run('dev/start.ts', { PORT: String(port), DATA_DIR: dataFolder() })
    .finished;
  expect(stderr).toBe(
    `Port ${port} is already in use by another program; stop it, or set PORT to another one.\n`,
  );
  expect(stdout).toBe('');
  expect(code).toBe(1);
});
