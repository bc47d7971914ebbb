import { startWorker } from '../worker/worker.ts';
import { readConfig } from './config.ts';
import { awaitDatabase, awaitTemporal, connectTo } from './connections.ts';
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
  await awaitTemporal(temporal, PATIENCE_MS);
  const worker = await startWorker({
    databaseUrl,
    databasePool: config.DATABASE_POOL,
    temporal,
    config,
    secretsKey,
    log,
  });
  log.info('the worker takes work');
  return worker;
});
