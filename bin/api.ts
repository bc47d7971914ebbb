import { startApi } from '../api/server.ts';
import { readConfig } from './config.ts';
import { awaitDatabase, connectTo } from './connections.ts';
import { serviceLog } from './log.ts';
import { runProcess } from './process.ts';
import { checkSecretsKey, loadSecretsKey } from './secrets.ts';

const PATIENCE_MS = 30_000;

await runProcess(async () => {
  const config = readConfig();
  const { databaseUrl, temporal } = connectTo(config);
  const log = serviceLog(config);
  await awaitDatabase(databaseUrl, PATIENCE_MS);
  const secretsKey = await loadSecretsKey(config);
  await checkSecretsKey(databaseUrl, secretsKey);
  const api = await startApi({
    databaseUrl,
    databasePool: config.DATABASE_POOL,
    temporal,
    config,
    secretsKey,
    log,
    port: config.PORT,
    host: config.HOST,
    publicUrl: config.PUBLIC_URL,
  });
  log.info({ url: api.url }, 'the API listens');
  return api;
});
