import { startWorker } from '../worker/worker.ts';
import { shortUrlOf } from './config.ts';
import { awaitTemporal } from './connections.ts';
import { runProcess } from './process.ts';
import { PATIENCE_MS, serviceOptions } from './service.ts';

await runProcess(async () => {
  const options = await serviceOptions();
  await awaitTemporal(options.temporal, PATIENCE_MS);
  const worker = await startWorker({ ...options, shortUrl: shortUrlOf(options.config) });
  options.log.info('the worker takes work');
  return worker;
});
