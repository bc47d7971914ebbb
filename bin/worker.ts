import { startWorker } from '../worker/worker.ts';
import { sellerOf, shortUrlOf } from './config.ts';
import { awaitTemporal } from './connections.ts';
import { watchSecretsKey } from './keyWatch.ts';
import { startConfiguredMetrics } from './metrics.ts';
import { runProcess } from './process.ts';
import { START_TIMEOUT_MS, serviceOptions } from './service.ts';
import { startConfiguredTracing } from './tracing.ts';

// Activities get fifteen seconds, and five more once cancelled; then sessions and connections are closed.
const GRACE_MS = 30_000;

await runProcess(async () => {
  const options = await serviceOptions('worker');
  await awaitTemporal(options.temporal, START_TIMEOUT_MS);
  const { config, databaseUrl, log } = options;
  const traces = await startConfiguredTracing('goniec-worker', log);
  const metrics = await startConfiguredMetrics(config, databaseUrl, log, true);
  const worker = await startWorker({
    ...options,
    seller: sellerOf(config),
    shortUrl: shortUrlOf(config),
    sdkMetrics: metrics?.sdkMetrics,
  });
  log.info('worker started');
  const keyWatch = watchSecretsKey(databaseUrl, options.secretsKey);
  return {
    finished: Promise.race([worker.finished, keyWatch.changed]),
    async stop() {
      await Promise.all([worker.stop(), keyWatch.stop()]);
      await metrics?.stop();
      await traces?.stop();
    },
  };
}, GRACE_MS);
