import type { Database } from '../db/connection.ts';
import type { ProcessorName } from '../domain/payments.ts';
import type { Services as OperationServices } from '../operations/context.ts';
import type { Admission } from './http/admission.ts';
import type { KeyLookups } from './http/authentication.ts';

/** Environment variables that handlers depend on. */
export interface ApiSettings {
  DEFAULT_SENDER: string;
  WEBHOOK_ALLOW_PRIVATE: boolean;
  TRUST_PROXY: boolean;
  /** `/simulator` is also open to others than this machine. */
  SIMULATOR_PUBLIC: boolean;
  REQUESTS_AT_ONCE: number;
  HEAVY_REQUESTS_AT_ONCE: number;
  MCP_CONFIRM_RECIPIENTS: number;
  MCP_CONFIRM_GROSZE: number;
  OWN_EMAIL_ACCOUNT?: string | undefined;
  /** Asked about the records of sender domains; the system's by default. */
  DNS_SERVERS?: readonly string[] | undefined;
  /** Of the installation on a Polish day: codes to people's own numbers; e-mails to sign in by, to anybody and in all. */
  NUMBER_CODES_A_DAY: number;
  SIGN_UP_EMAILS_A_DAY: number;
  SIGN_IN_EMAILS_A_DAY: number;
  PAYMENT_PROCESSOR?: ProcessorName | undefined;
  STRIPE_WEBHOOK_SECRETS?: readonly string[] | undefined;
}

export interface Services extends OperationServices {
  /** A few reserved connections for the short statements that every request starts with: keys, health, routes. */
  priorityPool: Database;
  keyLookups: KeyLookups;
  admission: Admission;
  settings: ApiSettings;
  /** Public URL of the API; null if only this machine reaches it. */
  publicUrl: string | null;
  /** Public URL of the MCP server, if it has one of its own. */
  mcpUrl: string | null;
  /** Where people open the panel, without `/panel`: an address of its own, else the public URL, else the local one. */
  panelUrl: string;
  /** Host and port of the panel's own address; null: it is wherever the API is. */
  panelHost: string | null;
  /** Sends the e-mails that people sign in by; null: nobody can. */
  ownEmailAccount: string | null;
}
