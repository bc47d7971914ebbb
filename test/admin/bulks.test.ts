import { MockActivityEnvironment } from '@temporalio/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { maintenanceActivities } from '../../activities/maintenance.ts';
import { reconciliationActivities } from '../../activities/reconciliation.ts';
import { transaction } from '../../db/connection.ts';
import { newId } from '../../db/ids.ts';
import { insertBulk } from '../../db/maintenance/bulks.ts';
import { bulkStart } from '../../workflows/startOptions.ts';
import { lockRow } from '../crash/holds.ts';
import { until } from '../support/eventually.ts';
import { pauseSchedule, type Pipeline, startPipeline } from '../workflows/pipeline.ts';
import { type Answer, ACTOR, listIn, pipelineLine } from './support.ts';

const HOUR = 3_600_000;
let pipeline: Pipeline;
beforeAll(async () => {
  pipeline = await startPipeline('real');
  await pauseSchedule(pipeline.client);
});
afterAll(() => pipeline?.close());

const { ok, no } = pipelineLine(() => pipeline);

async function unanswered(account: string): Promise<string> {
  const { id } = await pipeline.send(account, { ending: '905' });
  await pipeline.untilUnanswered(id);
  return id;
}

const scheduled = async (account: string): Promise<string> =>
  (await pipeline.message(account, { sendAt: Date.now() + HOUR })).id;

const untilState = (id: string, state: string) =>
  until(`${id} is ${state}`, async () => (await ok('bulks', 'show', id))['state'] === state);

/** Starts a bulk on these, and waits for its end. */
async function bulk(action: string, ids: readonly string[], ...more: string[]): Promise<string> {
  const { id } = await ok('bulks', 'start', '--action', action, '--id', ids.join(','), ...more, '--yes');
  await untilState(String(id), 'ended');
  return String(id);
}

const outcomes = async (id: string): Promise<Answer> =>
  Object.fromEntries(
    listIn(await ok('bulks', 'items', id)).map(({ item, outcome }) => [String(item), outcome]),
  );

const audited = async (subject: string): Promise<unknown[]> => [
  ...(await pipeline.sql`select actor, action, details from audit_log where subject = ${subject} order by id`),
];

/** What a worker leaves that is killed after an act and before it has stored the outcome. */
async function loseOutcomes(id: string): Promise<void> {
  // It stores its end before it is over, and would be the one that is started again.
  await pipeline.client.workflow.getHandle(id).result();
  await pipeline.sql`update bulk_items set outcome = null, at = null where bulk_id = ${id}`;
  await pipeline.sql`update bulks set ended_at = null where id = ${id}`;
}

async function repeat(id: string, until = 'ended'): Promise<void> {
  await pipeline.client.workflow.start('bulk', bulkStart(id));
  await untilState(id, until);
}

describe('a bulk', () => {
  test('is counted first, with its money and what is excluded; then each has its outcome and its record', async () => {
    const [account, other] = [await pipeline.account(), await pipeline.account()];
    const both = await Promise.all([unanswered(account), unanswered(other)]);
    const later = await scheduled(account);
    const unknown = newId('msg');
    const ids = [...both, later, unknown];
    const line = ['bulks', 'start', '--action', 'give-up', '--id', ids.join(',')];
    const told = await ok(...line);
    expect(told).toMatchObject({ would: 'give-up', on: 2, of: 4, accounts: 2, refund_grosze: 30 });
    expect(listIn(told)).toEqual([
      { id: later, why: `The message ${later} is not unanswered: it is scheduled.` },
      { id: unknown, why: `There is no message ${unknown}.` },
    ]);
    expect(await pipeline.sql`select from bulks`).toHaveLength(0);

    const { id } = await ok(...line, '--yes');
    await untilState(String(id), 'ended');
    expect(await ok('bulks', 'show', String(id))).toMatchObject({
      ...{ id, action: 'give-up', actor: ACTOR },
      ...{ items: 4, open: 0, done: 2, refused: 2, unknown: 0 },
    });
    const items = listIn(await ok('bulks', 'items', String(id)));
    expect(items.map(({ item, outcome }) => [item, outcome])).toEqual([
      ...both.map((one) => [one, 'done']),
      ...[later, unknown].map((one) => [one, 'refused']),
    ]);
    expect(listIn(await ok('bulks', 'items', String(id), '--outcome', 'refused'))).toMatchObject(
      listIn(told).map(({ id: item, why }) => ({ item, why })),
    );
    const details = { answered: true, bulk: id };
    for (const one of both)
      expect(await audited(one)).toEqual([{ actor: ACTOR, action: 'messages give-up', details }]);
    expect(await audited(later)).toEqual([]);
    for (const one of [account, other]) expect(await pipeline.balance(one)).toBe(one === other ? 1_000 : 985);
    expect(listIn(await ok('bulks', 'list'))[0]).toMatchObject({ id, state: 'ended' });
    expect((await pipeline.client.workflow.getHandle(String(id)).describe()).status.name).toBe('COMPLETED');
  });

  test('does nothing once more whose outcome was lost, whatever became of the item since', async () => {
    const account = await pipeline.account();
    const [again, given] = await Promise.all([unanswered(account), unanswered(account)]);
    const cancelled = await scheduled(account);
    const bulks = [
      await bulk('resubmit', [again]),
      await bulk('give-up', [given]),
      await bulk('cancel', [cancelled]),
    ];
    await until('it is unanswered again', async () => {
      const { submission } = await pipeline.row(again);
      return submission === 'unanswered' && (await pipeline.submits(again)) === 2;
    });
    for (const id of bulks) {
      await loseOutcomes(id);
      await repeat(id);
    }
    expect(await Promise.all(bulks.map(outcomes))).toEqual([
      { [again]: 'done' },
      { [given]: 'done' },
      { [cancelled]: 'done' },
    ]);
    await ok('messages', 'give-up', '--id', again);
    await pipeline.untilClosed(again);
    expect(await pipeline.submits(again)).toBe(2);
    await loseOutcomes(bulks[0]!);
    await repeat(bulks[0]!);
    expect(await outcomes(bulks[0]!)).toEqual({ [again]: 'done' });
  });

  test('stops between items, and leaves the rest as it is', async () => {
    const account = await pipeline.account();
    const ids: string[] = [];
    while (ids.length < 12) ids.push(await scheduled(account));
    const lock = await lockRow(pipeline.sql, 'message', ids[0]!);
    const { id } = await ok('bulks', 'start', '--action', 'cancel', '--id', ids.join(','), '--yes');
    await lock.untilWaitedFor();
    expect(await ok('bulks', 'stop', String(id))).toMatchObject({ state: 'stopping' });
    await lock.release();
    await untilState(String(id), 'stopped');
    const stopped = { items: 12, open: 2, done: 10 };
    expect(await ok('bulks', 'show', String(id))).toMatchObject(stopped);
    await loseOutcomes(String(id));
    await repeat(String(id), 'stopped');
    expect(await ok('bulks', 'show', String(id))).toMatchObject(stopped);
    for (const one of ids.slice(10)) expect((await pipeline.row(one)).status).toBe('scheduled');
    expect((await no('bulks', 'stop', String(id))).code).toBe('refused');
  });

  test('whose workflow was lost is started again by the reconciliation', async () => {
    const message = await scheduled(await pipeline.account());
    const id = await transaction(pipeline.sql, async (tx) => {
      const made = { action: 'cancel', actor: ACTOR, grounds: {}, filter: {}, items: [message] } as const;
      const inserted = await insertBulk(tx, made);
      await tx`delete from reservations where subject_id = ${inserted}`;
      await tx`update bulks set created_at = now() - interval '11 minutes' where id = ${inserted}`;
      return inserted;
    });
    const steps = reconciliationActivities(pipeline.sql, pipeline.client);
    await new MockActivityEnvironment().run(() => steps.reconcileLeftovers());
    await untilState(id, 'ended');
    expect(await outcomes(id)).toEqual({ [message]: 'done' });
  });

  test('dismisses findings, and takes no ids of anything else', async () => {
    const [finding] = await pipeline.sql<{ id: number }[]>`
      insert into findings (kind, subject, state) values ('budget_used', ${newId('req')}, 'open') returning id`;
    const id = await bulk('dismiss', [String(finding!.id), '999999999']);
    expect(await outcomes(id)).toEqual({ [finding!.id]: 'done', 999999999: 'refused' });
    const malformed = ['msg_1', '1,cl_1', '', '1;2'];
    for (const ids of malformed)
      expect((await no('bulks', 'start', '--action', 'dismiss', '--id', ids, '--yes')).code).toBe(
        'invalid_argument',
      );
    for (const command of ['show', 'items', 'stop'])
      expect((await no('bulks', command, newId('bulk'))).code).toBe('not_found');
  });

  test('is deleted with its items once it has ended long enough ago', async () => {
    const id = await bulk('cancel', [newId('msg')]);
    await pipeline.sql`update bulks set ended_at = now() - interval '91 days' where id = ${id}`;
    const steps = maintenanceActivities(pipeline.sql, { contentDays: undefined, logDays: 90 });
    await new MockActivityEnvironment().run(() => steps.deleteLeftovers());
    expect((await no('bulks', 'show', id)).code).toBe('not_found');
    expect(await pipeline.sql`select from bulk_items where bulk_id = ${id}`).toHaveLength(0);
  });
});
