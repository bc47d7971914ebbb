import { randomBytes } from 'node:crypto';
import { link, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { hasSqlState, openDatabase, SQLSTATE } from '../db/connection.ts';
import { claimFact, keyFingerprint } from '../db/installation.ts';
import { ConfigError, type Config } from './config.ts';
import { errorCode } from '../domain/errors.ts';
import { StartProblem } from './problem.ts';

const KEY_BYTES = 32;

/** AES-256 key of secrets at rest: SECRETS_KEY, else DATA_DIR/secrets.key, created if missing. @throws StartProblem if it is unusable */
export async function loadSecretsKey(config: Pick<Config, 'SECRETS_KEY' | 'DATA_DIR'>): Promise<Buffer> {
  if (config.SECRETS_KEY !== undefined)
    return decoded(config.SECRETS_KEY, new ConfigError('SECRETS_KEY: must be 32 bytes'));
  const path = join(config.DATA_DIR, 'secrets.key');
  try {
    return await readKey(path);
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw problemWith(path, error);
  }
  try {
    await makeKey(config.DATA_DIR, path);
    return await readKey(path);
  } catch (error) {
    throw problemWith(path, error);
  }
}

/** Compares the key with the fingerprint of the first one used with the database. @throws StartProblem if they differ, or no schema */
export async function checkSecretsKey(databaseUrl: string, key: Buffer): Promise<void> {
  const fingerprint = keyFingerprint(key);
  const sql = openDatabase(databaseUrl, 1);
  try {
    const { value } = await claimFact(sql, 'secrets_key', fingerprint);
    if (value === fingerprint) return;
  } catch (error) {
    if (hasSqlState(error, SQLSTATE.undefinedTable)) {
      throw new StartProblem('The database has no schema yet; run `npm run migrate` first.');
    }
    throw error;
  } finally {
    await sql.end({ timeout: 1 });
  }
  throw new StartProblem(
    'SECRETS_KEY: not the key this database was first used with; every process needs the same (DATA_DIR/secrets.key, or SECRETS_KEY).',
  );
}

async function readKey(path: string): Promise<Buffer> {
  const problem = new StartProblem(
    `${path} does not hold a key of 32 bytes in base64; restore it, or set SECRETS_KEY.`,
  );
  return decoded((await readFile(path, 'utf8')).trim(), problem);
}

function decoded(text: string, problem: Error): Buffer {
  const key = Buffer.from(text, 'base64');
  if (key.length !== KEY_BYTES) throw problem;
  return key;
}

// Linked into place: the file appears complete, and never replaces one.
async function makeKey(dataDir: string, path: string): Promise<void> {
  await mkdir(dataDir, { recursive: true, mode: 0o711 });
  const draft = `${path}.${randomBytes(6).toString('hex')}`;
  await writeFile(draft, randomBytes(KEY_BYTES).toString('base64'), { mode: 0o600 });
  try {
    await link(draft, path);
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error;
  } finally {
    await rm(draft, { force: true });
  }
}

function problemWith(path: string, error: unknown): Error {
  if (error instanceof StartProblem) return error;
  return new StartProblem(
    `The key file ${path} cannot be used (${errorCode(error) ?? String(error)}); set SECRETS_KEY.`,
  );
}
