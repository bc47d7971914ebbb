import pino from 'pino';
import { inject } from 'vitest';
import { mounts } from '../../bin/mounts.ts';
import { type ApiOptions, type RunningApi, startApi } from '../../api/server.ts';

/** What an API does otherwise than the usual one under test. */
type Wish = Partial<Omit<ApiOptions, 'config'>> & { config?: Partial<ApiOptions['config']> };

/**
 * Starts an API of a test's own in this process, on the servers of the service under test unless others are given: one more of a cluster.
 * It logs nothing unless told where to.
 */
export async function startOwnApi({ config, ...wish }: Wish = {}): Promise<RunningApi> {
  const { databaseUrl, temporalAddress, temporalNamespace, secretsKey } = inject('service');
  return await startApi({
    databaseUrl,
    databasePool: 4,
    temporal: { address: temporalAddress, namespace: temporalNamespace },
    config: {
      DEFAULT_SENDER: 'INFO',
      WEBHOOK_ALLOW_PRIVATE: true,
      TRUST_PROXY: false,
      SIMULATOR_PUBLIC: false,
      REQUESTS_AT_ONCE: 100,
      HEAVY_REQUESTS_AT_ONCE: 4,
      MCP_CONFIRM_RECIPIENTS: 10,
      MCP_CONFIRM_GROSZE: 500,
      NUMBER_CODES_A_DAY: 100_000,
      SIGN_UP_EMAILS_A_DAY: 100_000,
      SIGN_IN_EMAILS_A_DAY: 100_000,
      ...config,
    },
    secretsKey: Buffer.from(secretsKey, 'base64'),
    log: pino({ level: 'silent' }),
    mounts: mounts,
    port: 0,
    host: '127.0.0.1',
    ...wish,
  });
}
