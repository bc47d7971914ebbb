import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { HOUR, type Pipeline, startPipeline } from './pipeline.ts';
import { until } from '../support/eventually.ts';

let pipeline: Pipeline;
beforeAll(async () => (pipeline = await startPipeline()));
afterAll(() => pipeline?.close());

const MSISDN = '+48500100000';

const scheduled = async (account: string, options = {}) =>
  pipeline.send(account, { sendAt: (await pipeline.now()) + HOUR, ...options });

/** The number goes onto the blacklist of the account; without an end unless one is given. */
async function block(account: string, msisdn = MSISDN, expiresAt: Date | null = null): Promise<void> {
  await pipeline.sql`
    insert into blacklist (account_id, msisdn, reason, expires_at) values (${account}, ${msisdn}, 'opt_out', ${expiresAt})`;
}

async function stateOf(id: string) {
  const [row] = await pipeline.sql`
    select m.status, m.cost_grosze as cost, m.error_code as error, a.balance_grosze as balance, a.test_credits as credits,
           (select coalesce(sum(amount_grosze), 0)::bigint from ledger_entries where account_id = a.id) as ledger,
           (select count(*)::int from simulator_submits where reference like m.id || '/%') as submits
      from messages m join accounts a on a.id = m.account_id where m.id = ${id}`;
  return row!;
}

async function result(id: string): Promise<unknown> {
  return await pipeline.client.workflow.getHandle(id).result();
}

describe('a number that opts out while its message is scheduled', () => {
  test('does not get it: rejected, refunded, free', async () => {
    const account = await pipeline.account({ balance: 100 });
    const { id } = await scheduled(account);
    expect(await stateOf(id)).toMatchObject({ status: 'scheduled', balance: 85 });
    await block(account);
    await pipeline.sleep(HOUR + 1000);
    await pipeline.untilStatus(id, 'rejected');
    expect(await result(id)).toEqual({ status: 'rejected' });
    expect(await stateOf(id)).toMatchObject({
      ...{ cost: 0, error: 'opted_out', balance: 100, ledger: 100, submits: 0 },
    });
  });

  test('gives a test account its credit back', async () => {
    const account = await pipeline.account({ balance: 0, testCredits: 1 });
    const { id } = await scheduled(account, { testCredits: 1 });
    expect(await stateOf(id)).toMatchObject({ credits: 0 });
    await block(account);
    await pipeline.sleep(HOUR + 1000);
    await pipeline.untilStatus(id, 'rejected');
    expect(await stateOf(id)).toMatchObject({ credits: 1, balance: 0, ledger: 0 });
  });

  test('gets it when the entry has ended by then, or is another account’s or number’s', async () => {
    const account = await pipeline.account();
    const { id } = await scheduled(account);
    await block(account, MSISDN, new Date(Date.now() - 1000));
    await block(await pipeline.account());
    await block(account, '+48500100001');
    await pipeline.sleep(HOUR + 1000);
    await pipeline.untilStatus(id, 'delivered');
    expect(await stateOf(id)).toMatchObject({ cost: 15, submits: 1 });
  });

  test('does not get what an SMSC keeps waiting either', async () => {
    const account = await pipeline.account({ balance: 100 });
    const message = await pipeline.send(account, { ending: '904' });
    await until('the first try was throttled', async () => {
      const [found] =
        await pipeline.sql`select from simulator_throttles where reference = ${message.id + '/1'}`;
      return found !== undefined;
    });
    await block(account, '+48500100904');
    await pipeline.untilStatus(message.id, 'rejected');
    expect(await stateOf(message.id)).toMatchObject({ balance: 100, submits: 0 });
  });
});
