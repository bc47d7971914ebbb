import { copyFile, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';

export const MIGRATIONS = fileURLToPath(new URL('../../db/migrations', import.meta.url));

/**
 * Makes a folder with the migrations of the product and, after them, a test's own.
 * @param scripts by name, in their order
 * @returns the folder, and what `migrate` calls the test's own
 */
export async function withMigrations(
  scripts: Record<string, string>,
): Promise<{ folder: string; names: string[] }> {
  const folder = await mkdtemp(join(tmpdir(), 'goniec-migrations-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const files = (await readdir(MIGRATIONS)).sort();
  for (const file of files) await copyFile(join(MIGRATIONS, file), join(folder, file));
  const last = Number.parseInt(files.at(-1)!, 10);
  const own = Object.entries(scripts).map(([name, script], index) => ({
    ...{ name, script, version: last + 1 + index },
  }));
  for (const { name, script, version } of own)
    await writeFile(join(folder, `${String(version).padStart(3, '0')}.do.${name}.sql`), script);
  return { folder, names: own.map(({ name, version }) => `${version} ${name}`) };
}
