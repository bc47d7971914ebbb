import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createOutcomeDispatcher, type OutcomeDispatcher } from '../../pipeline/outcomes.ts';
import type { Database } from '../../db/connection.ts';
import { newId } from '../../db/ids.ts';
import { startDatabase } from '../support/database.ts';
import { writeMessage } from '../support/messages.ts';
import { type Pipeline, startPipeline } from './pipeline.ts';
import { until } from '../support/eventually.ts';

let pipeline: Pipeline;
beforeAll(async () => {
  pipeline = await startPipeline('real');
});
afterAll(() => pipeline?.close());

describe('outcomes of another database, whose workflows nobody takes up', () => {
  let sql: Database;
  let stop: () => Promise<void>;
  let outcomes: OutcomeDispatcher;
  const errors: unknown[] = [];
  beforeEach(async () => {
    ({ sql, stop } = await startDatabase());
    await sql`insert into accounts (id, name, mode) values ('cl_a', 'A', 'live')`;
    errors.length = 0;
    outcomes = createOutcomeDispatcher(
      sql,
      pipeline.client,
      (events) => Promise.resolve([...events]),
      (error) => errors.push(error),
    );
  });
  afterEach(async () => {
    await outcomes.stop();
    await stop();
  });

  /** Messages that were delivered, of which their workflows have still to hear. */
  async function note(ids: string[]): Promise<void> {
    for (const id of ids) {
      await writeMessage(sql, { id, status: 'delivered', submission: 'answered', route: 'r' });
      await sql`
        insert into outcome_signals (message_id, status, event_ids) values (${id}, 'delivered', '{}')`;
    }
  }

  const left = async () => (await sql`select from outcome_signals`).length;
  const untilAllNotified = () => until('all are told', async () => (await left()) === 0);

  test('many of them are told by one call; of workflows that are gone nothing is left', async () => {
    const ids = Array.from({ length: 150 }, () => newId('msg'));
    await note(ids);
    await outcomes.dispatch();
    await untilAllNotified();
    expect(errors).toEqual([]);
  });

  test('a second one of a message follows the first one', async () => {
    const id = newId('msg');
    await note([id]);
    await sql`insert into outcome_signals (message_id, status, event_ids) values (${id}, 'failed', '{}')`;
    await outcomes.dispatch();
    await until('the first one is told', async () => (await left()) === 1);
    await outcomes.dispatch();
    await untilAllNotified();
  });

  test('one whose workflow does not answer stays, and is told once that does', async () => {
    const id = newId('msg');
    const workflow = await pipeline.client.workflow.start('message', { workflowId: id, taskQueue: 'nobody' });
    await note([id]);
    await outcomes.dispatch();
    await until('its time is up', () => Promise.resolve(errors.length === 1));
    expect(await left()).toBe(1);
    await workflow.terminate();
    await sql`update outcome_signals set due_at = now()`;
    await outcomes.dispatch();
    await untilAllNotified();
  });
});
