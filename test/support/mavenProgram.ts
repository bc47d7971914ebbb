import { spawn } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { cacheFolder, makeOnce } from '../../dev/cache.ts';
import { errorCode } from '../../domain/errors.ts';
import { StartProblem } from '../../bin/problem.ts';

/** A Java program that is kept in the cache folder. */
interface MavenProgram {
  /** In words, at the beginning of a sentence. */
  title: string;
  /** Without the version: names its folder. */
  name: string;
  version: string;
  /** `group:artifact:version`; what they need comes with them. */
  artifacts: string[];
  /** What follows `java -cp …` in the shell script that starts it. */
  start: string;
  /** The script's name. */
  command: string;
}

const COPY = 'org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies';

/**
 * The path of the script that starts the program, fetched with Maven once for this machine. Callable from several
 * processes at once.
 * @param elsewhere where else it may be had from: a path, or null to go on
 * @throws StartProblem naming what to install
 */
export async function mavenProgram(
  program: MavenProgram,
  elsewhere: () => Promise<string | null> = () => Promise.resolve(null),
): Promise<string> {
  const folder = join(cacheFolder(), `${program.name}-${program.version}`);
  const script = join(folder, program.command);
  const found = existsSync(script) ? null : await elsewhere();
  if (found !== null) return found;
  await makeOnce(folder, (draft) => assemble(program, draft));
  return script;
}

async function assemble(program: MavenProgram, folder: string): Promise<void> {
  console.error(`${program.title} is fetched with Maven, once for this machine …`);
  await run(program, 'java', ['-version'], folder);
  writeFileSync(join(folder, 'pom.xml'), pom(program));
  await run(program, 'mvn', ['-q', '-B', COPY, '-DoutputDirectory=lib', '-DincludeScope=runtime'], folder);
  const java = 'exec java -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xmx512m -cp "$(dirname "$0")/lib/*"';
  writeFileSync(join(folder, program.command), `#!/bin/sh\n${java} ${program.start}\n`, { mode: 0o755 });
}

function pom({ name, artifacts }: MavenProgram): string {
  const dependencies = artifacts.map((artifact) => {
    const [group, id, version] = artifact.split(':');
    return `    <dependency>
      <groupId>${group}</groupId>
      <artifactId>${id}</artifactId>
      <version>${version}</version>
    </dependency>`;
  });
  return `<project>
  <modelVersion>4.0.0</modelVersion>
  <groupId>goniec</groupId>
  <artifactId>${name}</artifactId>
  <version>1</version>
  <dependencies>
${dependencies.join('\n')}
  </dependencies>
</project>
`;
}

function run({ title }: MavenProgram, command: string, args: string[], cwd: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()));
    child.once('error', (error) => {
      const missing = errorCode(error) === 'ENOENT';
      reject(
        missing
          ? new StartProblem(
              `${title} cannot be had and "${command}" is not installed: install a Java runtime (11 or newer) and Maven.`,
            )
          : error,
      );
    });
    child.once('close', (code) => {
      if (code === 0) resolve();
      else reject(new StartProblem(`${title} cannot be fetched with Maven: ${output.trim().slice(-400)}`));
    });
  });
}
