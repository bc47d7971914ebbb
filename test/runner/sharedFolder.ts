import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildBundle, isBuilt } from '../../worker/bundle.ts';
import { makeTemplate } from '../support/databaseTemplate.ts';
import { memoryFolder } from './memoryFolder.ts';

/**
 * Makes once what dozens of workers and servers would otherwise make again each for itself: the bundle of the workflows, and a
 * database to copy. All is gone afterwards but the bundle.
 * @param work gets the folder for the data of servers, and that of the database's template in it
 */
export async function withSharedFolder<T>(
  work: (folder: string, template: string) => Promise<T>,
): Promise<T> {
  const folder = memoryFolder() ?? (await mkdtemp(join(tmpdir(), 'goniec-tests-')));
  try {
    // PostgreSQL runs as another user when we are root, and has to get in.
    await chmod(folder, 0o711);
    if (!(await isBuilt())) await buildBundle();
    const template = join(folder, 'template');
    process.env.TMPDIR = folder;
    await makeTemplate(template);
    return await work(folder, template);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
