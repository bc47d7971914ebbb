import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { prepareDataDir } from '../../bin/embedded/dataDir.ts';
import { startPostgres } from '../../bin/embedded/postgres.ts';
import { migrate } from '../../db/migrate.ts';

/** The data folder that a run made with {@link makeTemplate}; without it each server makes a cluster and migrates it. */
export const TEMPLATE_VARIABLE = 'TEST_DATABASE_TEMPLATE';

const KEPT = ['postgres', 'postgres.password'];
const run = promisify(execFile);

/** Makes a PostgreSQL cluster with this product's tables, nothing in them, in an empty folder; it does not run afterwards. */
export async function makeTemplate(dataDir: string): Promise<void> {
  const server = await startPostgres({ dataDir, log: () => undefined });
  try {
    await migrate(server.url);
  } finally {
    await server.stop();
  }
}

/** Gives a new data folder the cluster of this run's template, where there is one: faster than making and migrating it. */
export async function copyTemplate(dataDir: string): Promise<void> {
  const template = process.env[TEMPLATE_VARIABLE];
  if (template === undefined || !existsSync(join(template, 'postgres'))) return;
  prepareDataDir(dataDir);
  // With its owner: PostgreSQL runs as another user where we are root.
  await run('cp', ['-Rp', ...KEPT.map((name) => join(template, name)), dataDir]);
}
