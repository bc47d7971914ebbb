import { inject } from 'vitest';
import type { RunningApi } from '../../api/server.ts';
import { startOwnApi } from './ownApi.ts';
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
  const { temporalAddress, temporalNamespace } = inject('service');
  const { trustProxy = false, url: databaseUrl = inject('service').databaseUrl } = wish;
  const { proxy: database, url } = await startProxyTo(databaseUrl);
  const temporal = await startProxy(Number(temporalAddress.split(':')[1]));
  const api = await startOwnApi({
    databaseUrl: url,
    temporal: { address: `127.0.0.1:${temporal.port}`, namespace: temporalNamespace },
    config: { TRUST_PROXY: trustProxy },
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
