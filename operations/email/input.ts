import type { EmailAttachment } from '../../db/emails/accept.ts';
import type { Interface } from '../../domain/interfaces.ts';

/** An e-mail that is asked to be sent (v1.2.0, POST /v1/email, and ours beyond it); all addresses as `emailAddress` makes them. */
export interface EmailInput {
  interface: Interface;
  to: readonly string[];
  cc: readonly string[];
  bcc: readonly string[];
  subject: string;
  html: string | null;
  text: string | null;
  /** Null: `noreply` at the account's default domain. */
  from: string | null;
  fromName: string | null;
  replyTo: string | null;
  idx: string | null;
  headers: readonly (readonly [name: string, value: string])[];
  attachments: readonly EmailAttachment[];
  /** Whether it offers one-click unsubscribing. */
  listUnsubscribe: boolean;
}
