import type { Interface } from '../../domain/interfaces.ts';
import type { Database, Sql } from '../connection.ts';
import { claimKey, type KeyClaim, KeyTakenError } from '../messages/drafts.ts';
import { type EmailLimits, fileBytesOf, withRoom } from './room.ts';

/** An address of an e-mail. */
export interface EmailRecipient {
  kind: 'to' | 'cc' | 'bcc';
  address: string;
  /** On the account's suppression list: left out, and free. */
  suppressed: boolean;
}

/** A file, in pieces whose length is a multiple of three, but for the last. */
export interface EmailAttachment {
  filename: string;
  contentType: string;
  contentId: string | null;
  bytes: number;
  pieces: readonly Buffer[];
}

/** An e-mail before its charge: invisible to every read, and never sent unless the charge accepts it. */
export interface EmailDraft {
  id: string;
  accountId: string;
  requestId: string;
  interface: Interface;
  route: string;
  domain: string;
  fromAddress: string;
  fromName: string | null;
  replyTo: string | null;
  subject: string;
  headers: readonly (readonly [name: string, value: string])[];
  idx: string | null;
  unsubscribeToken: string | null;
  /** Grosze net. */
  costGrosze: number;
  testCredits: number;
  recipients: readonly EmailRecipient[];
  html: string | null;
  text: string | null;
  attachments: readonly EmailAttachment[];
  createdAt: Date;
  giveUpAt: Date;
}

/**
 * Writes an e-mail with all that belongs to it, and the claim of its key where it has one: all or nothing.
 * @returns false when the key is taken
 * @throws QuotaReachedError
 */
export async function writeEmailDraft(
  sql: Database,
  draft: EmailDraft,
  claim: KeyClaim | null,
  limits: EmailLimits,
): Promise<boolean> {
  try {
    await withRoom(sql, draft, limits, async (tx) => {
      if (claim !== null) await claimKey(tx, draft.accountId, draft.requestId, claim);
      await insertEmail(tx, draft);
      await insertAttachments(tx, draft);
    });
    return true;
  } catch (error) {
    if (error instanceof KeyTakenError) return false;
    throw error;
  }
}

async function insertEmail(tx: Sql, draft: EmailDraft): Promise<void> {
  const { id, recipients } = draft;
  await tx`
    insert into emails (id, account_id, request_id, interface, route, domain, from_address, from_name, reply_to, subject, headers,
                        idx, unsubscribe_token, cost_grosze, test_credits, file_bytes, give_up_at, created_at, updated_at)
    values (${id}, ${draft.accountId}, ${draft.requestId}, ${draft.interface}, ${draft.route}, ${draft.domain},
            ${draft.fromAddress}, ${draft.fromName}, ${draft.replyTo}, ${draft.subject},
            ${JSON.stringify(draft.headers)}::text::jsonb, ${draft.idx}, ${draft.unsubscribeToken}, ${draft.costGrosze},
            ${draft.testCredits}, ${fileBytesOf(draft)}, ${draft.giveUpAt}, ${draft.createdAt}, ${draft.createdAt})`;
  await tx`
    insert into email_recipients (email_id, account_id, position, kind, address, state)
    select ${id}, ${draft.accountId}, r.position, r.kind, r.address, r.state
      from unnest(${recipients.map((_, index) => index)}::int[], ${recipients.map(({ kind }) => kind)}::text[],
                  ${recipients.map(({ address }) => address)}::text[],
                  ${recipients.map(({ suppressed }) => (suppressed ? 'suppressed' : 'queued'))}::text[])
             as r(position, kind, address, state)`;
  await tx`insert into email_contents (email_id, html, text) values (${id}, ${draft.html}, ${draft.text})`;
}

// Piece by piece: one statement with all of a file would hold up whoever shares the process.
async function insertAttachments(tx: Sql, { id, attachments }: EmailDraft): Promise<void> {
  for (const [number, { filename, contentType, contentId, bytes, pieces }] of attachments.entries()) {
    await tx`
      insert into email_attachments (email_id, number, filename, content_type, content_id, bytes)
      values (${id}, ${number}, ${filename}, ${contentType}, ${contentId}, ${bytes})`;
    for (const [piece, content] of pieces.entries()) {
      // In base64: the driver would write it in hexadecimal, half as long again.
      await tx`
        insert into email_attachment_pieces (email_id, number, piece, content)
        values (${id}, ${number}, ${piece}, decode(${content.toString('base64')}, 'base64'))`;
    }
  }
}
