import { startApi } from '../api/server.ts';
import { mounts } from './mounts.ts';
import { watchSecretsKey } from './keyWatch.ts';
import { startConfiguredMetrics } from './metrics.ts';
import { runProcess } from './process.ts';
import { serviceOptions } from './service.ts';
import { startConfiguredTracing } from './tracing.ts';

// Ten seconds for requests, five for connections to the servers.
const GRACE_MS = 18_000;

await runProcess(async () => {
  const options = await serviceOptions('api');
  const { config, databaseUrl, log } = options;
  const traces = await startConfiguredTracing('goniec-api', log);
  const metrics = await startConfiguredMetrics(config, databaseUrl, log, false);
  const api = await startApi({
    ...options,
    port: config.PORT,
    host: config.HOST,
    publicUrl: config.PUBLIC_URL,
    shortUrl: config.SHORT_URL,
    mcpUrl: config.MCP_URL,
    panelUrl: config.PANEL_URL,
    mounts,
  });
  log.info({ url: api.url }, 'API listening');
  const keyWatch = watchSecretsKey(databaseUrl, options.secretsKey);
  return {
    finished: keyWatch.changed,
    async stop() {
      await Promise.all([api.stop(), keyWatch.stop()]);
      await metrics?.stop();
      await traces?.stop();
    },
  };
}, GRACE_MS);
