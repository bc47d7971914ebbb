import { startApi } from '../api/server.ts';
import { runProcess } from './process.ts';
import { serviceOptions } from './service.ts';

await runProcess(async () => {
  const options = await serviceOptions();
  const { config, log } = options;
  const api = await startApi({
    ...options,
    port: config.PORT,
    host: config.HOST,
    publicUrl: config.PUBLIC_URL,
    shortUrl: config.SHORT_URL,
  });
  log.info({ url: api.url }, 'the API listens');
  return api;
});
