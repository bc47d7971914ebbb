import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { exitCodeOf, installedPythonPackage } from '../support/pythonPackage.ts';
import { type StartedService, startService } from '../support/service.ts';
import { type FuzzedAccount, openFuzzedAccount } from './accounts.ts';

// What is checked, and what is excused and why, stands in these; FUZZ_ARGUMENTS, such as `--seed 2 --max-time 600`, are handed on.
const DOCUMENTS = [
  ['/v1/openapi.json', 'key', 'schemathesis.toml'],
  ['/v1/openapi-1.2.json', 'token', 'schemathesis-1.2.toml'],
] as const;
const ARGUMENTS = process.env['FUZZ_ARGUMENTS']?.split(' ') ?? [];
const VERSION = '4.32.5';
const LINTER = '@redocly/cli@1.34.5';

describe.each(DOCUMENTS)('the service by %s', (path, kind, settings) => {
  const scratch = mkdtempSync(join(tmpdir(), 'goniec-fuzz-'));
  const description = join(scratch, 'openapi.json');
  let started: StartedService;
  let accounts: (FuzzedAccount & { name: string })[];
  beforeAll(async () => {
    started = await startService();
    const { databaseUrl, apiUrl } = started.service;
    // Two accounts, so that the check of who may see what has somebody to refuse.
    accounts = await Promise.all(
      ['first', 'second'].map(async (name) => ({ name, ...(await openFuzzedAccount(databaseUrl, name)) })),
    );
    writeFileSync(description, await (await fetch(apiUrl + path)).text());
  });
  afterAll(async () => {
    await started.stop();
    rmSync(scratch, { recursive: true, force: true });
  });

  it('is described by a document that a linter calls valid', async () => {
    // Fetched when it is needed: it brings more packages than the whole service.
    expect(await exitCodeOf('npx', ['--yes', LINTER, 'lint', description])).toBe(0);
  });

  it('answers nothing that the document does not say, whatever schemathesis sends', async () => {
    const command = join(await installedPythonPackage('schemathesis', VERSION), 'schemathesis');
    const auth = join(scratch, 'auth.json');
    const users = accounts.map(({ name, [kind]: secret }) => ({
      name,
      fixedHeaders: [{ name: 'Authorization', value: `Bearer ${secret}` }],
    }));
    writeFileSync(auth, JSON.stringify({ auth: users }));
    const config = join(import.meta.dirname, settings);
    const url = started.service.apiUrl + path;
    const env = {
      ...process.env,
      FUZZ_AUTH: auth,
      SCHEMATHESIS_HOOKS: join(import.meta.dirname, 'hooks.py'),
      HYPOTHESIS_STORAGE_DIRECTORY: join(scratch, 'hypothesis'),
      PYTHONDONTWRITEBYTECODE: '1',
    };
    const words = ['--config-file', config, 'run', url, ...ARGUMENTS];
    expect(await exitCodeOf(command, words, env)).toBe(0);
  });
});
