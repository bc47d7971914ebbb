import type { TimeSkippingTestWorkflowEnvironmentOptions } from '@temporalio/testing';
import { sdkDownload } from '../../bin/embedded/sdkDownload.ts';
import { mavenProgram } from './mavenProgram.ts';

const VERSION = '1.30.1';
// The logging interface's version that this test server asks for; its empty implementation keeps the tests quiet.
const SLF4J_VERSION = '1.7.36';

const TEST_SERVER = {
  title: 'The time-skipping test server',
  name: 'test-server',
  version: VERSION,
  artifacts: [`io.temporal:temporal-test-server:${VERSION}`, `org.slf4j:slf4j-nop:${SLF4J_VERSION}`],
  start: 'io.temporal.testserver.TestServer "$@"',
  command: 'temporal-test-server',
};

/**
 * The options for `TestWorkflowEnvironment.createTimeSkipping({ server })`: the test server that
 * `@temporalio/testing` downloads, else the same server as a Java program from Maven; either is kept in the cache
 * folder. Callable from several processes at once.
 * @throws StartProblem naming what to install when neither can be had.
 */
export async function timeSkippingServerOptions(): Promise<
  NonNullable<TimeSkippingTestWorkflowEnvironmentOptions['server']>
> {
  const path = await mavenProgram(TEST_SERVER, () => sdkDownload('test-server', console.error));
  return { executable: { type: 'existing-path', path } };
}
