import { readConfig } from './config.ts';
import { awaitDatabase, connectTo } from './connections.ts';
import { serviceLog } from './log.ts';
import type { Part } from '../db/rights.ts';
import { checkSecretsKey, loadSecretsKey } from './secrets.ts';

/** Timeout at start for the servers that a process needs. */
export const START_TIMEOUT_MS = 30_000;

/** What API, worker and console start from: settings, log, a database with its schema, the secrets' key. @throws ConfigError, StartProblem */
export async function serviceOptions(as: Part) {
  const config = readConfig();
  const { databaseUrl, temporal } = connectTo(config, as);
  const log = serviceLog(config);
  await awaitDatabase(databaseUrl, START_TIMEOUT_MS);
  const secretsKey = await loadSecretsKey(config);
  await checkSecretsKey(databaseUrl, secretsKey);
  return { databaseUrl, databasePool: config.DATABASE_POOL, temporal, config, secretsKey, log };
}
