import { spawn } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import { Connection } from '@temporalio/client';
import { InternalConnectionOptionsSymbol } from '@temporalio/client/lib/connection.js';
import { msToTs, tsToMs } from '@temporalio/common/lib/time.js';
import { freePort } from '../../bin/ports.ts';
import { downloadedTestServer } from './sdkDownload.ts';
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

const START_PATIENCE_MS = 240_000;
const ASK_AGAIN_MS = 200;

/**
 * The path of the time-skipping test server: the one that `@temporalio/testing` downloads, else the same server as a Java program from
 * Maven; either is kept in the cache folder. Callable from several processes at once.
 * @throws StartProblem naming what to install when neither can be had.
 */
export function findTimeSkippingServer(): Promise<string> {
  return mavenProgram(TEST_SERVER, downloadedTestServer);
}

/** A Temporal server whose clock stands still until a test lets it pass. */
interface TimeSkippingServer {
  address: string;
  connection: Connection;
  /** Lets the server's time pass; workflow timers fire, nobody waits. */
  sleep(ms: number): Promise<void>;
  /** The server's time, epoch milliseconds. */
  now(): Promise<number>;
  stop(): Promise<void>;
}

/** Starts one, not by the SDK: that gives it five seconds, and a busy machine may need them for a JVM alone. */
export async function startTimeSkippingServer(): Promise<TimeSkippingServer> {
  const port = await freePort();
  const server = spawn(await findTimeSkippingServer(), [String(port)], { stdio: 'ignore' });
  const address = `127.0.0.1:${port}`;
  const connection = await connectTo(address).catch((error: unknown) => {
    server.kill();
    throw error;
  });
  const { testService } = connection;
  return {
    address,
    connection,
    async sleep(ms) {
      await testService!.unlockTimeSkippingWithSleep({ duration: msToTs(ms) });
    },
    async now() {
      return tsToMs((await testService!.getCurrentTime({})).time);
    },
    async stop() {
      await connection.close();
      server.kill();
    },
  };
}

async function connectTo(address: string): Promise<Connection> {
  const deadline = Date.now() + START_PATIENCE_MS;
  for (;;) {
    try {
      const withTestService = { [InternalConnectionOptionsSymbol]: { supportsTestService: true } };
      return await Connection.connect({ address, ...withTestService });
    } catch (error) {
      if (Date.now() > deadline) throw error;
      await delay(ASK_AGAIN_MS);
    }
  }
}
