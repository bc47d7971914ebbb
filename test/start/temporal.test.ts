import { expect, it, onTestFinished } from 'vitest';
import { findTemporal, startTemporal, temporalWorks } from '../../bin/embedded/temporal.ts';
import { searchAttributesOf } from '../../bin/searchAttributes.ts';
import { SEARCH_ATTRIBUTES } from '../../workflows/contracts.ts';
import { dataFolder } from './support.ts';

it('the embedded Temporal is known to work, to be broken, to be merely busy, or to be gone', async () => {
  const server = await startTemporal({
    binary: await findTemporal({ cliPath: process.env['TEMPORAL_CLI_PATH'], log: () => undefined }),
    dataDir: dataFolder(),
    log: () => undefined,
    searchAttributes: searchAttributesOf(SEARCH_ATTRIBUTES),
  });
  onTestFinished(() => server.stop());
  expect(await temporalWorks(server.address, 'default')).toBe(true);
  expect(await temporalWorks(server.address, 'no-such-namespace')).toBe(false);
  process.kill(server.pid, 'SIGSTOP');
  try {
    expect(await temporalWorks(server.address, 'default', 500)).toBe(true);
  } finally {
    process.kill(server.pid, 'SIGCONT');
  }
  await server.stop();
  expect(await temporalWorks(server.address, 'default', 2_000)).toBe(false);
});
