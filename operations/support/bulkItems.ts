import { writeAudit } from '../../db/accounts/audit.ts';
import { type Sql, transaction } from '../../db/connection.ts';
import {
  type BulkAction,
  type BulkOutcome,
  type BulkRow,
  endBulk,
  noteBulkItem,
  readBulk,
  takeBulkItems,
} from '../../db/maintenance/bulks.ts';
import { readSubmission } from '../../db/messages/unanswered.ts';
import type { BulkProgress } from '../../workflows/contracts.ts';
import { cancelBySignal } from '../cancel.ts';
import type { ActRecord, StaffServices } from '../staff.ts';
import { recordOfResend, resendAsStaff } from '../webhooks/resend.ts';
import { concernsOneMessage, decide, type Decided, type Decision, recordOf } from './decisions.ts';
import { dismiss } from './settle.ts';

const AT_ONCE = 10;
// The worker that has a workflow in memory may just have been killed, and nobody waits.
const ANSWER_WITHIN_MS = 60_000;

/** An item has its outcome already, from an attempt that was given up: nothing is done once more. */
class ItemNotedError extends Error {
  override readonly name = 'ItemNotedError';
}

/** Stores that an item was acted on, with the audit record, in a transaction. @throws ItemNotedError */
type Note = (tx: Sql, outcome: 'done' | 'unknown', record: ActRecord) => Promise<void>;

/** Acts on one item. Repeated, it finds what it did. @param key of this item in this bulk @throws StaffRefused */
type Act = (services: StaffServices, id: string, note: Note, key: string) => Promise<void>;

const ACTS: Readonly<Record<BulkAction, { audit: string; act: Act }>> = {
  cancel: { audit: 'messages cancel', act: acting((services, id) => cancelOnce(services, id)) },
  resubmit: { audit: 'messages resubmit', act: deciding('resubmit') },
  'give-up': { audit: 'messages give-up', act: deciding('giveUp') },
  resend: {
    audit: 'webhooks resend',
    async act({ sql }, id, note) {
      await resendAsStaff(sql, id, (tx, resend) => note(tx, 'done', recordOfResend(resend)));
    },
  },
  dismiss: {
    audit: 'findings dismiss',
    act: ({ sql }, id, note) =>
      transaction(sql, async (tx) => note(tx, 'done', await dismiss(tx, Number(id)))),
  },
};

/** Acts on the next items of a bulk and stores each outcome at once. @throws what concerns more than one item */
export async function actOnNext(services: StaffServices, id: string): Promise<BulkProgress> {
  const { sql } = services;
  const bulk = await readBulk(sql, id);
  // Of a restored database.
  if (bulk === undefined) return { details: 'It is not in the database.', ended: true };
  const items = await takeBulkItems(sql, id, AT_ONCE);
  const results = await Promise.allSettled(items.map((item) => actOnOne(services, bulk, item)));
  const failed = results.find((result) => result.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
  if (items.length === 0) await endBulk(sql, id);
  return { details: progressOf((await readBulk(sql, id)) ?? bulk), ended: items.length === 0 };
}

async function actOnOne(services: StaffServices, bulk: BulkRow, item: string): Promise<void> {
  const { audit, act } = ACTS[bulk.action];
  const note: Note = async (tx, outcome, { account = null, subject = item, details }) => {
    await noteOnce(tx, bulk, item, outcome);
    await writeAudit(tx, {
      ...{ actor: bulk.actor, action: audit, account, subject },
      details: { ...details, bulk: bulk.id, ...bulk.grounds },
    });
  };
  try {
    await act(services, item, note, `${bulk.id}-${item}`);
  } catch (error) {
    if (error instanceof ItemNotedError) return;
    if (!concernsOneMessage(error)) throw error;
    await noteBulkItem(services.sql, bulk.id, item, 'refused', error.refusal);
  }
}

async function noteOnce(tx: Sql, bulk: BulkRow, item: string, outcome: BulkOutcome): Promise<void> {
  if (!(await noteBulkItem(tx, bulk.id, item, outcome, null))) throw new ItemNotedError();
}

function deciding(what: Decision): Act {
  return acting((services, id, updateId) =>
    decide(services, id, what, { updateId, withinMs: ANSWER_WITHIN_MS }),
  );
}

function acting(act: (services: StaffServices, id: string, key: string) => Promise<Decided>): Act {
  return async (services, id, note, key) => {
    const decided = await act(services, id, key);
    const outcome = decided.carriedOut === null ? 'unknown' : 'done';
    await transaction(services.sql, (tx) => note(tx, outcome, recordOf(id, decided)));
  };
}

async function cancelOnce(services: StaffServices, id: string): Promise<Decided> {
  const message = await readSubmission(services.sql, id);
  // By an attempt whose outcome was lost.
  if (message?.status === 'cancelled') return { accountId: message.accountId, carriedOut: true };
  return await cancelBySignal(services, id);
}

function progressOf({ items, open, done, refused, unknown, stoppedAt }: BulkRow): string {
  const counts = `${items - open} of ${items}: ${done} done, ${refused} refused, ${unknown} unknown.`;
  return stoppedAt === null ? counts : `Stopped. ${counts}`;
}
