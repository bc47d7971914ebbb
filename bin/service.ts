import { readConfig } from './config.ts';
import { awaitDatabase, connectTo } from './connections.ts';
import { serviceLog } from './log.ts';
import { checkSecretsKey, loadSecretsKey } from './secrets.ts';

/** How long a process waits at its start for the servers it needs. */
export const PATIENCE_MS = 30_000;

/**
 * What an API and a worker process both start from: settings, log, a database that answers and has the schema, its key.
 * @throws ConfigError, StartProblem
 */
export async function serviceOptions(as: 'api' | 'worker') {
  const config = readConfig();
  const { databaseUrl, temporal } = connectTo(config, as);
  const log = serviceLog(config);
  await awaitDatabase(databaseUrl, PATIENCE_MS);
  const secretsKey = await loadSecretsKey(config);
  await checkSecretsKey(databaseUrl, secretsKey);
  return { databaseUrl, databasePool: config.DATABASE_POOL, temporal, config, secretsKey, log };
}
