import { ownCommand } from '../support/ownCommand.ts';

// The tests of the API against two Temporal servers on PostgreSQL, two workers and two APIs behind balancers.
export default ownCommand({
  include: 'test/api/**/*.test.ts',
  globalSetup: 'test/cluster/globalSetup.ts',
  testMinutes: 1,
  hookMinutes: 2,
});
