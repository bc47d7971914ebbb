import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { openServiceDatabase } from '../../bin/admin/tools.ts';
import { writeRunFile } from '../../bin/runfile.ts';
import { adminProcess, oneError, oneObject, ownDatabase, serviceLine } from './support.ts';

const database = ownDatabase();

test('from the account to its key, with --json anywhere', async () => {
  const external = { DATABASE_URL: database.url() };
  const line = ['--json', 'accounts', 'create', '--name', "Żółw'); drop table accounts;--"];
  const created = await adminProcess(external, '', ...line);
  expect({ code: created.code, err: created.err }).toEqual({ code: 0, err: '' });
  const id = String(oneObject(created.out)['id']);

  const topup = await serviceLine(external, 'topup', '--json', '--account', id, '--pln', '500');
  expect(oneObject(topup.out)).toMatchObject({
    balance_grosze: 50_000,
    price_per_part_grosze: 10,
    mode: 'live',
  });

  const key = await serviceLine(external, 'keys', 'create', '--account', id, '--json');
  expect(oneObject(key.out)['key']).toMatch(/^pk_live_/);

  const shown = await serviceLine(external, 'accounts', '--json', 'show', '--account', id);
  expect(oneObject(shown.out)).toMatchObject({ id, name: "Żółw'); drop table accounts;--" });

  const records = await database.sql()`
    select actor, action from audit_log where account_id = ${id} order by id`;
  const actor = userInfo().username;
  expect([...records]).toEqual([
    { actor, action: 'accounts create' },
    { actor, action: 'topup' },
    { actor, action: 'keys create' },
    { actor, action: 'accounts show' },
  ]);
});

test('ADMIN_ACTOR is whom the audit log names', async () => {
  const external = { DATABASE_URL: database.url(), ADMIN_ACTOR: 'Jan Żółty' };
  const created = await serviceLine(external, '--json', 'accounts', 'create', '--name', 'Nazwany');
  const id = String(oneObject(created.out)['id']);
  const records = await database.sql()`select actor from audit_log where account_id = ${id}`;
  expect([...records]).toEqual([{ actor: 'Jan Żółty' }]);
  const unusable = { ...external, ADMIN_ACTOR: 'Jan\nZa' };
  const refused = await serviceLine(unusable, 'accounts', 'show', '--account', id);
  expect(refused).toMatchObject({ code: 1, out: '' });
  expect(refused.err).toContain('ADMIN_ACTOR');
});

test('a refusal is one sentence on stderr and exit code 1', async () => {
  const external = { DATABASE_URL: database.url() };
  const plain = await adminProcess(external, '', 'topup', '--account', 'cl_0', '--pln', '50');
  expect(plain).toEqual({ code: 1, out: '', err: 'There is no account cl_0.\n' });
  const json = await serviceLine(external, 'topup', '--account', 'cl_0', '--pln', 'many', '--json');
  expect({ code: json.code, out: json.out }).toEqual({ code: 1, out: '' });
  expect(oneError(json.err)).toMatchObject({
    code: 'invalid_argument',
    message: expect.stringMatching(/^--pln/) as string,
  });
});

test('the embedded database is found by DATA_DIR', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'goniec-admin-run-'));
  try {
    const before = await serviceLine({ DATA_DIR: dataDir }, 'accounts', 'list', '--json');
    expect(oneError(before.err)).toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining(dataDir) as string,
    });
    writeRunFile(dataDir, {
      databaseUrl: database.url(),
      temporal: { address: '127.0.0.1:1', namespace: 'default', embedded: true },
      temporalUiUrl: null,
      apiUrl: null,
    });
    const after = await serviceLine({ DATA_DIR: dataDir }, 'accounts', 'list', '--json');
    expect(oneObject(after.out)).toHaveProperty('data');
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
});

test('what is wrong around it is said in one sentence, without passwords', async () => {
  const asked = (url: string) => serviceLine({ DATABASE_URL: url }, 'audit', '--json');
  const unreachable = await asked('postgres://u:hush@127.0.0.1:1/d');
  const wrongPassword = await asked(database.url().replace(/:[^:@]+@/, ':hush@'));
  for (const { err } of [unreachable, wrongPassword]) expect(oneError(err).code).toBe('unavailable');
  const empty = await asked(database.url().replace(/\/[^/]+$/, '/postgres'));
  expect(oneError(empty.err)).toMatchObject({
    code: 'unavailable',
    message: expect.stringContaining('migrate') as string,
  });
  const setting = await asked('mysql://x');
  expect(oneError(setting.err).message).toContain('DATABASE_URL');
  for (const { err } of [unreachable, wrongPassword, empty, setting]) expect(err).not.toContain('hush');
});

test('the server ends what a command takes more than a minute for', async () => {
  vi.stubEnv('DATABASE_URL', database.url());
  const sql = await openServiceDatabase();
  vi.unstubAllEnvs();
  const [limit] = await sql`show transaction_timeout`;
  await sql.end({ timeout: 1 });
  expect(limit).toEqual({ transactionTimeout: '1min' });
});
