import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ChargeNews, createChargeNews } from '../../operations/sending/chargeNews.ts';
import { openDatabase } from '../../db/connection.ts';
import { hearCharged, tellCharged } from '../../db/money/chargeNews.ts';
import { type FarDatabase, startFarDatabase } from '../support/database.ts';
import { eventually } from '../support/eventually.ts';

// Told by workers, heard by APIs.
let server: FarDatabase;
beforeAll(async () => {
  server = await startFarDatabase();
});
afterAll(() => server?.stop());

test('charges are heard by everybody who listens, each once', async () => {
  const listeners = [openDatabase(server.url, 1), openDatabase(server.url, 1)];
  try {
    const heard: string[][] = [[], []];
    for (const [i, listener] of listeners.entries()) await hearCharged(listener, (id) => heard[i]!.push(id));
    const hostile = "req_2'; drop table messages; --";
    await tellCharged(server.sql, ['req_1', hostile]);
    await tellCharged(server.sql, ['req_3']);
    await eventually(
      () => Promise.resolve(heard),
      ([one, other]) => one!.length === 3 && other!.length === 3,
    );
    expect(heard).toEqual([
      ['req_1', hostile, 'req_3'],
      ['req_1', hostile, 'req_3'],
    ]);
  } finally {
    for (const listener of listeners) await listener.end();
  }
});

/** Hears through the proxy, as an API does. */
async function farNews(use: (news: ChargeNews) => Promise<void>): Promise<void> {
  const far = openDatabase(server.farUrl, 1, 1_000);
  const news = createChargeNews(far, () => openDatabase(server.farUrl, 1, 1_000), pino({ level: 'silent' }));
  try {
    await use(news);
  } finally {
    await news.stop();
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

/** Whether charges are heard of; what is told in vain is told again. */
async function untilHeard(news: ChargeNews): Promise<void> {
  const { accepted, forget } = news.of('req_again');
  let heard = false;
  void accepted.then(() => (heard = true));
  await eventually(
    async () => {
      await tellCharged(server.sql, ['req_again']);
      return heard;
    },
    Boolean,
    25_000,
  );
  forget();
}

const stateOf = (news: ChargeNews, heard: boolean): Promise<unknown> =>
  eventually(
    () => Promise.resolve(news.heard()),
    (now) => now === heard,
    25_000,
  );

const listening = () =>
  server.sql<{ pid: number }[]>`select pid from pg_stat_activity where query ilike 'listen %'`;

test('a request is told of its own charge alone', async () => {
  const news = createChargeNews(server.sql, () => openDatabase(server.url, 1), pino({ level: 'silent' }));
  try {
    await stateOf(news, true);
    const [one, other] = [news.of('req_one'), news.of('req_other')];
    const first = Promise.race([one.accepted.then(() => 'one'), other.accepted.then(() => 'other')]);
    await tellCharged(server.sql, ['error', 'req_other', 'req_one']);
    expect(await first).toBe('other');
    expect(await one.accepted).toEqual({ accepted: true });
  } finally {
    await news.stop();
  }
  await eventually(listening, (now) => now.length === 0);
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
  'charges are heard again after %s',
  (outage) =>
    farNews(async (news) => {
      await stateOf(news, true);
      await outages[outage]!();
      await untilHeard(news);
      await stateOf(news, true);
      // What the server still holds open of the dead one is not this process's.
      server.proxy.notice();
      await eventually(listening, (now) => now.length === 1);
    }),
  60_000,
);

test(
  'a database that is away at first is listened to once it is there, by one connection',
  () =>
    farNews(async (news) => {
      server.proxy.cut();
      await connectedInVain(3);
      expect(news.heard()).toBe(false);
      server.proxy.restore();
      await stateOf(news, true);
      expect(await listening()).toHaveLength(1);
    }),
  60_000,
);
