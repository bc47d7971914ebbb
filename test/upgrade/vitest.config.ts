import { ownCommand } from '../support/ownCommand.ts';

// Two releases one after the other on a real Temporal server.
export default ownCommand({
  include: 'test/upgrade/**/*.test.ts',
  testMinutes: 15,
  hookMinutes: 15,
  talks: true,
});
