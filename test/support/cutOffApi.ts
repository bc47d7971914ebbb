import pino from 'pino';
import { inject } from 'vitest';
import { type RunningApi, startApi } from '../../api/server.ts';
import { type Proxy, startProxy, startProxyTo } from './proxy.ts';

/** An API of a test's own whose ways to the database and to Temporal the test can cut or freeze. */
export interface CutOffApi {
  api: RunningApi;
  database: Proxy;
  temporal: Proxy;
  stop: () => Promise<void>;
}

interface Wish {
  trustProxy?: boolean;
  /** Of the database; that of the service unless given. */
  url?: string;
}

/** Starts an API on the servers of the service under test, both reached through a proxy. */
export async function startCutOffApi(wish: Wish = {}): Promise<CutOffApi> {
  const { temporalAddress, secretsKey } = inject('service');
  const { trustProxy = false, url: databaseUrl = inject('service').databaseUrl } = wish;
  const { proxy: database, url } = await startProxyTo(databaseUrl);
  const temporal = await startProxy(Number(temporalAddress.split(':')[1]));
  const api = await startApi({
    databaseUrl: url,
    databasePool: 4,
    temporal: { address: `127.0.0.1:${temporal.port}`, namespace: 'default' },
    config: {
      DEFAULT_SENDER: 'INFO',
      WEBHOOK_ALLOW_PRIVATE: true,
      TRUST_PROXY: trustProxy,
      REQUESTS_AT_ONCE: 100,
      HEAVY_REQUESTS_AT_ONCE: 4,
      MCP_CONFIRM_RECIPIENTS: 10,
      MCP_CONFIRM_GROSZE: 500,
    },
    secretsKey: Buffer.from(secretsKey, 'base64'),
    log: pino({ level: 'silent' }),
    port: 0,
    host: '127.0.0.1',
  });
  return {
    api,
    database,
    temporal,
    async stop() {
      await api.stop();
      await Promise.all([database.close(), temporal.close()]);
    },
  };
}
