import { ownCommand } from '../../support/ownCommand.ts';

// Hundreds of messages under way against SMSCs that misbehave.
export default ownCommand({ include: 'test/providers/load/**/*.test.ts', testMinutes: 1, hookMinutes: 2 });
