import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { decideOn } from './decisions.ts';
import { type Pipeline, startPipeline } from './pipeline.ts';

let pipeline: Pipeline;
beforeAll(async () => {
  pipeline = await startPipeline('real');
  await pipeline.sql`
    insert into routes (name, kind) values ('gone', 'smpp'), ('reserve', 'simulator') on conflict do nothing`;
});
afterAll(() => pipeline.close());

/** Two parts, the first of which was left under way by a worker that ended, on a route that does not work. */
async function halfLeft(): Promise<{ id: string; account: string }> {
  const account = await pipeline.account();
  await pipeline.sql`
    insert into route_rules (route, account_id) values ('gone', ${account}), ('reserve', ${account})`;
  const { id, ...message } = await pipeline.message(account, { route: 'gone', text: 'ą'.repeat(100) });
  await pipeline.sql`update messages set submission = 'submitting' where id = ${id}`;
  await pipeline.sql`
    insert into message_parts (message_id, part, state, route) values (${id}, 1, 'submitting', 'gone')`;
  await pipeline.start({ id, ...message });
  await pipeline.untilUnanswered(id);
  return { id, account };
}

describe('a message half left on a route that does not work', () => {
  test('is given up once by ten operators at once', async () => {
    const { id, account } = await halfLeft();
    // Where the server threw away the task of the one that did it, all are told that it is done.
    await Promise.allSettled(Array.from({ length: 10 }, () => decideOn(pipeline, id, 'giveUp')));
    await pipeline.untilStatus(id, 'failed');
    expect(await pipeline.balance(account)).toBe(1000);
  });

  test('is submitted again on the operator’s word, where a route works', async () => {
    const { id } = await halfLeft();
    await decideOn(pipeline, id, 'resubmit');
    await pipeline.untilStatus(id, 'delivered');
    expect(await pipeline.sql`select from simulator_submits where reference like ${id + '/%'}`).toHaveLength(
      2,
    );
    expect(await pipeline.client.workflow.getHandle(id).result()).toEqual({ status: 'delivered' });
  });
});
