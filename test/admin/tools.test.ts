import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { newId } from '../../db/ids.ts';
import { readRoute, routeCredentials } from '../../db/routes/routes.ts';
import { adminProcess, oneError, oneObject, ownDatabase, type Run, serviceLine } from './support.ts';

const database = ownDatabase();
const dataDir = mkdtempSync(join(tmpdir(), 'goniec-tools-'));
afterAll(() => rmSync(dataDir, { recursive: true, force: true }));
const key = randomBytes(32);

const here = { DATA_DIR: dataDir };

/** The command line in this process, where nothing is on the standard input. */
const inProcess = (environment: Record<string, string>, ...line: string[]): Promise<Run> =>
  serviceLine({ ...here, DATABASE_URL: database.url(), ...environment }, '--json', ...line);

const addLine = (name: string, credentials = '-') => [
  ...['routes', 'add', '--name', name, '--kind', 'smpp', '--host', 'smsc.example.pl'],
  ...['--system-id', 'goniec', '--credentials', credentials],
];

test('a password is read from standard input and encrypted with the key of the service; another key is refused', async () => {
  const own = { ...here, DATABASE_URL: database.url(), SECRETS_KEY: key.toString('base64') };
  const added = await adminProcess(own, 'tajne\n', '--json', ...addLine('stdin'));
  expect({ code: added.code, err: added.err }).toEqual({ code: 0, err: '' });
  expect(oneObject(added.out)).toMatchObject({ name: 'stdin', credentials: 'stored' });
  expect(added.out).not.toContain('tajne');
  const route = await readRoute(database.sql(), 'stdin');
  expect(routeCredentials(key, route!)).toEqual({ systemId: 'goniec', password: 'tajne' });

  const other = { SECRETS_KEY: randomBytes(32).toString('base64') };
  const refused = await inProcess(
    { ...other, SMSC_PASSWORD: 'tajne' },
    ...addLine('other', 'env:SMSC_PASSWORD'),
  );
  expect(oneError(refused.err)).toMatchObject({
    code: 'unavailable',
    message: expect.stringContaining('SECRETS_KEY') as string,
  });
  expect(refused.err).not.toContain('tajne');
  expect(await readRoute(database.sql(), 'other')).toBeUndefined();

  const nothing = await adminProcess(own, '', '--json', ...addLine('nothing'));
  expect(oneError(nothing.err)).toMatchObject({ code: 'invalid_argument' });
});

test('commands that need no key and no Temporal ask for neither', async () => {
  const listed = await inProcess({}, 'routes', 'list');
  expect({ code: listed.code, err: listed.err }).toEqual({ code: 0, err: '' });
});

test('a Temporal that is not there is told in one sentence', async () => {
  const sql = database.sql();
  const account = newId('cl');
  const id = newId('msg');
  await sql`insert into accounts (id, name) values (${account}, 'Test')`;
  await sql`
    insert into messages (id, account_id, request_id, status, submission, accepted_as, recipient, text, parts, cost_grosze,
                          route, give_up_at)
    values (${id}, ${account}, ${id}, 'queued', 'unanswered', 'queued', '+48500100200', 'x', 1, 15, 'simulator', now())`;
  const none = await inProcess({}, 'messages', 'give-up', '--id', id);
  expect(oneError(none.err)).toMatchObject({
    code: 'unavailable',
    message: expect.stringContaining('TEMPORAL_ADDRESS') as string,
  });
  const away = await inProcess({ TEMPORAL_ADDRESS: '127.0.0.1:1' }, 'messages', 'resubmit', '--id', id);
  expect(oneError(away.err)).toMatchObject({
    code: 'unavailable',
    message: expect.stringContaining('127.0.0.1:1') as string,
  });
  expect(await sql`select from audit_log where subject = ${id}`).toHaveLength(0);
});
