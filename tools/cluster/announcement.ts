import type { ClusterFile } from './clusterFile.ts';
import type { Member } from './members.ts';
import type { Cluster } from './servers.ts';

/** What the terminal shows once everything runs: what listens where, and how to go on. */
export function announcement(
  { apiUrl, temporalAddress }: Omit<ClusterFile, 'processes'>,
  members: Member[],
  { config, dataDir, options }: Pick<Cluster, 'config' | 'dataDir' | 'options'>,
): string {
  const rows = members.map(
    ({ name, pid, address }) => `  ${name.padEnd(14)}pid ${String(pid).padEnd(9)}${address ?? ''}`,
  );
  return `
The cluster is running; data and logs are in ${dataDir}.

${rows.join('\n')}

  Temporal      ${temporalAddress}, namespace "${config.TEMPORAL_NAMESPACE}" (the balancer, in front of all servers)${
    apiUrl === null ? '' : `\n  API           ${apiUrl} (the balancer, in front of all APIs)`
  }

Commands of this installation: DATA_DIR=${dataDir} npm run admin -- …
${options.restart ? 'A process that ends is started again. ' : ''}Ctrl-C stops everything in order.`;
}
