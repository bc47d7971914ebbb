import type { Database } from '../../db/connection.ts';
import { endRequest } from '../../db/messages/undecided.ts';
import { closeFindings, recordRepair, reportFinding } from '../../db/maintenance/findings.ts';
import { idFloor } from '../../db/ids.ts';
import { countWaiting, draftsBetween, type LeftLookup, leftLookups } from '../../db/maintenance/leftovers.ts';
import { failLookup, settleLookup } from '../../db/lookups/lookups.ts';
import { databaseNow, readPosition, savePosition } from '../../db/maintenance/positions.ts';
import { transaction } from '../../db/transaction.ts';
import type { Tally } from '../../workflows/contracts.ts';
import { beat } from '../heartbeat.ts';
import { noTally, sumOf } from './tally.ts';

const LOOKUPS = 1_000;
const DRAFT_PAGE = 5_000;
const DRAFT_PAGES = 200;
// No charge accepts a draft of this age.
const DRAFT_LEFT_MS = 5 * 60_000;
const DRAFT_LOOK_BACK_MS = 24 * 3_600_000;

/** Ends look-ups that nobody will end any more; charged ones are refunded. */
export async function reconcileLookups(sql: Database): Promise<Tally> {
  const lookups = await leftLookups(sql, LOOKUPS);
  for (const lookup of lookups) {
    await endLookup(sql, lookup);
    beat();
  }
  return { looked: lookups.length, repaired: lookups.length, reported: 0 };
}

async function endLookup(sql: Database, { id, accountId, state }: LeftLookup): Promise<void> {
  await transaction(sql, async (tx) => {
    if (state === 'charged') await failLookup(tx, id, 'timed_out');
    else await settleLookup(tx, id);
    await recordRepair(tx, state === 'charged' ? 'look-up ended and refunded' : 'look-up ended', {
      ...{ kind: 'lookup_left', subject: id, accountId, details: { state } },
    });
  });
}

/**
 * Ends requests whose process died before anybody decided on them: nothing of them is ever sent, and their
 * Idempotency-Key is free again.
 */
export async function reconcileDrafts(sql: Database): Promise<Tally> {
  const now = await databaseNow(sql);
  const messages = await endDrafts(sql, now, { position: 'drafts', prefix: 'msg', table: 'messages' });
  const emails = await endDrafts(sql, now, { position: 'e-mail drafts', prefix: 'em', table: 'emails' });
  return sumOf(messages, emails);
}

interface Drafts {
  /** The name of how far the walk has come. */
  position: string;
  prefix: 'msg' | 'em';
  table: 'messages' | 'emails';
}

async function endDrafts(sql: Database, now: number, { position, prefix, table }: Drafts): Promise<Tally> {
  const tally = noTally();
  const before = idFloor(prefix, now - DRAFT_LEFT_MS);
  let after = (await readPosition(sql, position)) || idFloor(prefix, now - DRAFT_LOOK_BACK_MS);
  for (let pages = 0; pages < DRAFT_PAGES; pages += 1) {
    const { last, requests } = await draftsBetween(sql, table, after, before, DRAFT_PAGE);
    for (const { requestId, accountId } of requests) {
      const ended = await transaction(sql, async (tx) => {
        const abandoned = (await endRequest(tx, requestId)) === 'abandoned';
        const finding = { kind: 'draft_left', subject: requestId, accountId, details: {} } as const;
        if (abandoned) await recordRepair(tx, 'request without a decision ended', finding);
        return abandoned;
      });
      if (ended) tally.repaired += 1;
      beat();
    }
    if (last === null) return tally;
    after = last;
    await savePosition(sql, position, after);
    beat();
  }
  return tally;
}

/** Reports clicks and replies that wait for long: their workflows are started every few seconds, and do not get through. */
export async function reconcileWaiting(sql: Database): Promise<Tally> {
  const { clicks, replies } = await countWaiting(sql);
  const found = [
    { kind: 'clicks_waiting', subject: 'clicks', waiting: clicks },
    { kind: 'replies_waiting', subject: 'replies', waiting: replies },
  ] as const;
  let reported = 0;
  for (const { kind, subject, waiting } of found) {
    if (waiting === 0) await closeFindings(sql, [kind], [subject]);
    else if (await reportFinding(sql, { kind, subject, accountId: null, details: { waiting } }))
      reported += 1;
  }
  return { looked: clicks + replies, repaired: 0, reported };
}
