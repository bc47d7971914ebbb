import { Client, Connection } from '@temporalio/client';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { books, database, newAccount, untilStatus } from '../support/factories.ts';
import { Disturbed, undisturbed } from '../support/undisturbed.ts';

let connection: Connection;
let temporal: Client;
beforeAll(async () => {
  connection = await Connection.connect({ address: inject('service').temporalAddress });
  temporal = new Client({ connection });
});
afterAll(() => connection.close());

async function eventsOf(id: string): Promise<string[]> {
  const { events } = await temporal.workflow.getHandle(id).fetchHistory();
  return events!.flatMap((event) => Object.keys(event).filter((key) => key.endsWith('Attributes')));
}

const listening = async () =>
  await database()<{ pid: number }[]>`select pid from pg_stat_activity where query ilike 'listen "charged"'`;

const started = 'workflowTaskStartedEventAttributes';
const ended = 'workflowTaskCompletedEventAttributes';
const timedOut = 'workflowTaskTimedOutEventAttributes';

/** Sends five messages that the SMSC does not answer; returns the events of those whose callers heard before their workflow task ended. */
async function answeredEarly(): Promise<string[][]> {
  const { api, id: account } = await newAccount({ balance: 1000, price: 10 });
  // Until every worker there is has seen that the SMSC is quick.
  const first = await Promise.all(
    Array.from({ length: 10 }, () => api.send({ to: '+48500100000', text: 'x' })),
  );
  for (const { body } of first) await untilStatus({ api }, body.id, 'delivered');

  // This SMSC answers no submit to such a number, which is given up after 3 s.
  const sent = await Promise.all(
    Array.from({ length: 5 }, () => api.send({ to: '+48500100905', text: 'x' })),
  );
  const then = await Promise.all(sent.map(({ body }) => eventsOf(body.id)));
  expect(sent.map(({ status }) => status)).toEqual(sent.map(() => 201));
  expect(await books(account)).toMatchObject({ balance: 850, ledger: 850 });
  const early = sent.filter((_, i) => then[i]!.includes(started) && !then[i]!.includes(ended));
  return await Promise.all(
    early.map(({ body }) =>
      eventually(
        () => eventsOf(body.id),
        (now) => now.includes('timerStartedEventAttributes'),
        30_000,
      ),
    ),
  );
}

describe('messages that are submitted within their first workflow task', () => {
  it(
    'are answered once they are charged, while the SMSC still has not answered',
    undisturbed(async () => {
      // Where the service itself stood still, its SMSC does not look quick, or the server takes the task away.
      const early = await answeredEarly();
      if (early.length === 0)
        throw new Disturbed('nothing was answered while its workflow task was under way');
      if (early.some((steps) => steps.includes(timedOut)))
        throw new Disturbed('the server took a workflow task away');
      for (const steps of early) expect(steps).not.toContain('activityTaskScheduledEventAttributes');
    }),
    180_000,
  );

  it('are accepted all the same while no notices of charges come, and they come again', async () => {
    const { api, id: account } = await newAccount({ balance: 100, price: 10 });
    const before = await listening();
    await database()`select pg_terminate_backend(pid) from unnest(${before.map(({ pid }) => pid)}::int[]) pid`;
    const { status, body } = await api.send({ to: '+48500100000', text: 'x' });
    expect(status).toBe(201);
    await untilStatus({ api }, body.id, 'delivered');
    expect(await books(account)).toMatchObject({ balance: 90, ledger: 90 });
    const gone = new Set(before.map(({ pid }) => pid));
    await eventually(
      listening,
      (now) => now.length === before.length && now.every(({ pid }) => !gone.has(pid)),
    );
  });
});
