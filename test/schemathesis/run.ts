import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startService } from '../support/service.ts';
import { openFuzzedAccount } from './accounts.ts';
import { exitCodeOf, installedSchemathesis } from './install.ts';

/**
 * Lets schemathesis loose on the service (`npm run test:fuzz`): starts PostgreSQL, Temporal, worker and API on free
 * ports, reads `/v1/openapi.json` from there, and ends with 0 when a linter calls that document valid and every answer was
 * what it says.
 *
 * What is checked, and what is excused and why, stands in `schemathesis.toml`. Arguments are handed on, such as
 * `--seed 2`, `--max-time 600`, `--include-operation-id sendMessages`, `--report html --report-dir build/fuzz`.
 */
const folder = import.meta.dirname;
const args = process.argv.slice(2);
const command = await installedSchemathesis();
const scratch = mkdtempSync(join(tmpdir(), 'goniec-fuzz-'));
const LINTER = '@redocly/cli@1.34.5';
const { service, stop } = await startService();
try {
  const peers = ['first', 'second'];
  const keys = await Promise.all(peers.map((name) => openFuzzedAccount(service.databaseUrl, name)));
  // Two accounts, so that the check of who may see what has somebody to refuse.
  const auth = join(scratch, 'auth.json');
  writeFileSync(auth, JSON.stringify({ auth: peers.map((name, i) => userOf(name, keys[i]!)) }));
  const description = join(scratch, 'openapi.json');
  writeFileSync(description, await (await fetch(`${service.apiUrl}/v1/openapi.json`)).text());
  // Fetched when it is needed: it brings more packages than the whole service.
  const linted = await exitCodeOf('npx', ['--yes', LINTER, 'lint', description], process.env);
  const fuzzed = await exitCodeOf(
    command,
    ['--config-file', join(folder, 'schemathesis.toml'), 'run', `${service.apiUrl}/v1/openapi.json`, ...args],
    {
      ...process.env,
      FUZZ_AUTH: auth,
      SCHEMATHESIS_HOOKS: join(folder, 'hooks.py'),
      HYPOTHESIS_STORAGE_DIRECTORY: join(scratch, 'hypothesis'),
      PYTHONDONTWRITEBYTECODE: '1',
    },
  );
  process.exitCode = linted || fuzzed;
} finally {
  await stop();
  rmSync(scratch, { recursive: true, force: true });
}

function userOf(name: string, key: string) {
  return { name, fixedHeaders: [{ name: 'Authorization', value: `Bearer ${key}` }] };
}
