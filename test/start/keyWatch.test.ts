import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { watchSecretsKey } from '../../bin/keyWatch.ts';
import { checkSecretsKey } from '../../bin/secrets.ts';
import { changeKeyFingerprint } from '../../db/accounts/storedSecrets.ts';
import { keyFingerprint } from '../../db/installation.ts';
import { ownDatabase } from '../admin/support.ts';

const { url, sql } = ownDatabase();
const EVERY_MS = 20;

test('a process learns that the key was changed, and not of a database that is away or being restored', async () => {
  const [former, next] = [randomBytes(32), randomBytes(32)];
  await checkSecretsKey(url(), former);
  const watch = watchSecretsKey(url(), former, EVERY_MS);
  onTestFinished(() => watch.stop());
  let said: unknown = null;
  const changed = watch.changed.catch((error: unknown) => (said = error));

  await sql()`alter table installation rename to installation_away`;
  await delay(10 * EVERY_MS);
  await sql()`alter table installation_away rename to installation`;
  await sql()`delete from installation where name = 'secrets_key'`;
  await delay(10 * EVERY_MS);
  await checkSecretsKey(url(), former);
  await delay(10 * EVERY_MS);
  expect(said).toBeNull();

  await changeKeyFingerprint(sql(), keyFingerprint(next));
  await changed;
  expect(String(said)).toContain('encrypted with another key now');
});
