import { type ApiOptions, type RunningApi, startApi } from '../api/server.ts';
import { consolePages } from '../console/mount.ts';
import type { OpenTools } from './admin/tools.ts';
import { serviceTools } from './admin/tools.ts';
import type { Config } from './config.ts';

interface ConsoleOptions extends Pick<
  ApiOptions,
  'databaseUrl' | 'databasePool' | 'temporal' | 'secretsKey' | 'log' | 'port'
> {
  config: Pick<Config, 'CONSOLE_HOST' | 'CONSOLE_URL' | 'CONSOLE_SECOND_PERSON_GROSZE'> &
    ApiOptions['config'];
  temporalUiUrl: string | null;
  /** By default those of the environment. */
  tools?: OpenTools;
}

/**
 * Starts the console: a process's own server, with the rights of staff in the database, which the API neither has nor reaches.
 * @throws the error of `listen`
 */
export async function startConsole(options: ConsoleOptions): Promise<RunningApi> {
  const { config, temporalUiUrl, tools = serviceTools() } = options;
  const settings = { tools, temporalUiUrl, secondPersonGrosze: config.CONSOLE_SECOND_PERSON_GROSZE };
  const server = await startApi({
    ...options,
    host: config.CONSOLE_HOST,
    // Browsers make passkeys for names alone.
    ...(config.CONSOLE_HOST === '127.0.0.1' ? { hostName: 'localhost' } : {}),
    panelUrl: config.CONSOLE_URL,
    mounts: consolePages(settings),
    isApi: false,
  });
  return {
    ...server,
    url: config.CONSOLE_URL ?? server.url,
    async stop() {
      await server.stop();
      await tools.close();
    },
  };
}
