import { asyncLocalStorage } from '@temporalio/activity';
import { NativeConnection, Worker } from '@temporalio/worker';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { paymentActivities, paymentStartActivities } from '../../activities/payments.ts';
import { newId } from '../../db/ids.ts';
import type { PaymentState } from '../../domain/payments.ts';
import { askToLook } from '../../operations/money/payments.ts';
import { type PaymentProcessor, PaymentRefusedError } from '../../payments/processor.ts';
import { workflowBundle } from '../../worker/bundle.ts';
import { MESSAGES_QUEUE } from '../../workflows/contracts.ts';
import { topupStart } from '../../workflows/startOptions.ts';
import { fileDatabase } from '../support/database.ts';
import { endings } from '../support/endings.ts';
import { until } from '../support/eventually.ts';
import { bookedFor, storeTopUp } from '../support/payments.ts';
import { DAY, HOUR, type TemporalServer, timeSkippingServer } from './pipeline.ts';

const { sql } = await fileDatabase();
const started = endings();
let server: TemporalServer;
let processor: ReturnType<typeof ownProcessor>;

// A clock that has gone on is no use for a payment of today.
beforeEach(async () => {
  server = await timeSkippingServer();
  started.add(() => server.stop());
  processor = ownProcessor();
  const connection = await NativeConnection.connect({ address: server.address });
  started.add(() => connection.close());
  const worker = await Worker.create({
    ...{ connection, namespace: server.namespace, taskQueue: MESSAGES_QUEUE },
    workflowBundle: await workflowBundle(),
    activities: {
      ...paymentStartActivities(sql),
      ...paymentActivities(sql, [processor], () => Promise.resolve('simulated')),
    },
  });
  const running = worker.run();
  started.add(async () => {
    worker.shutdown();
    await running;
  });
  // In activities it is as late as on the server.
  const now = Date.now;
  vi.spyOn(Date, 'now').mockImplementation(
    () => asyncLocalStorage.getStore()?.info.currentAttemptScheduledTimestampMs ?? now(),
  );
});
afterEach(async () => {
  vi.restoreAllMocks();
  await started.all();
});

/** A processor whose clock is the server's, and which says nothing by itself. */
function ownProcessor(): PaymentProcessor & { state: PaymentState; looks: number } {
  let closesAt = Infinity;
  const state: PaymentState = {
    ...{ state: 'open', id: null, accountId: null, grossGrosze: 0, currency: 'PLN', live: false },
    ...{ reference: null, method: null, card: null, reversals: [] },
  };
  return {
    ...{ name: 'simulated', live: false, state, looks: 0 },
    startCheckout({ id, accountId, grossGrosze, expiresAt }) {
      closesAt = expiresAt.getTime();
      Object.assign(state, { id, accountId, grossGrosze });
      return Promise.resolve({ session: `cs_${id}`, url: '/' });
    },
    read() {
      this.looks += 1;
      if (state.state === 'open' && Date.now() >= closesAt) state.state = 'expired';
      return Promise.resolve(structuredClone(state));
    },
    chargeCard: () => Promise.reject(new PaymentRefusedError('not here')),
    refund: () => Promise.reject(new PaymentRefusedError('not here')),
  };
}

async function start() {
  const accountId = newId('cl');
  await sql`insert into accounts (id, name, mode) values (${accountId}, 'Test', 'test')`;
  const id = await storeTopUp(sql, accountId, 10_000);
  await server.client.workflow.start('topup', topupStart({ id, accountId }));
  const workflow = server.client.workflow.getHandle(id);
  return {
    ...{ id, accountId, workflow },
    /** The ended or waiting run: how often it asked the processor, and the length of its history. */
    size: async () => {
      const { events } = await workflow.fetchHistory();
      const looks = events!.filter(
        ({ activityTaskScheduledEventAttributes: asked }) => asked?.activityType?.name === 'lookAtPayment',
      ).length;
      return { looks, events: events!.length };
    },
    waits: async (ends: 'Timer' | 'Completed' = 'Timer') => {
      await until(`${id} waits: ${ends}`, async () => {
        const last = (await workflow.fetchHistory()).events!.at(-1);
        return Boolean(
          ends === 'Timer'
            ? last?.timerStartedEventAttributes
            : last?.workflowExecutionCompletedEventAttributes,
        );
      });
    },
  };
}

const stored = async (id: string) => {
  const [row] = await sql<{ state: string; reservations: number }[]>`
    select state, (select count(*)::int from reservations where subject_id = p.id) as reservations
      from payments p where id = ${id}`;
  return row;
};

test('a top-up that nobody pays expires after a day, by few looks', async () => {
  const { id, accountId, workflow, waits, size } = await start();
  await waits();
  await server.sleep(23 * HOUR + 59 * 60_000);
  expect(await stored(id)).toEqual({ state: 'open', reservations: 0 });
  await server.sleep(HOUR + 60_000);
  expect(await workflow.result()).toBe('Ended: expired.');
  expect(await stored(id)).toMatchObject({ state: 'expired' });
  expect(await bookedFor(accountId, sql)).toEqual([]);
  const { looks, events } = await size();
  // Within a minute at first, and every hour at least.
  expect(looks).toBeGreaterThanOrEqual(24);
  expect(looks).toBeLessThan(40);
  expect(events).toBeLessThan(500);
});

test('a paid one is followed for 400 days, by a look a week, and whatever is cancelled in Temporal; an event later is looked at once', async () => {
  const { id, accountId, workflow, waits, size } = await start();
  await waits();
  Object.assign(processor.state, { state: 'paid', reference: 'pi_1', method: 'card' });
  await workflow.cancel();
  await server.sleep(2 * 60_000);
  expect(await stored(id)).toMatchObject({ state: 'paid' });
  await server.sleep(200 * DAY);
  processor.state.reversals.push({ id: 'dp_1', kind: 'dispute', grossGrosze: 12_300, stands: true });
  // No event says so.
  await server.sleep(7 * DAY);
  const lost: [string, number][] = [
    ['topup', 10_000],
    ['dispute', -10_000],
  ];
  expect(await bookedFor(accountId, sql)).toEqual(lost);
  await server.sleep(190 * DAY);
  expect((await workflow.describe()).status.name).toBe('RUNNING');
  await server.sleep(10 * DAY);
  expect(await workflow.result()).toBe('Ended: paid.');
  expect((await workflow.describe()).status.name).toBe('COMPLETED');
  const { looks, events } = await size();
  expect(looks).toBeGreaterThanOrEqual(57);
  expect(looks).toBeLessThan(70);
  expect(events).toBeLessThan(1_000);

  Object.assign(processor.state.reversals[0]!, { stands: false });
  const before = processor.looks;
  await askToLook(server.client, { id, accountId });
  await waits('Completed');
  expect(await bookedFor(accountId, sql)).toEqual([...lost, ['dispute', 10_000]]);
  expect(processor.looks).toBe(before + 1);
  expect((await size()).looks).toBe(1);
});
