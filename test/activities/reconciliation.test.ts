import { Client, Connection } from '@temporalio/client';
import { MockActivityEnvironment } from '@temporalio/testing';
import { beforeAll, expect, test } from 'vitest';
import { reconciliationActivities } from '../../activities/reconciliation/reconciliation.ts';
import { idFloor, newId } from '../../db/ids.ts';
import type { Tally } from '../../workflows/contracts.ts';
import { ownDatabase } from '../admin/support.ts';

const { sql } = ownDatabase();
const account = newId('cl');
beforeAll(() => sql()`insert into accounts (id, name) values (${account}, 'Test')`);

const MINUTE = 60_000;

/** One step of a run; `beats` are how often it showed that it goes on. */
async function run(step: 'reconcileMoney' | 'reconcileLeftovers') {
  const client = new Client({ connection: Connection.lazy() });
  const steps = reconciliationActivities(sql(), client);
  const environment = new MockActivityEnvironment();
  let beats = 0;
  environment.on('heartbeat', () => (beats += 1));
  const came = await environment
    .run<[], Tally, () => Promise<Tally>>(() => steps[step]())
    .then(
      (tally) => ({ tally, error: null }),
      (error: unknown) => ({ tally: null, error }),
    );
  await client.connection.close();
  return { ...came, beats };
}

/** Messages that have failed and were charged nothing; each of a request of its own. */
async function failedMessages(count: number) {
  const at = new Date(Date.now() - 10 * MINUTE);
  const floor = (prefix: 'msg' | 'req') => idFloor(prefix, at.getTime());
  await sql()`
    insert into messages (id, account_id, request_id, status, accepted_as, recipient, text, parts, cost_grosze, give_up_at, route,
                          created_at)
    select ${floor('msg')} || lpad(n::text, 16, '0'), ${account}, ${floor('req')} || lpad(n::text, 16, '0'), 'failed', 'queued',
           '+48500100200', '', 1, 15, ${at}, 'simulator', ${at}
      from generate_series(1, ${count}::int) n`;
}

test('every page of accounts, and of what ended unpaid, shows that the work on money goes on', async () => {
  await sql()`
    insert into accounts (id, name) select 'cl_' || lpad(n::text, 26, '0'), 'Test' from generate_series(1, 500) n`;
  await failedMessages(1_200);
  const { tally, beats } = await run('reconcileMoney');
  expect(tally).toMatchObject({ looked: 501 + 1_200 });
  // Of 200 accounts, and of 500 messages; the one page of e-mails is empty.
  expect(beats).toBe(3 + 3 + 1);
});

test('every look-up that is ended shows that the work on leftovers goes on', async () => {
  await sql()`
    insert into number_lookups (id, account_id, msisdn, route, state, cost_grosze, created_at)
    select 'hlr_' || lpad(n::text, 26, '0'), ${account}, '+48500100' || n, 'simulator', 'charged', 5, now() - interval '10 minutes'
      from generate_series(200, 219) n`;
  const { tally, beats } = await run('reconcileLeftovers');
  expect(tally).toMatchObject({ repaired: 20 });
  expect(beats).toBe(20);
});
