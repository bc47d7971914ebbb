import type { Channel } from '../../domain/channels.ts';

/** What a send, or its estimate, is asked with (v2.3.0, Send); fields as there, read and checked one by one. */
export interface SendInput {
  /** Numbers in one of the three formats, and groups as `group:<id or name>`. */
  to: string | readonly string[];
  /** `DEFAULT_CHANNEL` unless told. */
  channel?: Channel | undefined;
  text?: string | undefined;
  template_id?: string | undefined;
  params?: Readonly<Record<string, string>> | undefined;
  from?: string | undefined;
  /** Epoch milliseconds, as `expires_at`. */
  send_at?: number | undefined;
  send_window?: string | undefined;
  expires_at?: number | undefined;
  reference?: string | undefined;
  priority?: boolean | undefined;
}
