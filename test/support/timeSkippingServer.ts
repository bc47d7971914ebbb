import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TimeSkippingTestWorkflowEnvironmentOptions } from '@temporalio/testing';
import { cacheFolder } from '../../bin/embedded/cache.ts';
import { withLock } from '../../bin/embedded/lock.ts';
import { errorCode, StartProblem } from '../../bin/embedded/problem.ts';
import { sdkDownload } from '../../bin/embedded/sdkDownload.ts';

const VERSION = '1.30.1';
// The logging interface's version that this test server asks for; its empty implementation keeps the tests quiet.
const SLF4J_VERSION = '1.7.36';

const POM = `<project>
  <modelVersion>4.0.0</modelVersion>
  <groupId>goniec</groupId>
  <artifactId>test-server</artifactId>
  <version>1</version>
  <dependencies>
    <dependency>
      <groupId>io.temporal</groupId>
      <artifactId>temporal-test-server</artifactId>
      <version>${VERSION}</version>
    </dependency>
    <dependency>
      <groupId>org.slf4j</groupId>
      <artifactId>slf4j-nop</artifactId>
      <version>${SLF4J_VERSION}</version>
    </dependency>
  </dependencies>
</project>
`;

/**
 * The options for `TestWorkflowEnvironment.createTimeSkipping({ server })`: the test server that
 * `@temporalio/testing` downloads, else the same server as a Java program from Maven; either is kept in the cache
 * folder. Callable from several processes at once.
 * @throws StartProblem naming what to install when neither can be had.
 */
export async function timeSkippingServerOptions(): Promise<
  NonNullable<TimeSkippingTestWorkflowEnvironmentOptions['server']>
> {
  return { executable: { type: 'existing-path', path: await findServer() } };
}

async function findServer(): Promise<string> {
  const folder = join(cacheFolder(), `test-server-${VERSION}`);
  const wrapper = join(folder, 'temporal-test-server');
  if (existsSync(wrapper)) return wrapper;
  const wait = () =>
    console.error('Another run on this machine is preparing the test server; waiting for it …');
  return withLock(join(cacheFolder(), 'test-server.lock'), wait, async () => {
    if (existsSync(wrapper)) return wrapper;
    const downloaded = await sdkDownload('test-server', console.error);
    if (downloaded !== null) return downloaded;
    await assemble(folder);
    return wrapper;
  });
}

async function assemble(folder: string): Promise<void> {
  console.error('Fetching the time-skipping test server with Maven, once for this machine …');
  mkdirSync(cacheFolder(), { recursive: true });
  const draft = mkdtempSync(join(cacheFolder(), 'test-server-draft-'));
  try {
    await run('java', ['-version'], draft);
    writeFileSync(join(draft, 'pom.xml'), POM);
    const goal = 'org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies';
    await run('mvn', ['-q', '-B', goal, '-DoutputDirectory=lib', '-DincludeScope=runtime'], draft);
    const java = 'exec java -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xmx512m -cp "$(dirname "$0")/lib/*"';
    writeFileSync(
      join(draft, 'temporal-test-server'),
      `#!/bin/sh\n${java} io.temporal.testserver.TestServer "$@"\n`,
      { mode: 0o755 },
    );
    renameSync(draft, folder);
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}

function run(command: string, args: string[], cwd: string): Promise<void> {
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
              `The time-skipping test server cannot be downloaded and "${command}" is not installed: install a Java runtime (11 or newer) and Maven.`,
            )
          : error,
      );
    });
    child.once('close', (code) => {
      if (code === 0) resolve();
      else
        reject(
          new StartProblem(
            `The time-skipping test server cannot be fetched with Maven: ${output.trim().slice(-400)}`,
          ),
        );
    });
  });
}
