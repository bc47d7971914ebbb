import type { TestProject } from 'vitest/node';
import { startServers } from '../support/startServers.ts';
import type { Servers } from '../support/servers.ts';

type Starting = ReturnType<typeof startServers>;

declare global {
  // Each project of a run loads this file anew; what they share is the process's.
  var sharedServers: { starting: Starting; users: number } | undefined;
}

/** One PostgreSQL and one Temporal for all files of a run; gone without a trace when the last project has ended. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const { servers, release } = await useServers();
  project.provide('servers', servers);
  return release;
}

/** The run's servers, started by whoever asks first, until each has released them. */
export async function useServers(): Promise<{ servers: Servers; release: () => Promise<void> }> {
  const shared = (globalThis.sharedServers ??= { starting: startServers(), users: 0 });
  shared.users += 1;
  const { stop, ...servers } = await shared.starting;
  return {
    servers,
    async release() {
      shared.users -= 1;
      if (shared.users > 0) return;
      globalThis.sharedServers = undefined;
      await stop();
    },
  };
}
