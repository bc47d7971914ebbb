import type { Database } from '../../db/connection.ts';
import { AdminError } from './problems.ts';

/**
 * Opens the database of the running service: DATABASE_URL, else the embedded one found by DATA_DIR.
 * @throws AdminError unavailable when neither is there; ConfigError for a malformed setting
 */
export async function openServiceDatabase(): Promise<Database> {
  const { readConfig } = await import('../config.ts');
  const config = readConfig();
  const url = config.DATABASE_URL ?? (await embeddedUrl(config.DATA_DIR));
  const { LONGEST_TRANSACTION_MS, openDatabase } = await import('../../db/connection.ts');
  // A command that has given up, or whose machine is gone, keeps what it has locked (a route, an account's money) no longer.
  return openDatabase(url, 1, undefined, { transactionMs: LONGEST_TRANSACTION_MS });
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
