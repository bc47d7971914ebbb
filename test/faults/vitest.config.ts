import { ownCommand } from '../support/ownCommand.ts';

// Breaks the network between real processes under load. The first run on a machine builds what it needs.
export default ownCommand({
  include: 'test/faults/**/*.test.ts',
  testMinutes: 4,
  hookMinutes: 15,
  talks: true,
});
