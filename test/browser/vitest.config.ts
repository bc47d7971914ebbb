import { ownCommand } from '../support/ownCommand.ts';

// Opens the public pages in a real browser, which may have to be fetched first. The documentation page is long, and axe
// asks for the colours behind every word of it.
export default ownCommand({
  include: 'test/browser/**/*.test.ts',
  globalSetup: 'test/support/globalSetup.ts',
  testMinutes: 3,
  hookMinutes: 5,
});
