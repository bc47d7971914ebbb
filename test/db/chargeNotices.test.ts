import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ChargeListener, createChargeListener } from '../../operations/sending/chargeListener.ts';
import { billingActivities } from '../../activities/billing.ts';
import { openDatabase } from '../../db/connection.ts';
import { type ChargeNotice, listenForCharges, notifyCharged } from '../../db/money/chargeNotices.ts';
import { createChargeNotices } from '../../pipeline/chargeNotices.ts';
import { type FarDatabase, startFarDatabase } from '../support/database.ts';
import { eventually } from '../support/eventually.ts';

// Sent by workers, received by APIs.
let server: FarDatabase;
beforeAll(async () => {
  server = await startFarDatabase();
});
afterAll(() => server?.stop());

const paid = (requestId: string): ChargeNotice => ({ requestId, acceptance: { accepted: true } });

test('notices of charges reach everybody who listens, each once', async () => {
  const listeners = [openDatabase(server.url, 1), openDatabase(server.url, 1)];
  try {
    const received: ChargeNotice[][] = [[], []];
    for (const [i, listener] of listeners.entries())
      await listenForCharges(listener, (notice) => received[i]!.push(notice));
    const hostile = "req_2'; drop table messages; --";
    const unpaid = { accepted: false, reason: 'insufficient_funds' } as const;
    const sent = [paid('req_1'), { requestId: hostile, acceptance: unpaid }, paid(hostile), paid('req_3')];
    await notifyCharged(server.sql, sent.slice(0, 3));
    await notifyCharged(server.sql, sent.slice(3));
    await eventually(
      () => Promise.resolve(received),
      ([one, other]) => one!.length === 4 && other!.length === 4,
    );
    expect(received).toEqual([sent, sent]);
  } finally {
    for (const listener of listeners) await listener.end();
  }
});

/** Listens through the proxy, as an API does. */
async function farNotices(use: (notices: ChargeListener) => Promise<void>): Promise<void> {
  const far = openDatabase(server.farUrl, 1, 1_000);
  const notices = createChargeListener(
    far,
    () => openDatabase(server.farUrl, 1, 1_000),
    pino({ level: 'silent' }),
  );
  try {
    await use(notices);
  } finally {
    await notices.stop();
    await far.end({ timeout: 1 });
    server.proxy.restore();
  }
}

async function connectedInVain(times: number): Promise<void> {
  const before = server.proxy.opened();
  await eventually(
    () => Promise.resolve(server.proxy.opened()),
    (opened) => opened >= before + times,
  );
}

/** Waits until notices of charges come; one sent in vain is sent again. */
async function untilReceived(notices: ChargeListener): Promise<void> {
  const { decision, forget } = notices.of('req_again');
  let received = false;
  void decision.then(() => (received = true));
  await eventually(
    async () => {
      await notifyCharged(server.sql, [paid('req_again')]);
      return received;
    },
    Boolean,
    25_000,
  );
  forget();
}

const stateOf = (notices: ChargeListener, received: boolean): Promise<unknown> =>
  eventually(
    () => Promise.resolve(notices.works()),
    (now) => now === received,
    25_000,
  );

const listening = () =>
  server.sql<{ pid: number }[]>`select pid from pg_stat_activity where query ilike 'listen %'`;

test('a request is told of its own charge alone', async () => {
  const notices = createChargeListener(
    server.sql,
    () => openDatabase(server.url, 1),
    pino({ level: 'silent' }),
  );
  try {
    await stateOf(notices, true);
    const [one, other] = [notices.of('req_one'), notices.of('req_other')];
    const first = Promise.race([one.decision.then(() => 'one'), other.decision.then(() => 'other')]);
    await notifyCharged(server.sql, ['error', 'req_other', 'req_one'].map(paid));
    expect(await first).toBe('other');
    expect(await one.decision).toEqual({ accepted: true });
  } finally {
    await notices.stop();
  }
  await eventually(listening, (now) => now.length === 0);
});

// Its draft is gone then: a workflow task that is taken away and done again finds nothing, and could not say why.
test('a request that cannot be paid is known as such when it is charged, and only then', async () => {
  const { sql } = server;
  const log = pino({ level: 'silent' });
  const listener = createChargeListener(sql, () => openDatabase(server.url, 1), log);
  try {
    await stateOf(listener, true);
    await sql`insert into accounts (id, name, mode) values ('cl_1', 'Test', 'live')`;
    await sql`
      insert into messages (id, account_id, request_id, accepted_as, recipient, text, parts, cost_grosze, give_up_at, route)
      values ('msg_1', 'cl_1', 'req_1', 'queued', '+48500100200', 'x', 1, 10, now(), 'simulator')`;
    const errors: unknown[] = [];
    const billing = billingActivities(
      sql,
      createChargeNotices(sql, (error) => errors.push(error)),
    );
    const unpaid = { accepted: false, reason: 'insufficient_funds' };
    const first = listener.of('req_1');
    expect(await billing.charge('req_1')).toEqual(unpaid);
    expect(await first.decision).toEqual(unpaid);
    const second = listener.of('req_1');
    expect(await billing.charge('req_1')).toEqual({ accepted: false, reason: 'abandoned' });
    await notifyCharged(sql, [paid('req_1')]);
    expect(await second.decision, 'the next notice is the one after it').toEqual({ accepted: true });
    expect(errors).toEqual([]);
  } finally {
    await listener.stop();
  }
});

const outages: Record<string, () => Promise<void>> = {
  'its connection was ended': async () => {
    await server.sql`select pg_terminate_backend(pid) from pg_stat_activity where query ilike 'listen %'`;
  },
  'the database was away for a while': async () => {
    server.proxy.cut();
    await connectedInVain(3);
    server.proxy.restore();
  },
  'its connection died without a word': () => Promise.resolve(server.proxy.strand()),
};

test.each(Object.keys(outages))(
  'notices of charges come again after %s',
  (outage) =>
    farNotices(async (notices) => {
      await stateOf(notices, true);
      await outages[outage]!();
      await untilReceived(notices);
      await stateOf(notices, true);
      // What the server still holds open of the dead one is not this process's.
      server.proxy.notice();
      await eventually(listening, (now) => now.length === 1);
    }),
  60_000,
);

test(
  'a database that is away at first is listened to once it is there, by one connection',
  () =>
    farNotices(async (notices) => {
      server.proxy.cut();
      await connectedInVain(3);
      expect(notices.works()).toBe(false);
      server.proxy.restore();
      await stateOf(notices, true);
      expect(await listening()).toHaveLength(1);
    }),
  60_000,
);
