import { findTemporal } from '../bin/embedded/temporal.ts';
import { runTests } from './runner/runTests.ts';
import { prepareJsmpp } from './smsc/jsmpp.ts';
import { timeSkippingServerOptions } from './support/timeSkippingServer.ts';

// Each may have to be built or fetched, once for a machine: minutes that no test's patience should have to cover.
async function prepareServers(): Promise<void> {
  await findTemporal({ cliPath: process.env.TEMPORAL_CLI_PATH, log: (line) => console.log(line) });
  await timeSkippingServerOptions();
  await prepareJsmpp();
}

await prepareServers();
process.exitCode = await runTests(process.argv.slice(2));
