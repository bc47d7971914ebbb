import { fileURLToPath } from 'node:url';
import { type Child, type DevServer, startChild, untilReady } from '../../dev/children.ts';

/** A process of this repository's own. */
type NodeProcessOptions = {
  /** Logs and the process are called by it: `api-1`. */
  name: string;
  dataDir: string;
  /** The program, from the root of the repository. */
  program: string;
  args?: string[];
  /** Node's own options. */
  nodeOptions?: string[];
  env: NodeJS.ProcessEnv;
  /** What its output has once it is ready. */
  saying: RegExp;
  /** 0 for what listens nowhere. */
  port: number;
};

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/**
 * Starts one of this repository's programs and waits until it says that it is ready.
 * @throws StartProblem with its last words when it does not
 */
export async function startNodeProcess(options: NodeProcessOptions): Promise<Child & DevServer> {
  const { name, dataDir, program, args = [], nodeOptions = [], env, saying, port } = options;
  const child = await startChild({
    dataDir,
    name,
    command: process.execPath,
    args: [...nodeOptions, '--import', 'tsx', program, ...args],
    cwd: ROOT,
    env,
  });
  await untilReady(child, name, () => saying.test(child.output()));
  return { ...child, url: `127.0.0.1:${port}`, port };
}
