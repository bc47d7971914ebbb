import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { startNodeProcess } from '../../tools/cluster/nodeProcess.ts';
import { freePort } from '../../bin/embedded/ports.ts';
import { runAdmin, systemSettings } from '../crash/installation.ts';

/** One process of a release. */
export interface Part {
  /** The API's address; a worker listens nowhere. */
  url: string;
  /** Ends it as an operator would. */
  stop(): Promise<void>;
}

/** A release of the service, on servers that other releases use as well. */
export interface Release {
  migrate(): Promise<string>;
  start(part: 'api' | 'worker'): Promise<Part>;
  admin(...words: string[]): Promise<Record<string, unknown>>;
}

/** Where the servers of all releases are, and where logs go. */
export interface Servers {
  databaseUrl: string;
  temporalAddress: string;
  dataDir: string;
  secretsKey: string;
}

/**
 * @param name of its processes' logs
 * @param root the folder of its sources
 */
export function releaseIn(name: string, root: string, servers: Servers): Release {
  const settings = {
    DATABASE_URL: servers.databaseUrl,
    TEMPORAL_ADDRESS: servers.temporalAddress,
    DATA_DIR: servers.dataDir,
    SECRETS_KEY: servers.secretsKey,
    HOST: '127.0.0.1',
    WEBHOOK_ALLOW_PRIVATE: 'true',
  };
  const env = { ...systemSettings(), ...settings };
  return {
    async migrate() {
      const args = ['--import', 'tsx', 'bin/migrate.ts'];
      return (await promisify(execFile)(process.execPath, args, { cwd: root, env })).stdout;
    },
    async start(part) {
      const port = part === 'api' ? await freePort() : 0;
      const saying = part === 'api' ? '"the API listens"' : '"the worker takes work"';
      const started = await startNodeProcess({
        ...{ name: `${name}-${part}`, dataDir: servers.dataDir, root, program: `bin/${part}.ts` },
        ...{ env: { ...env, PORT: String(port) }, saying, port },
      });
      return { url: `http://${started.url}`, stop: () => started.stop() };
    },
    admin: (...words) => runAdmin(settings, words, root),
  };
}
