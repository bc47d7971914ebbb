import { ownCommand } from '../support/ownCommand.ts';

// Prometheus' own evaluation of the alert rules; the first run on a machine builds it.
export default ownCommand({ include: 'test/alerts/**/*.test.ts', testMinutes: 1, hookMinutes: 15 });
