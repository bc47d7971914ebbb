import { Client, Connection } from '@temporalio/client';
import { MockActivityEnvironment } from '@temporalio/testing';
import { beforeAll, expect, test } from 'vitest';
import { reconciliationActivities } from '../../activities/reconciliation.ts';
import { newId } from '../../db/ids.ts';
import type { Tally } from '../../workflows/contracts.ts';
import { ownDatabase } from '../admin/support.ts';

const { sql } = ownDatabase();
const account = newId('cl');
beforeAll(() => sql()`insert into accounts (id, name) values (${account}, 'Test')`);

/** One step of a run; `beats` are how often it showed that it goes on. */
async function run(step: 'reconcileLedgers' | 'reconcileLeftovers') {
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

test('every page of accounts shows that the work on ledgers goes on', async () => {
  await sql()`
    insert into accounts (id, name) select 'cl_' || lpad(n::text, 26, '0'), 'Test' from generate_series(1, 500) n`;
  const { tally, beats } = await run('reconcileLedgers');
  expect(tally).toMatchObject({ looked: 501, reported: 0 });
  expect(beats).toBe(51);
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
