import type { Channel } from './channelDeclaration.ts';
import { rulesOf } from './channels.ts';
import { type MessageStatus, reasonText } from './statuses.ts';

export interface MessageRow {
  id: string;
  channel: Channel;
  status: MessageStatus;
  /** MSISDN in E.164 with plus. */
  recipient: string;
  sender: string | null;
  text: string;
  /** Channel-specific content besides the text. */
  content: object | null;
  parts: number;
  costGrosze: number;
  priority: boolean;
  reference: string | null;
  sendAt: Date | null;
  expiresAt: Date | null;
  deliveredAt: Date | null;
  errorCode: string | null;
  createdAt: Date;
  updatedAt: Date;
}

/** v2.3.0, Message. */
export type MessageRecord = ReturnType<typeof messageRecord>;

/** Presents a stored message (v2.3.0, Message), grosze net. `error` is a Polish sentence, only of a failed or rejected message. */
export function messageRecord(row: MessageRow) {
  return {
    id: row.id,
    type: row.channel,
    status: row.status,
    to: row.recipient,
    from: row.sender,
    ...rulesOf(row.channel).show(row),
    parts: row.parts,
    cost_grosze: row.costGrosze,
    priority: row.priority,
    reference: row.reference,
    send_at: row.sendAt?.toISOString() ?? null,
    expires_at: row.expiresAt?.toISOString() ?? null,
    delivered_at: row.deliveredAt?.toISOString() ?? null,
    error: errorOf(row),
    created_at: row.createdAt.toISOString(),
    updated_at: row.updatedAt.toISOString(),
  };
}

function errorOf({ status, errorCode: code }: MessageRow): string | null {
  return code !== null && (status === 'failed' || status === 'rejected') ? reasonText(code) : null;
}
