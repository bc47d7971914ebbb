import { ownCommand } from '../support/ownCommand.ts';

// What the protocol's authors and others wrote to check servers and to try them by hand; fetched once for a machine.
export default ownCommand({
  include: 'test/mcp/**/*.test.ts',
  globalSetup: 'test/support/globalSetup.ts',
  testMinutes: 2,
  hookMinutes: 10,
});
