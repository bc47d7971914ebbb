import { startConsole } from './consoleServer.ts';
import { watchSecretsKey } from './keyWatch.ts';
import { runProcess } from './process.ts';
import { readRunFile } from './runfile.ts';
import { serviceOptions } from './service.ts';

const PORT = 3001;
// Ten seconds for requests, five for connections to the servers.
const GRACE_MS = 18_000;

await runProcess(async () => {
  const options = await serviceOptions('admin');
  const { config, databaseUrl, log } = options;
  const server = await startConsole({
    ...options,
    port: config.CONSOLE_PORT ?? PORT,
    temporalUiUrl: config.TEMPORAL_UI_URL ?? readRunFile(config.DATA_DIR)?.temporalUiUrl ?? null,
  });
  log.info({ url: server.url }, 'console listening');
  const keyWatch = watchSecretsKey(databaseUrl, options.secretsKey);
  return {
    finished: keyWatch.changed,
    async stop() {
      await Promise.all([server.stop(), keyWatch.stop()]);
    },
  };
}, GRACE_MS);
