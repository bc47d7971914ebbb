import type { Database } from '../../db/connection.ts';
import { AdminError } from './problems.ts';

// A command whose machine is gone in the middle of a transaction keeps what it has locked (an account's money, say) no longer.
const IDLE_MS = 70_000;

/**
 * Opens the database of the running service: DATABASE_URL, else the embedded one found by DATA_DIR.
 * @throws AdminError unavailable when neither is there; ConfigError for a malformed setting
 */
export async function openServiceDatabase(): Promise<Database> {
  const { readConfig } = await import('../config.ts');
  const config = readConfig();
  const url = config.DATABASE_URL ?? (await embeddedUrl(config.DATA_DIR));
  const { openDatabase } = await import('../../db/connection.ts');
  return openDatabase(url, 1, undefined, { idleMs: IDLE_MS });
}

async function embeddedUrl(dataDir: string): Promise<string> {
  const { readRunFile } = await import('../embedded/runfile.ts');
  const { urlOf } = await import('../connections.ts');
  const url = urlOf(readRunFile(dataDir), 'admin');
  if (url === undefined) {
    throw new AdminError(
      'unavailable',
      `No service is running in ${dataDir}; start it with npm start, or set DATA_DIR or DATABASE_URL.`,
    );
  }
  return url;
}
