import type { Client } from '@temporalio/client';
import type { Logger } from 'pino';
import type { Requester } from '../db/accounts/audit.ts';
import type { Database } from '../db/connection.ts';
import type { Accepting } from '../db/messages/accept.ts';
import type { Backlog } from '../db/money/reservations.ts';
import type { KeyActor, Scope } from '../domain/actor.ts';
import type { Routing } from '../domain/routing.ts';

export interface Services {
  sql: Database;
  temporal: Client;
  acceptMessages: (accepting: Accepting) => Promise<void>;
  /** Messages accepted but not started, cached for some seconds. */
  backlog: () => Promise<Backlog>;
  routing: () => Promise<Routing>;
  settings: {
    DEFAULT_SENDER: string;
    WEBHOOK_ALLOW_PRIVATE: boolean;
    /** A send by an MCP tool needs confirmation above this many recipients, or grosze net. */
    MCP_CONFIRM_RECIPIENTS: number;
    MCP_CONFIRM_GROSZE: number;
  };
  /** The installation's encryption key, 32 bytes. */
  secretsKey: Buffer;
  /** Public base URL of `/l/…` and `/o/…`: with scheme, without trailing slash. */
  shortUrl: string;
  log: Logger;
}

/** The account behind an authenticated request, and who asks for it. */
export interface Caller extends Requester {
  accountMode: 'test' | 'live';
  /** A test key on a live account: read-only. */
  readOnly: boolean;
  scopes: readonly Scope[];
}

/** A caller with a key: every one of the interfaces and tools. */
export interface KeyCaller extends Caller {
  actor: KeyActor;
}

/** One request, whichever interface it came through. */
export interface OperationContext<Input> {
  services: Services;
  caller: Caller;
  input: Input;
  requestId: string;
  /** Epoch milliseconds. */
  receivedAt: number;
  /** Counts the request as heavy; an account may run only a few of those concurrently. @throws Refused */
  acquireHeavySlot: () => void;
}
