import { ownCommand } from '../support/ownCommand.ts';

// Kills real processes under load.
export default ownCommand({
  include: 'test/crash/**/*.test.ts',
  testMinutes: 5 * Number(process.env['CRASH_ROUNDS'] ?? 1),
  hookMinutes: 1,
  talks: true,
});
