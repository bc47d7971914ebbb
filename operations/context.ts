import type { Client } from '@temporalio/client';
import type { Logger } from 'pino';
import type { Requester } from '../db/accounts/audit.ts';
import type { RateWindow } from '../db/accounts/keys.ts';
import type { Database } from '../db/connection.ts';
import type { Accepting } from '../db/messages/accept.ts';
import type { Backlog } from '../db/money/reservations.ts';
import type { Routing } from '../domain/routing.ts';

/** What stands behind the operations. */
export interface Services {
  sql: Database;
  temporal: Client;
  /** Accepts messages, of requests that come at the same time together. */
  acceptMessages: (accepting: Accepting) => Promise<void>;
  /** What waits to be started, as known within the last seconds. */
  backlog: () => Promise<Backlog>;
  /** The routes to the providers, as known within the last second. */
  routing: () => Promise<Routing>;
  settings: {
    DEFAULT_SENDER: string;
    WEBHOOK_ALLOW_PRIVATE: boolean;
    /** Beyond so many recipients, or grosze net, somebody has to agree to a send through a tool. */
    MCP_CONFIRM_RECIPIENTS: number;
    MCP_CONFIRM_GROSZE: number;
  };
  /** The installation's secrets key, 32 bytes. */
  secretsKey: Buffer;
  /** Where `/l/…` and `/o/…` are found from outside: with scheme, without a slash at the end. */
  shortUrl: string;
  log: Logger;
}

/** What a key may be used for (v2.3.0, Authentication). */
export type Scope = 'send' | 'read' | 'manage';

/** An account that asks by a key in force, and from where. */
export interface Caller extends Requester {
  accountMode: 'test' | 'live';
  keyMode: 'test' | 'live';
  /** A test key on a live account: it may read, and change nothing. */
  readOnly: boolean;
  scopes: readonly Scope[];
  /** It asks through a tool, by a key that may charge so much a day and no more. */
  toolBudget: boolean;
  /** Where its requests are counted. */
  window: RateWindow;
}

/** One thing that is asked of the service, whichever door it came through. */
export interface OperationContext<Input> {
  services: Services;
  caller: Caller;
  input: Input;
  /** `req_…`. */
  requestId: string;
  /** When it came, epoch milliseconds of this process. */
  receivedAt: number;
  /** Counts it among the account's heavy requests, of which few are under way at once. @throws Refused */
  acquireHeavySlot: () => void;
}
