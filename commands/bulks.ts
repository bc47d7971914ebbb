import { z } from 'zod';
import {
  BULK_ACTIONS,
  BULK_OUTCOMES,
  type BulkAction,
  type BulkItem,
  type BulkRow,
  listBulks,
  readBulkItems,
} from '../db/maintenance/bulks.ts';
import type { Sql } from '../db/connection.ts';
import { FINDING_KINDS } from '../db/maintenance/findings.ts';
import { COUNTED_MAX } from '../db/messages/stuck.ts';
import type { startBulk } from '../operations/support/bulks.ts';
import {
  command,
  defaulted,
  NOTHING_DONE,
  optional,
  required,
  type Shown,
  shown,
  type StaffContext,
} from './command.ts';
import { leftInWords } from './errors.ts';
import { id, limit, oneOf, stuckFilters, wholeNumber, yes } from './values.ts';

const WAITED_MS = 120_000;
// A page, which says why, is to answer within seconds.
const PAGE_WAITED_MS = 4_000;
const bulkId = id('bulk', 'a bulk');
// Of what, depends on the action.
const ids = z
  .string()
  .transform((typed) => typed.split(','))
  .pipe(z.array(z.string()).max(COUNTED_MAX, `at most ${COUNTED_MAX} at a time`));

export const bulkCommands = [
  command({
    name: 'bulks start',
    about: 'Acts on many, by ids or on all that is stuck; workers carry it out, whoever goes away.',
    options: {
      action: required('--action <ACTION>', BULK_ACTIONS.join(', '), oneOf(...BULK_ACTIONS)),
      id: optional('--id <ID,…>', 'messages, webhook events (resend) or findings (dismiss)', ids),
      ...stuckFilters,
      kind: optional('--kind <KIND>', 'of findings (dismiss)', oneOf(...FINDING_KINDS)),
      yes,
    },
    async ask(asking, { action, id: ids, yes: agreed, ...filter }) {
      const input = { action, ids, filter, limit: COUNTED_MAX, agreed };
      const { id, things, foreseen } = await (await operations()).startBulk({ ...asking, input });
      if (agreed) return shown({ id, action, items: things.length }, id && `See bulks show ${id}.`);
      const possible = foreseen.filter(({ why }) => why === null);
      const excluded = foreseen.flatMap(({ id, why }) =>
        why === null ? [] : [{ id, why: leftInWords(why) }],
      );
      const would = {
        ...{ would: action, on: possible.length, of: foreseen.length },
        accounts: new Set(possible.map(({ accountId }) => accountId)).size,
        refundGrosze: possible.reduce((sum, { refundGrosze }) => sum + refundGrosze, 0),
      };
      return shown({ ...would, data: excluded }, NOTHING_DONE);
    },
  }),
  command({
    name: 'bulks show',
    about: 'Shows how far a bulk is, and what came of its items.',
    options: { id: required('<ID>', 'the bulk', bulkId) },
    run: async (sql, { id }) => ({
      ...shown(progress(await (await operations()).findBulk(sql, id))),
      subject: id,
    }),
  }),
  command({
    name: 'bulks list',
    about: 'Lists bulks, the latest first.',
    options: { limit: limit(50) },
    run: async (sql, { limit }) => shown({ data: (await listBulks(sql, limit)).map(progress) }),
  }),
  command({
    name: 'bulks items',
    about: 'Lists the items of a bulk with what came of each.',
    options: {
      id: required('<ID>', 'the bulk', bulkId),
      outcome: optional(
        '--outcome <OUTCOME>',
        [...BULK_OUTCOMES, 'open'].join(', '),
        oneOf(...BULK_OUTCOMES, 'open'),
      ),
      limit: defaulted('--limit <N>', 'at most so many', wholeNumber(1, COUNTED_MAX), COUNTED_MAX),
    },
    async run(sql, { id, outcome = null, limit }) {
      await (await operations()).findBulk(sql, id);
      const items = await readBulkItems(sql, id, outcome, limit);
      return { ...shown({ data: items.map(itemRecord) }), subject: id };
    },
  }),
  command({
    name: 'bulks stop',
    about: 'Stops a bulk: what it has not come to stays as it is.',
    options: { id: required('<ID>', 'the bulk', bulkId) },
    ask: async (asking, input) => shown(progress(await (await operations()).stopBulk({ ...asking, input }))),
  }),
];

// Loaded when needed: it comes with the Temporal client.
const operations = () => import('../operations/support/bulks.ts');

/** A bulk as staff see it. */
export function progress({ items, open, createdAt, endedAt, stoppedAt, ...bulk }: BulkRow) {
  const minutes = ((endedAt ?? new Date()).getTime() - createdAt.getTime()) / 60_000;
  const state = stoppedAt === null ? ['running', 'ended'] : ['stopping', 'stopped'];
  return {
    ...{ ...bulk, createdAt, stoppedAt, endedAt, items, open },
    state: state[endedAt === null ? 0 : 1],
    perMinute: Math.round((items - open) / Math.max(minutes, 1 / 60)),
  };
}

/** An item as staff see it. */
export function itemRecord({ item, outcome, at, why }: BulkItem) {
  const isLeft = outcome === 'refused' || outcome === 'unknown';
  return { item, outcome: outcome ?? 'open', at, why: isLeft ? leftInWords(why) : null };
}

/** What would come of one item now. */
export async function foreseen(sql: Sql, action: BulkAction, item: string): Promise<Shown> {
  const [found] = await (await operations()).foresee(sql, action, [item]);
  const { id, accountId, refundGrosze, why } = found!;
  return shown({ id, accountId, possible: why === null, reason: why && leftInWords(why), refundGrosze });
}

type Input = Parameters<typeof startBulk>[0]['input'];

/** Starts a bulk and waits for what comes of it; in a dry run, only plans it. */
export async function carriedOut(asking: StaffContext, input: Input) {
  const { startBulk, awaitBulk } = await operations();
  const plan = await startBulk({ ...asking, input });
  if (plan.id === null) return { plan, done: 0, items: [], left: [], remark: null };
  const { sql } = asking.services;
  const withinMs = asking.grounds === undefined ? WAITED_MS : PAGE_WAITED_MS;
  const { done, endedAt } = await awaitBulk(sql, plan.id, withinMs);
  const items = (await readBulkItems(sql, plan.id, null, COUNTED_MAX)).map((one) => ({
    id: one.item,
    carriedOut: one.outcome === 'done' ? true : one.outcome === 'refused' ? false : null,
    reason: one.outcome === 'done' ? null : leftInWords(one.why),
  }));
  const left = items.flatMap(({ id, reason }) => (reason === null ? [] : [{ id, reason }]));
  return { plan, done, items, left, remark: endedAt === null ? `It goes on: bulks show ${plan.id}.` : null };
}
