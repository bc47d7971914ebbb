import type { Channel } from '../../domain/channelNames.ts';
import type { Voice } from '../../domain/channels/vms.ts';
import type { Interface } from '../../domain/interfaces.ts';
import type { Encoding } from '../../domain/parts.ts';

/** What a send, or its estimate, is asked with (v2.3.0, Send); fields as there, read and checked one by one. */
export interface SendInput {
  /** Numbers in one of the three formats, and groups as `group:<id or name>`. */
  to: string | readonly string[];
  /** The most recipients there may be; 500 by default (v2.3.0, Limits). */
  recipientsMax?: number | undefined;
  /** `DEFAULT_CHANNEL` by default. */
  channel?: Channel | undefined;
  text?: string | undefined;
  /** What an MMS says instead of `text`. */
  smil?: string | undefined;
  /** Of an MMS; its template's by default. */
  subject?: string | undefined;
  /** Who reads a call's text aloud; `ewa` by default. */
  voice?: Voice | undefined;
  /** Attempts of a call, 1 to 6; 1 by default. */
  tries?: number | undefined;
  template_id?: string | undefined;
  params?: Readonly<Record<string, string>> | undefined;
  from?: string | undefined;
  /** Epoch milliseconds, as `expires_at`. */
  send_at?: number | undefined;
  send_window?: string | undefined;
  expires_at?: number | undefined;
  reference?: string | undefined;
  priority?: boolean | undefined;
  /** Whether the text is sent as it is written, with no placeholders in it. */
  literal?: boolean | undefined;
  /** What an SMS goes as, whatever its text would need; as the text needs it by default. */
  encoding?: Encoding | undefined;
  /** Brings the text into GSM-7 once it is written out, contacts' values included. */
  normalize?: boolean | undefined;
  /** Shown at once, and not stored by the phone; SMS only. */
  flash?: boolean | undefined;
  /** Which interface it is asked through; the current one by default. */
  interface?: Interface | undefined;
  /** The caller's identifier of one message of the earlier interface (v1.2.0, POST /v1/sms); at most `IDX_MAX` characters. */
  idx?: string | undefined;
}
