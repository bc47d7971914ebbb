import { afterAll, beforeAll, expect, test } from 'vitest';
import { HOUR, type Pipeline, startPipeline } from './pipeline.ts';
import { until } from '../support/eventually.ts';

const RECIPIENTS = 500;
// As in budget.test.ts, which counts the rest, and the batch of a smaller request.
const BATCH = 30;

let pipeline: Pipeline;
beforeAll(async () => (pipeline = await startPipeline('real')));
afterAll(() => pipeline?.close());

test('a request of 500 recipients costs its batch no more than one of two', async () => {
  const account = await pipeline.account({ balance: RECIPIENTS * 15 });
  // Scheduled for later: what counts here is the batch.
  const { id, requestId } = await pipeline.draft(account, { sendAt: Date.now() + HOUR });
  await pipeline.sql`
    insert into messages (id, account_id, request_id, accepted_as, recipient, sender, text, parts, cost_grosze,
                          send_at, give_up_at, route)
    select 'msg_' || lpad(n::text, 26, '0'), account_id, request_id, accepted_as, recipient, sender, text, parts,
           cost_grosze, send_at, give_up_at, route
      from messages cross join generate_series(2, ${RECIPIENTS}::int) as n where id = ${id}`;
  expect(await pipeline.acceptBatch(account, requestId, RECIPIENTS)).toEqual({ accepted: true });
  const batch = pipeline.client.workflow.getHandle(requestId);
  await batch.result();
  const names = (await batch.fetchHistory()).events!.map(({ eventType }) => String(eventType));
  expect(names.length, names.join(' ')).toBeLessThanOrEqual(BATCH);
  const listed = async () => (await pipeline.client.workflow.count(`Request = '${requestId}'`)).count;
  // The batch itself has the attribute too. Lists may be some seconds behind.
  await until('all are listed', async () => (await listed()) > RECIPIENTS);
  expect(await listed()).toBe(RECIPIENTS + 1);
});
