import { ownCommand } from '../support/ownCommand.ts';

// A verifier that others wrote, in Python; fetched once for a machine.
export default ownCommand({ include: 'test/dkim/**/*.test.ts', testMinutes: 1, hookMinutes: 5 });
