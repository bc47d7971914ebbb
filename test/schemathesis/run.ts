import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startService } from '../support/service.ts';
import { openFuzzedAccount } from './accounts.ts';
import { exitCodeOf, installedSchemathesis } from './install.ts';

/**
 * Lets schemathesis loose on the service (`npm run test:fuzz`): starts PostgreSQL, Temporal, worker and API on free
 * ports, reads `/v1/openapi.json` from there, and ends with 0 when every answer was what that document says.
 *
 * What is checked, and what is excused and why, stands in `schemathesis.toml`. Arguments are handed on, such as
 * `--seed 2`, `--max-time 600`, `--include-operation-id sendMessages`, `--report html --report-dir build/fuzz`.
 */
const folder = import.meta.dirname;
const args = process.argv.slice(2);
const command = await installedSchemathesis();
const scratch = mkdtempSync(join(tmpdir(), 'goniec-fuzz-'));
const { service, stop } = await startService();
try {
  const peers = ['first', 'second'];
  const keys = await Promise.all(peers.map((name) => openFuzzedAccount(service.databaseUrl, name)));
  // Two accounts, so that the check of who may see what has somebody to refuse.
  const auth = join(scratch, 'auth.json');
  writeFileSync(auth, JSON.stringify({ auth: peers.map((name, i) => userOf(name, keys[i]!)) }));
  process.exitCode = await exitCodeOf(
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
} finally {
  await stop();
  rmSync(scratch, { recursive: true, force: true });
}

function userOf(name: string, key: string) {
  return { name, fixedHeaders: [{ name: 'Authorization', value: `Bearer ${key}` }] };
}
