import type { Interface } from '../../domain/interfaces.ts';

/** A file that is asked to be sent. */
export interface AttachmentInput {
  filename: string;
  contentType: string;
  contentId: string | null;
  bytes: number;
  /** Its bytes, in pieces whose length is a multiple of three, but for the last. */
  pieces: readonly Buffer[];
}

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
  attachments: readonly AttachmentInput[];
  /** Whether it offers one-click unsubscribing. */
  listUnsubscribe: boolean;
}
