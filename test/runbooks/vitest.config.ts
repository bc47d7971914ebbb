import { ownCommand } from '../support/ownCommand.ts';

// Follows the runbooks of docs/runbooks.md, and asks the queries of ops/temporal, as an operator would.
export default ownCommand({
  include: 'test/runbooks/**/*.test.ts',
  testMinutes: 5,
  hookMinutes: 3,
  talks: true,
});
