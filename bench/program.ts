import { systemEnvironment } from '../dev/children.ts';
import { startNodeProcess } from '../tools/cluster/nodeProcess.ts';

const READY = /^.*"msg":"(?:API listening|worker started|ready)".*\n/m;

const ends: (() => Promise<unknown>)[] = [];
let ending: Promise<void> | undefined;

/** Has something done when the benchmark ends, the last one first. */
export function atEnd(end: () => Promise<unknown>): void {
  ends.push(end);
}

/** Does what {@link atEnd} was given, once, whoever calls: a benchmark that is broken off leaves nothing running. */
export function endAll(): Promise<void> {
  return (ending ??= (async () => {
    for (const end of ends.reverse()) await end().catch((error: unknown) => console.error(error));
  })());
}

/** A process under measurement, or beside it. */
export interface Program {
  pid: number;
  /** Where it listens; '' where it does not. */
  url: string;
}

/**
 * Starts one of the service's or the benchmark's programs and waits until its log says that it is ready.
 * @param name of its log below `dataDir`
 * @param file below the project's folder
 * @param profiles folder for its CPU profile, written when it ends, or null
 * @throws StartProblem with its last words
 */
export async function startProgram(
  name: string,
  file: string,
  env: Record<string, string>,
  { dataDir, profiles }: { dataDir: string; profiles: string | null },
): Promise<Program> {
  const nodeOptions =
    profiles === null ? [] : ['--cpu-prof', '--cpu-prof-dir', profiles, '--cpu-prof-interval', '500'];
  const child = await startNodeProcess({
    ...{ name, dataDir, program: file, nodeOptions, saying: READY, port: 0 },
    env: { ...systemEnvironment(), ...env },
  });
  atEnd(() => child.stop());
  void child.ended.then((how) => {
    if (ending === undefined) console.error(`${file} ended in the middle of the benchmark: ${how}`);
  });
  const [ready = ''] = READY.exec(child.output()) ?? [];
  return { pid: child.pid, url: /"url":"([^"]+)"/.exec(ready)?.[1] ?? '' };
}
