import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { withTemporal } from '../bin/connections.ts';
import { addSearchAttributes, searchAttributes } from '../bin/searchAttributes.ts';
import { type DevServer, endLeftover, startChild, systemEnvironment, untilReady } from './children.ts';
import { keptPort, prepareDataDir } from './dataDir.ts';
import { randomLoopbackAddress, openUiGate } from './uiGate.ts';

type TemporalOptions = {
  binary: string;
  /** Temporal's whole state is in `temporal.db` below it. */
  dataDir: string;
  /** Created if missing; by default `default`. */
  namespace?: string;
  pragmas?: string[];
  env?: Record<string, string>;
};

const NAME = 'temporal';
// The Web UI's port in Temporal's own tools.
const USUAL_UI_PORT = 8233;

/** Starts Temporal (`url` is host:port) and its Web UI; waits for namespace and search attributes. @throws StartProblem when it does not come up */
export async function startTemporal(options: TemporalOptions): Promise<DevServer & { uiUrl: string }> {
  const { binary, dataDir, namespace = 'default', pragmas = [], env = {} } = options;
  prepareDataDir(dataDir);
  await endLeftover(dataDir, NAME);
  const port = await keptPort(dataDir, NAME);
  const uiPort = await keptPort(dataDir, 'temporal-ui', USUAL_UI_PORT);
  const ui = await randomLoopbackAddress();
  const flags = {
    ip: ['127.0.0.1'],
    port: [port],
    'ui-ip': [ui.host],
    'ui-port': [ui.port],
    'db-filename': [join(dataDir, 'temporal.db')],
    namespace: [namespace],
    // Every state transition is a commit: the write-ahead log halves its cost.
    'sqlite-pragma': ['journal_mode=wal', ...pragmas],
    'log-level': ['warn'],
    'log-format': ['json'],
    'search-attribute': searchAttributes.map(({ name, typeName }) => `${name}=${typeName}`),
    'dynamic-config-value': serverSettings(),
  };
  const args = Object.entries(flags).flatMap(([flag, values]) => values.map((value) => `--${flag}=${value}`));
  const child = await startChild({
    dataDir,
    name: NAME,
    command: binary,
    args: ['server', 'start-dev', ...args],
    env: { ...systemEnvironment(), ...env },
  });
  const url = `127.0.0.1:${port}`;
  await untilReady(child, 'Temporal', () => serves(url, namespace));
  const closeGate = await openUiGate(uiPort, ui);
  void child.ended.then(closeGate);
  return { ...child, url, port, uiUrl: `http://127.0.0.1:${uiPort}` };
}

// The same settings as in Docker, `key=value` each.
function serverSettings(): string[] {
  const yaml = readFileSync(new URL('../docker/temporal.yaml', import.meta.url), 'utf8');
  const settings = yaml.matchAll(/^([\w.]+):\n {2}- value: (.+)$/gm);
  return [...settings].map(([, key, value]) => `${key}=${value!.replaceAll("'", '"')}`);
}

async function serves(address: string, namespace: string): Promise<boolean> {
  try {
    return await withTemporal({ address, namespace }, async (connection) => {
      await connection.workflowService.describeNamespace({ namespace });
      // The command line registers them for a new namespace only; this one may be of an earlier release.
      return (await addSearchAttributes(connection, namespace)).length === 0;
    });
  } catch {
    return false;
  }
}
