import { findTemporal } from '../bin/embedded/temporal.ts';
import { runTests, runWhole } from './runner/runTests.ts';
import { withSharedFolder } from './runner/sharedFolder.ts';
import { prepareJsmpp } from './smsc/jsmpp.ts';
import { TEMPLATE_VARIABLE } from './support/databaseTemplate.ts';
import { timeSkippingServerOptions } from './support/timeSkippingServer.ts';

// Each may have to be built or fetched, once for a machine: minutes that no test's patience should have to cover.
async function prepareServers(): Promise<void> {
  await findTemporal({ cliPath: process.env.TEMPORAL_CLI_PATH, log: (line) => console.log(line) });
  await timeSkippingServerOptions();
  await prepareJsmpp();
}

/** All tests, with what they share. Those that are asked for by name run as they do with vitest alone. */
function runAll(): Promise<number> {
  return withSharedFolder((_, template) => {
    process.env[TEMPLATE_VARIABLE] = template;
    return runWhole();
  });
}

const args = process.argv.slice(2);
await prepareServers();
process.exitCode = args.length === 0 ? await runAll() : await runTests(args);
