import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { dataFolder, run, takenPort } from './support.ts';

const START = 'dev/start.ts';

/** The all-in-one has to give up with exactly this one sentence. */
async function expectSentence(env: Record<string, string>, sentence: string | RegExp): Promise<void> {
  const { code, stdout, stderr } = await run(START, { PORT: '0', ...env }).finished;
  expect(stderr.trim().split('\n')).toEqual([
    typeof sentence === 'string' ? sentence : (expect.stringMatching(sentence) as unknown),
  ]);
  expect(stdout).toBe('');
  expect(code).toBe(1);
}

describe('npm start says in one sentence what it cannot do, and exits with 1', { timeout: 120_000 }, () => {
  it.each([
    [
      '192.0.2.1',
      'HOST: 192.0.2.1 is not an address of this machine (EADDRNOTAVAIL); set HOST to one that is.',
    ],
    [
      'no.such.host.invalid',
      /^HOST: no\.such\.host\.invalid cannot be listened on \((ENOTFOUND|EAI_AGAIN)\); set HOST/,
    ],
  ])('when it cannot listen at %s', async (HOST, sentence) => {
    await expectSentence({ HOST, DATA_DIR: dataFolder() }, sentence);
    await expectSentence({ HOST, DATA_DIR: dataFolder(), PORT: '3999' }, sentence);
  });

  it('when it runs already, on the same port too', async () => {
    const folder = dataFolder();
    const holder = run('test/start/programs/holdLock.ts', {}, [folder]);
    await holder.firstLine;
    await expectSentence(
      { PORT: String(await takenPort()), DATA_DIR: folder },
      `The service already runs with the data folder ${folder} (process ${holder.pid}); stop it, or set DATA_DIR to another folder.`,
    );
  });

  it('when its data folder cannot be written', async () => {
    const file = join(dataFolder(), 'file');
    writeFileSync(file, '');
    await expectSentence(
      { DATA_DIR: join(file, 'data') },
      /^The data folder .* cannot be written \(ENOTDIR\); set/,
    );
  });

  it('when the Temporal it was told to use is none, after stopping its database', async () => {
    await expectSentence(
      { DATA_DIR: dataFolder(), TEMPORAL_CLI_PATH: '/no/such/temporal' },
      /^TEMPORAL_CLI_PATH: \/no\/such\/temporal is not a Temporal CLI/,
    );
  });
});
