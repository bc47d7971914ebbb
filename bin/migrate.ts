import { migrate } from '../db/migrate.ts';
import { readConfig } from './config.ts';
import { awaitDatabase, awaitTemporal, connectTo, withTemporal } from './connections.ts';
import { runTask } from './process.ts';
import { addSearchAttributes } from './searchAttributes.ts';

const PATIENCE_MS = 30_000;

await runTask(async () => {
  const config = readConfig();
  const { databaseUrl, temporal } = connectTo(config, 'owner');
  await awaitDatabase(databaseUrl, PATIENCE_MS);
  const applied = await migrate(databaseUrl);
  console.log(applied.length === 0 ? 'The schema is up to date.' : `Applied: ${applied.join(', ')}.`);
  await awaitTemporal(temporal, PATIENCE_MS);
  const added = await withTemporal(temporal, (connection) =>
    addSearchAttributes(connection, temporal.namespace),
  );
  console.log(
    added.length === 0 ? 'The search attributes are there.' : `Search attributes added: ${added.join(', ')}.`,
  );
});
