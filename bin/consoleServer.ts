import { type ApiOptions, openReadOnlyServices, type RunningApi, startApi } from '../api/server.ts';
import { consolePages } from '../console/mount.ts';
import type { OpenTools } from './admin/tools.ts';
import { serviceTools } from './admin/tools.ts';
import { type Config, shortUrlOf } from './config.ts';

interface ConsoleOptions extends Pick<
  ApiOptions,
  'databaseUrl' | 'databasePool' | 'temporal' | 'secretsKey' | 'log' | 'port'
> {
  config: Pick<Config, 'CONSOLE_HOST' | 'CONSOLE_URL' | 'CONSOLE_SECOND_PERSON_GROSZE'> &
    Pick<Config, 'PORT' | 'PUBLIC_URL' | 'PANEL_URL' | 'MCP_URL' | 'SHORT_URL'> &
    ApiOptions['config'];
  temporalUiUrl: string | null;
  /** By default those of the environment. */
  tools?: OpenTools;
}

// Connections for pages as the customer sees them, beside those of the console.
const AS_CUSTOMER_POOL = 4;

/** Where customers reach the service, as their pages say. */
function urlsOf(config: ConsoleOptions['config']) {
  const { PUBLIC_URL: publicUrl, PANEL_URL, MCP_URL: mcpUrl } = config;
  const panelUrl = PANEL_URL ?? publicUrl ?? `http://localhost:${config.PORT}`;
  return { publicUrl, mcpUrl, panelUrl, shortUrl: shortUrlOf(config) };
}

/**
 * Starts the console: a process's own server, with the rights of staff in the database, which the API neither has nor reaches.
 * @throws the error of `listen`
 */
export async function startConsole(options: ConsoleOptions): Promise<RunningApi> {
  const { config, temporalUiUrl, tools = serviceTools() } = options;
  const asCustomer = openReadOnlyServices({ ...options, databasePool: AS_CUSTOMER_POOL, ...urlsOf(config) });
  const settings = {
    ...{ tools, temporalUiUrl, readOnlyServices: asCustomer.services },
    secondPersonGrosze: config.CONSOLE_SECOND_PERSON_GROSZE,
  };
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
      await Promise.all([tools.close(), asCustomer.close()]);
    },
  };
}
