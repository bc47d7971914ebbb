import type { Database } from '../db/connection.ts';
import type { Services as OperationServices } from '../operations/context.ts';
import type { Admission } from './http/admission.ts';
import type { KeyLookups } from './http/authentication.ts';

/** Settings that handlers depend on; names as in the environment. */
export interface ApiSettings {
  DEFAULT_SENDER: string;
  WEBHOOK_ALLOW_PRIVATE: boolean;
  TRUST_PROXY: boolean;
  REQUESTS_AT_ONCE: number;
  HEAVY_REQUESTS_AT_ONCE: number;
  MCP_CONFIRM_RECIPIENTS: number;
  MCP_CONFIRM_GROSZE: number;
}

/** What stands behind the handlers: what the operations need, and what HTTP does. */
export interface Services extends OperationServices {
  /** A few connections apart, for what every request begins with and everybody waits for: keys, health, routes. No statement of it takes long. */
  priorityPool: Database;
  /** Of keys and tokens, on the same connections. */
  keyLookups: KeyLookups;
  /** What one account may keep under way. */
  admission: Admission;
  settings: ApiSettings;
  /** As which address people outside see the API; null: this machine's alone. */
  publicUrl: string | null;
  /** The address of the assistant tools, where they have one of their own beside it. */
  mcpUrl: string | null;
}
