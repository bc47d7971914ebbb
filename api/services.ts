import type { Client } from '@temporalio/client';
import type { Logger } from 'pino';
import type { Database } from '../db/connection.ts';
import type { Routing } from '../domain/routing.ts';
import type { Admission } from './http/admission.ts';
import type { ChargeNews } from './messages/chargeNews.ts';

/** Settings that handlers depend on; names as in the environment. */
export interface ApiSettings {
  DEFAULT_SENDER: string;
  WEBHOOK_ALLOW_PRIVATE: boolean;
  TRUST_PROXY: boolean;
  REQUESTS_AT_ONCE: number;
  HEAVY_REQUESTS_AT_ONCE: number;
}

/** What stands behind the handlers. */
export interface Services {
  /** Shared out fairly among the accounts that ask: whatever one keeps under way, others find a connection. */
  sql: Database;
  /** A few connections apart, for what every request begins with and everybody waits for: keys, health, routes. No statement of it takes long. */
  front: Database;
  /** What one account may keep under way. */
  admission: Admission;
  temporal: Client;
  charges: ChargeNews;
  /** The routes to the operators, as known within the last second. */
  routing: () => Promise<Routing>;
  settings: ApiSettings;
  /** The installation's secrets key, 32 bytes. */
  secretsKey: Buffer;
  /** Where `/l/…` and `/o/…` are found from outside: with scheme, without a slash at the end. */
  shortUrl: string;
  log: Logger;
}
