import { setTimeout as delay } from 'node:timers/promises';
import type { AuditDetails } from '../../db/accounts/audit.ts';
import type { Database, Sql } from '../../db/connection.ts';
import {
  type BulkAction,
  type BulkRow,
  insertBulk,
  readBulk,
  readMessageFacts,
  stopBulk as storeStop,
} from '../../db/maintenance/bulks.ts';
import { type FindingKind, listFindings, readFindings } from '../../db/maintenance/findings.ts';
import { readStuck, type StuckThing } from '../../db/messages/stuck.ts';
import { readResends, whyNotResent } from '../../db/webhooks/webhookDeliveries.ts';
import { type StaffRefusal, StaffRefused } from '../../domain/refusals.ts';
import { findAccount } from '../accounts/accounts.ts';
import { uncancellable } from '../cancel.ts';
import { findRoute } from '../routes/routes.ts';
import { recorded } from '../staff.ts';
import { refusalOf } from '../webhooks/resend.ts';
import { undecidable } from './decisions.ts';
import { MINUTES, STUCK_ACTIONS } from './stuck.ts';

const LOOK_MS = 200;
const ITEM = { message: /^msg_[0-9a-z]{1,60}$/, event: /^evt_[0-9a-z]{1,60}$/, finding: /^[0-9]{1,9}$/ };
const ABOUT: Readonly<Record<BulkAction, keyof typeof ITEM>> = {
  cancel: 'message',
  resubmit: 'message',
  'give-up': 'message',
  resend: 'event',
  dismiss: 'finding',
};

/** Absent fields match anything; `minutes` defaults to that of the kind. */
interface BulkFilter {
  account?: string;
  route?: string;
  minutes?: number;
  /** Of the findings that are dismissed. */
  kind?: FindingKind;
}

interface NewBulk {
  action: BulkAction;
  /** Absent: all that is stuck and matches the filter, for `dismiss` all open findings of the account. */
  ids?: readonly string[] | undefined;
  /** With ids, what they were found by. */
  filter: BulkFilter & AuditDetails;
  limit: number;
  /** False: dry run. */
  agreed: boolean;
}

/** An item as the dry run finds it. */
interface Foreseen {
  id: string;
  accountId: string | null;
  refundGrosze: number;
  /** Why it would be refused; null: it would be done. */
  why: StaffRefusal | null;
}

export interface PlannedBulk {
  /** Null: a dry run, or nothing to act on. */
  id: string | null;
  things: Pick<StuckThing, 'id'>[];
  /** Without the limit. */
  of: number;
  /** In a dry run. */
  foreseen: Foreseen[];
}

/**
 * Starts an action on many things, which are fixed by that: a workflow acts on each and records it, whoever goes away meanwhile.
 * @throws StaffRefused account_missing, route_missing, bulk_items_malformed
 */
export const startBulk = recorded('bulks start', async (tx, input: NewBulk, { actor, grounds = {} }) => {
  const { action, filter, agreed } = input;
  if (filter.account !== undefined) await findAccount(tx, filter.account);
  if (filter.route !== undefined) await findRoute(tx, filter.route);
  const { count: of, things } = await choose(tx, input);
  const items = things.map(({ id }) => id);
  const bulk = { action, actor: actor.name, grounds, filter, items };
  const id = agreed && items.length > 0 ? await insertBulk(tx, bulk) : null;
  const data: PlannedBulk = { id, things, of, foreseen: agreed ? [] : await foresee(tx, action, items) };
  const how = agreed ? { items: items.length } : { carried_out: false };
  return {
    data,
    account: filter.account,
    ...(id === null ? {} : { subject: id }),
    details: { action, ...filter, ...how },
  };
});

async function choose(
  tx: Sql,
  { action, ids, filter, limit }: NewBulk,
): Promise<{ count: number; things: Pick<StuckThing, 'id'>[] }> {
  if (ids !== undefined) {
    const pattern = ITEM[ABOUT[action]];
    if (!ids.every((id) => pattern.test(id)))
      throw new StaffRefused({ reason: 'bulk_items_malformed', action });
    return { count: ids.length, things: [...new Set(ids)].map((id) => ({ id })) };
  }
  const { account = null, route = null, kind: finding = null } = filter;
  if (action === 'dismiss') {
    const found = await listFindings(tx, { account, state: 'open', kind: finding }, limit);
    return { count: found.length, things: found.map(({ id }) => ({ id: String(id) })) };
  }
  const kind = STUCK_ACTIONS[action];
  const minutes = filter.minutes ?? MINUTES[kind];
  return await readStuck(tx, kind, { accountId: account, route, minutes }, limit);
}

/** What would come of each item now. */
export async function foresee(tx: Sql, action: BulkAction, ids: readonly string[]): Promise<Foreseen[]> {
  switch (ABOUT[action]) {
    case 'message': {
      const refunds = action !== 'resubmit';
      const why = action === 'cancel' ? whyNotCancelled : undecidable;
      return foreseenOf(ids, await readMessageFacts(tx, ids), why, (one) => (refunds ? one.costGrosze : 0));
    }
    case 'event':
      return foreseenOf(ids, await readResends(tx, ids), (event, facts) => {
        const why = whyNotResent(facts);
        return why === null ? null : { reason: 'event_not_resent', event, why: refusalOf(why) };
      });
    case 'finding':
      return foreseenOf(ids, await readFindings(tx, ids), (finding, facts) =>
        facts === undefined ? { reason: 'finding_missing', finding: Number(finding) } : null,
      );
  }
}

function foreseenOf<Facts extends { id: string; accountId: string | null }>(
  ids: readonly string[],
  facts: readonly Facts[],
  whyNot: (id: string, facts: Facts | undefined) => StaffRefusal | null,
  refundOf: (facts: Facts) => number = () => 0,
): Foreseen[] {
  const known = new Map(facts.map((one) => [one.id, one]));
  return ids.map((id) => {
    const one = known.get(id);
    const why = whyNot(id, one);
    const refundGrosze = one === undefined || why !== null ? 0 : refundOf(one);
    return { id, accountId: one?.accountId ?? null, refundGrosze, why };
  });
}

/** Why staff cannot cancel a message now; null: they can. */
export function whyNotCancelled(
  message: string,
  facts: { status: string; ended: boolean } | undefined,
): StaffRefusal | null {
  return facts?.ended === true
    ? { reason: 'message_without_workflow', message }
    : uncancellable(message, facts);
}

/** Stops a bulk: what is not acted on yet stays as it is. @throws StaffRefused bulk_missing, bulk_ended */
export const stopBulk = recorded('bulks stop', async (tx, { id }: { id: string }) => {
  const stopped = await storeStop(tx, id);
  const data = await findBulk(tx, id);
  if (!stopped) throw new StaffRefused({ reason: 'bulk_ended', bulk: id });
  return { data, subject: id, details: { open: data.open } };
});

/** @throws StaffRefused bulk_missing */
export async function findBulk(sql: Sql, id: string): Promise<BulkRow> {
  const bulk = await readBulk(sql, id);
  if (bulk === undefined) throw new StaffRefused({ reason: 'bulk_missing', bulk: id });
  return bulk;
}

/** Waits until a bulk has ended, for so long at most: it goes on without being waited for. */
export async function awaitBulk(sql: Database, id: string, withinMs: number): Promise<BulkRow> {
  for (const until = Date.now() + withinMs; ;) {
    const bulk = await findBulk(sql, id);
    if (bulk.endedAt !== null || Date.now() > until) return bulk;
    await delay(LOOK_MS);
  }
}
