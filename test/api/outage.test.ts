import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { endpoints } from '../../api/endpoints.ts';
import type { RunningApi } from '../../api/server.ts';
import { type ApiClient, apiClient, call } from '../support/client.ts';
import { eventually } from '../support/eventually.ts';
import {
  books,
  database as serviceDatabase,
  newAccount,
  newKey,
  storedMessages,
  type TestAccount,
} from '../support/factories.ts';
import { startCutOffApi } from '../support/cutOffApi.ts';
import { newEarlierAccount } from '../support/earlierClient.ts';
import type { Proxy } from '../support/proxy.ts';
import { undisturbed } from '../support/undisturbed.ts';

const later = new Date(Date.now() + 86_400_000).toISOString();
const body = { to: '500100200', text: 'x', send_at: later };
const OUTAGES = [502, 504];
const CANCEL = '/v1/messages/msg_00000000000000000000000000';

let database: Proxy;
let temporal: Proxy;
let api: RunningApi;
const through = ({ key }: Pick<TestAccount, 'key'>): ApiClient => apiClient(api.url, key);

let stop: () => Promise<void>;
beforeAll(async () => {
  ({ api, database, temporal, stop } = await startCutOffApi());
});
afterAll(() => stop());

/** A scenario with an API of this process, all of whose connections are well before it and after it. */
const keptInTime = <Args extends unknown[]>(scenario: (...args: Args) => Promise<void>) =>
  undisturbed(async (...args: Args) => {
    await healthy();
    try {
      await scenario(...args);
    } finally {
      database.restore();
      temporal.restore();
    }
  });

async function healthy(): Promise<void> {
  await eventually(
    () => call(`${api.url}/v1/health`),
    ({ status }) => status === 200,
  );
}

async function timed<T>(work: Promise<T>): Promise<{ answer: T; ms: number }> {
  const start = Date.now();
  const answer = await work;
  return { answer, ms: Date.now() - start };
}

describe('GET /v1/health', () => {
  it('tells without a key that all is well', async () => {
    const { body: health } = await eventually(
      () => call(`${api.url}/v1/health`),
      ({ status }) => status === 200,
    );
    expect(health).toEqual({ status: 'ok', service: 'goniec', version: '2.3.0' });
  });

  it.each([
    ['database', () => database],
    ['temporal', () => temporal],
  ])(
    'tells within a moment that the %s is away, and that it is back',
    keptInTime(async (name, proxy) => {
      proxy().freeze();
      const { body: health } = await eventually(
        () => call(`${api.url}/v1/health`),
        ({ status }) => status === 503,
      );
      expect(health).toMatchObject({ status: 'unavailable', checks: { [name]: 'unavailable' } });
      const { ms } = await timed(Promise.all(Array.from({ length: 20 }, () => call(`${api.url}/v1/health`))));
      expect(ms).toBeLessThan(1500);
      proxy().restore();
      await healthy();
    }),
    90_000,
  );
});

describe('without Temporal', () => {
  it.each(['cut', 'freeze'] as const)(
    '%s: a send ends within ten seconds, certainly not sent; its key is free',
    keptInTime(async (how) => {
      const account = await newAccount({ balance: 100, price: 10 });
      const canceller = await newAccount();
      const scheduled = await canceller.api.accepted(body);
      temporal[how]();
      const [send, cancel] = await Promise.all([
        timed(through(account).send(body, 'k')),
        timed(through(canceller).delete(`/v1/messages/${scheduled.id}`)),
      ]);
      for (const { answer, ms } of [send, cancel]) {
        expect(OUTAGES).toContain(answer.status);
        expect(answer.body.error.code).toBe('provider_error');
        expect(ms).toBeLessThan(11_000);
      }
      expect(send.answer.body.error.message).toContain('Nic nie zostało wysłane');
      expect(await storedMessages(account.id)).toEqual([]);
      temporal.restore();
      await healthy();
      const again = await through(account).send(body, 'k');
      expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([201, null]);
      expect(await books(account.id)).toMatchObject({ balance: 90, ledger: 90 });
    }),
    90_000,
  );
});

describe('without the database', () => {
  it.each(['cut', 'freeze'] as const)(
    '%s: every request ends with 502 or 504, and works again afterwards',
    keptInTime(async (how) => {
      const account = await newAccount({ balance: 100, price: 10 });
      database[how]();
      const answers = await Promise.all([
        timed(through(account).get('/v1/account')),
        timed(through(account).send(body, 'k')),
      ]);
      for (const { answer, ms } of answers) {
        expect(OUTAGES).toContain(answer.status);
        expect(answer.body.error.code).toBe('provider_error');
        expect(ms).toBeLessThan(11_000);
      }
      database.restore();
      await eventually(
        () => through(account).get('/v1/account'),
        ({ status }) => status === 200,
      );
      expect(await books(account.id)).toMatchObject({ balance: 100, ledger: 100 });
    }),
    90_000,
  );

  it(
    'the history of the earlier interface ends with 503, whose key nobody can look for; its balance with 502',
    keptInTime(async () => {
      const { token } = await newEarlierAccount();
      const statusOf = async (path: string): Promise<number> => {
        const answer = await fetch(api.url + path, { headers: { authorization: `Bearer ${token}` } });
        const { error } = (await answer.json()) as { error?: { code: number } };
        expect(error?.code ?? 200).toBe(answer.status);
        return answer.status;
      };
      database.cut();
      expect(await statusOf('/v1/messages')).toBe(503);
      expect(await statusOf('/v1/balance')).toBe(502);
      database.restore();
      await eventually(
        () => Promise.all(['/v1/messages', '/v1/balance'].map(statusOf)),
        (statuses) => statuses.every((status) => status === 200),
      );
    }),
    90_000,
  );
});

/** Requests of an account that were let in within this minute. */
async function counted(accountId: string): Promise<number> {
  const [row] = await serviceDatabase()<{ used: number }[]>`
    select used from rate_windows where account_id = ${accountId}`;
  return row?.used ?? 0;
}

/**
 * Breaks the connections when requests are under way in the database and have no answer yet.
 * @param until so many requests of the account were let in
 */
async function cutUnder<T>(
  { id }: TestAccount,
  until: number,
  ask: () => readonly Promise<T>[],
): Promise<T[]> {
  database.mute();
  const asking = Promise.all(ask());
  await eventually(
    () => counted(id),
    (requests) => requests === until,
  );
  database.cut();
  return await asking;
}

describe('an endpoint that reads', () => {
  // Whatever has neither path parameters nor a body: everything else shares the way of its answers.
  const reading = endpoints.filter(
    ({ method, path, scope }) => method === 'GET' && scope !== null && !path.includes(':'),
  );

  it(
    'answers 502 when the connection to the database breaks off under its request: GET /v1/senders and every other',
    keptInTime(async () => {
      expect(reading.map(({ path }) => path)).toContain('/v1/senders');
      const account = await newAccount();
      // Requests with one key are looked up together.
      const keys = await Promise.all([...reading, CANCEL].map(() => newKey(account.id)));
      const asked = (clients: readonly ApiClient[]) => [
        ...reading.map(async ({ path }, i) => ({ path, answer: await clients[i]!.get(path) })),
        clients
          .at(-1)!
          .delete(CANCEL)
          .then((answer) => ({ path: CANCEL, answer })),
      ];
      // None can be opened while the database is mute.
      const others = await Promise.all([1, 2, 3].map(() => newAccount()));
      await Promise.all(others.flatMap((one) => asked(keys.map(() => through(one)))));
      const answers = await cutUnder(account, keys.length, () => asked(keys.map(through)));
      const told = answers.map(({ path, answer }) => [path, answer.status, answer.body.error.code]);
      expect(told).toEqual(
        [...reading.map(({ path }) => path), CANCEL].map((path) => [path, 502, 'provider_error']),
      );
      database.restore();
      await eventually(
        () => Promise.all(reading.map(({ path }) => through(account).get(path))),
        (again) => again.every(({ status }) => status === 200),
      );
    }),
    90_000,
  );
});

describe('without either, in the middle of a send', () => {
  it(
    'says that nobody knows; a retry with the key comes to one send',
    keptInTime(async () => {
      const account = await newAccount({ balance: 100, price: 10 });
      temporal.freeze();
      const sending = timed(through(account).send(body, 'k'));
      await eventually(
        () => storedMessages(account.id),
        (stored) => stored.length === 1,
      );
      // Its own statements have their answers.
      expect((await through(account).get('/v1/account')).status).toBe(200);
      database.freeze();
      const { answer, ms } = await sending;
      expect(OUTAGES).toContain(answer.status);
      expect(answer.body.error.message).toContain('Nie wiadomo');
      expect(ms).toBeLessThan(11_000);
      database.restore();
      temporal.restore();
      await healthy();
      await eventually(
        () => through(account).send(body, 'k'),
        ({ status }) => status === 201,
      );
      const accepted = (await storedMessages(account.id)).filter(({ status }) => status === 'scheduled');
      expect(accepted).toHaveLength(1);
      expect(await books(account.id)).toMatchObject({ balance: 90, ledger: 90 });
    }),
    90_000,
  );
});
