import type { TestProject } from 'vitest/node';
import { SHORT_URL } from '../support/service.ts';
import { startCluster } from './cluster.ts';

/** The service under test as a cluster: every test that asks for it meets the balancers. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const cluster = await startCluster([], { SHORT_URL });
  const { apiUrls, databaseUrl, temporalAddress, dataDir, secretsKey } = cluster;
  const servers = { databaseUrl, temporalAddress, temporalNamespace: 'default', dataDir, secretsKey };
  project.provide('service', { apiUrl: apiUrls[0]!, ...servers });
  return () => cluster.stop();
}
