import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startService } from '../support/service.ts';
import { openFuzzedAccount } from './accounts.ts';
import { exitCodeOf } from '../support/pythonPackage.ts';
import { installedSchemathesis } from './install.ts';

/**
 * Lets schemathesis loose on the service (`npm run test:fuzz`): starts PostgreSQL, Temporal, worker and API on free
 * ports, reads the documents of both interfaces from there, and ends with 0 when a linter calls them valid and every answer was
 * what they say. `FUZZ_DOCUMENT=/v1/openapi-1.2.json` takes one of them.
 *
 * What is checked, and what is excused and why, stands in `schemathesis.toml` and `schemathesis-1.2.toml`. Arguments are handed on, such as
 * `--seed 2`, `--max-time 600`, `--include-operation-id sendMessages`, `--report html --report-dir build/fuzz`.
 */
const folder = import.meta.dirname;
const args = process.argv.slice(2);
const command = await installedSchemathesis();
const scratch = mkdtempSync(join(tmpdir(), 'goniec-fuzz-'));
const PEERS = ['first', 'second'];
const DOCUMENTS = (
  [
    ['/v1/openapi.json', 'key', 'schemathesis.toml'],
    ['/v1/openapi-1.2.json', 'token', 'schemathesis-1.2.toml'],
  ] as const
).filter(([path]) => (process.env['FUZZ_DOCUMENT'] ?? path) === path);
const LINTER = '@redocly/cli@1.34.5';
const { service, stop } = await startService();
try {
  // Two accounts, so that the check of who may see what has somebody to refuse.
  const accounts = await Promise.all(
    PEERS.map(async (name) => ({ name, ...(await openFuzzedAccount(service.databaseUrl, name)) })),
  );
  const codes: number[] = [];
  for (const [path, kind, settings] of DOCUMENTS) {
    const auth = join(scratch, 'auth.json');
    const users = accounts.map(({ name, [kind]: secret }) => userOf(name, secret));
    writeFileSync(auth, JSON.stringify({ auth: users }));
    const url = service.apiUrl + path;
    const description = join(scratch, 'openapi.json');
    writeFileSync(description, await (await fetch(url)).text());
    // Fetched when it is needed: it brings more packages than the whole service.
    codes.push(await exitCodeOf('npx', ['--yes', LINTER, 'lint', description], process.env));
    const config = join(folder, settings);
    const env = {
      ...process.env,
      FUZZ_AUTH: auth,
      SCHEMATHESIS_HOOKS: join(folder, 'hooks.py'),
      HYPOTHESIS_STORAGE_DIRECTORY: join(scratch, 'hypothesis'),
      PYTHONDONTWRITEBYTECODE: '1',
    };
    codes.push(await exitCodeOf(command, ['--config-file', config, 'run', url, ...args], env));
  }
  process.exitCode = codes.find((code) => code !== 0) ?? 0;
} finally {
  await stop();
  rmSync(scratch, { recursive: true, force: true });
}

function userOf(name: string, key: string) {
  return { name, fixedHeaders: [{ name: 'Authorization', value: `Bearer ${key}` }] };
}
