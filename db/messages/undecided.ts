import { removeUnsentLinks } from '../links/unsent.ts';
import type { Database, Sql } from '../connection.ts';
import { transaction } from '../transaction.ts';

/** How a request ended that its caller stopped waiting for. */
export type Resolution = 'charged' | 'abandoned';

/**
 * Ends a request whose caller is about to be answered that nothing will be sent, unless the charge was faster: its drafts, the
 * links made for them and its idempotency key are gone. Waits for a charge that is under way.
 *
 * @returns `charged`, or `abandoned` when it was ended here or before, or never written
 */
export async function abandonRequest(sql: Database, requestId: string): Promise<Resolution> {
  return await transaction(sql, (tx) => endRequest(tx, requestId));
}

/** As {@link abandonRequest}, within a transaction. */
export async function endRequest(tx: Sql, requestId: string): Promise<Resolution> {
  await removeUndecided(tx, [requestId]);
  return await resolutionOf(tx, requestId);
}

/** What was decided about a request: all its messages, or its e-mail, share it, and what was refused has none. */
export async function resolutionOf(tx: Sql, requestId: string): Promise<Resolution> {
  const found = await tx`
    select from messages where request_id = ${requestId}
    union all
    select from emails where request_id = ${requestId} limit 1`;
  return found.length === 0 ? 'abandoned' : 'charged';
}

/**
 * Deletes what requests have written and nobody has decided on. After that they can be charged no more.
 * @returns how many drafts there were
 */
export async function removeUndecided(tx: Sql, requestIds: readonly string[]): Promise<number> {
  if (requestIds.length === 0) return 0;
  const requests = requestIds as string[];
  // Locked by a statement of their own: what a charge under way has decided is seen by the ones after it.
  const drafts = await tx<{ id: string }[]>`
    select id from messages where request_id = any(${requests}) and status = 'draft' order by id for update`;
  const removed = await removeMessages(
    tx,
    drafts.map(({ id }) => id),
  );
  const emails = await removeUndecidedEmails(tx, requests);
  await tx`delete from idempotency_keys where request_id = any(${requests}) and state = 'open'`;
  return removed + emails;
}

async function removeUndecidedEmails(tx: Sql, requests: string[]): Promise<number> {
  const drafts = await tx<{ id: string }[]>`
    select id from emails where request_id = any(${requests}) and status = 'draft' order by id for update`;
  return await removeEmails(
    tx,
    drafts.map(({ id }) => id),
  );
}

/** Deletes e-mails that were never charged, with all that belongs to them; returns how many. */
export async function removeEmails(tx: Sql, ids: readonly string[]): Promise<number> {
  if (ids.length === 0) return 0;
  // By the database's own function: the API's role may delete no e-mail.
  const [removed] = await tx<{ count: number }[]>`
    select delete_uncharged_emails(${ids as string[]}::text[]) as count`;
  return removed!.count;
}

/** Deletes messages that were never accepted, with the links that nobody else was sent; returns how many. */
export async function removeMessages(tx: Sql, ids: readonly string[]): Promise<number> {
  if (ids.length === 0) return 0;
  const links = await tx<{ token: string }[]>`
    delete from message_links where message_id = any(${ids as string[]}) returning token`;
  // By the database's own function: the API's role may delete no message.
  const [removed] = await tx<{ count: number }[]>`
    select delete_never_accepted(${ids as string[]}::text[]) as count`;
  await removeUnsentLinks(tx, [...new Set(links.map(({ token }) => token))]);
  return removed!.count;
}
