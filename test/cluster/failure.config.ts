import { ownCommand } from '../support/ownCommand.ts';

// Kills each process of a cluster in turn under load.
export default ownCommand({
  include: 'test/cluster/**/*.test.ts',
  testMinutes: 15 * Number(process.env['CLUSTER_ROUNDS'] ?? 1),
  hookMinutes: 2,
  talks: true,
});
