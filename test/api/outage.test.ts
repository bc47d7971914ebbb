import { describe, expect, it } from 'vitest';
import { endpoints } from '../../api/endpoints.ts';
import { type ApiAnswer, type ApiClient, apiClient, call } from '../support/client.ts';
import { eventually } from '../support/eventually.ts';
import {
  books,
  database,
  newAccount,
  newKey,
  storedMessages,
  type TestAccount,
} from '../support/factories.ts';
import { type CutOffApi, startCutOffApi } from '../support/cutOffApi.ts';
import { newEarlierAccount } from '../support/earlierClient.ts';
import { heldBack } from '../support/heldBack.ts';

const later = new Date(Date.now() + 86_400_000).toISOString();
const body = { to: '500100200', text: 'x', send_at: later };
const OUTAGES = [502, 504];
const CANCEL = '/v1/messages/msg_00000000000000000000000000';

const through = ({ api }: CutOffApi, { key }: Pick<TestAccount, 'key'>): ApiClient => apiClient(api.url, key);
const healthOf = ({ api }: CutOffApi) => call(`${api.url}/v1/health`);

/** A scenario with an API of its own, all of whose connections are well before it. */
const cutOff =
  <Args extends unknown[]>(scenario: (own: CutOffApi, ...args: Args) => Promise<void>) =>
  async (...args: Args) => {
    const own = await startCutOffApi();
    try {
      await healthy(own);
      await scenario(own, ...args);
    } finally {
      own.database.restore();
      own.temporal.restore();
      await own.stop();
    }
  };

async function healthy(own: CutOffApi): Promise<void> {
  await eventually(
    () => healthOf(own),
    ({ status }) => status === 200,
  );
}

// Each has an API of its own and mostly waits: together they take as long as one.
describe.concurrent('GET /v1/health', () => {
  it.each(['database', 'temporal'] as const)(
    'tells that the %s is away, and that it is back',
    cutOff(async (own, name) => {
      own[name].freeze();
      const { body: health } = await eventually(
        () => healthOf(own),
        ({ status }) => status === 503,
      );
      expect(health).toMatchObject({ status: 'unavailable', checks: { [name]: 'unavailable' } });
      await Promise.all(Array.from({ length: 20 }, () => healthOf(own)));
      own[name].restore();
      await healthy(own);
    }),
  );
});

describe.concurrent('without Temporal', () => {
  it.each(['cut', 'freeze'] as const)(
    '%s: a send is accepted, a cancel ends by itself',
    cutOff(async (own, how) => {
      const account = await newAccount({ balance: 100, price: 10 });
      const canceller = await newAccount();
      const scheduled = await canceller.api.accepted(body);
      own.temporal[how]();
      const [sent, cancelled] = await Promise.all([
        through(own, account).send(body, 'k'),
        through(own, canceller).delete(`/v1/messages/${scheduled.id}`),
      ]);
      expect(sent).toMatchObject({ status: 201, body: { status: 'scheduled' } });
      expect(OUTAGES).toContain(cancelled.status);
      expect(cancelled.body.error.code).toBe('provider_error');
      const again = await through(own, account).send(body, 'k');
      expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([201, 'true']);
      expect(await books(account.id)).toMatchObject({ balance: 90, ledger: 90 });
      own.temporal.restore();
      await healthy(own);
      await eventually(
        () => through(own, canceller).delete(`/v1/messages/${scheduled.id}`),
        ({ status }) => status === 200,
      );
    }),
  );
});

describe.concurrent('without the database', () => {
  it.each(['cut', 'freeze'] as const)(
    '%s: every request ends with 502 or 504, and works again afterwards',
    cutOff(async (own, how) => {
      const account = await newAccount({ balance: 100, price: 10 });
      own.database[how]();
      const answers = await Promise.all([
        through(own, account).get('/v1/account'),
        through(own, account).send(body, 'k'),
      ]);
      for (const answer of answers) {
        expect(OUTAGES).toContain(answer.status);
        expect(answer.body.error.code).toBe('provider_error');
      }
      own.database.restore();
      await eventually(
        () => through(own, account).get('/v1/account'),
        ({ status }) => status === 200,
      );
      expect(await books(account.id)).toMatchObject({ balance: 100, ledger: 100 });
    }),
  );

  it(
    'the history of the earlier interface ends with 503, whose key nobody can look for; its balance with 502',
    cutOff(async (own) => {
      const { token } = await newEarlierAccount();
      const statusOf = async (path: string): Promise<number> => {
        const answer = await fetch(own.api.url + path, { headers: { authorization: `Bearer ${token}` } });
        const { error } = (await answer.json()) as { error?: { code: number } };
        expect(error?.code ?? 200).toBe(answer.status);
        return answer.status;
      };
      own.database.cut();
      expect(await Promise.all(['/v1/messages', '/v1/balance'].map(statusOf))).toEqual([503, 502]);
      own.database.restore();
      await eventually(
        () => Promise.all(['/v1/messages', '/v1/balance'].map(statusOf)),
        (statuses) => statuses.every((status) => status === 200),
      );
    }),
  );
});

/** Requests of an account that were let in within this minute. */
async function counted(accountId: string): Promise<number> {
  const [row] = await database()<{ used: number }[]>`
    select used from rate_windows where account_id = ${accountId}`;
  return row?.used ?? 0;
}

/**
 * Breaks the connections when requests are under way in the database and have no answer yet.
 * @param until so many requests of the account were let in
 */
async function cutUnder<T>(
  own: CutOffApi,
  { id }: TestAccount,
  until: number,
  ask: () => readonly Promise<T>[],
): Promise<T[]> {
  own.database.mute();
  const asking = Promise.all(ask());
  await eventually(
    () => counted(id),
    (requests) => requests === until,
  );
  own.database.cut();
  return await asking;
}

describe.concurrent('an endpoint that reads', () => {
  // Whatever has neither path parameters nor a body: everything else shares the way of its answers.
  const reading = endpoints.filter(
    ({ method, path, scope }) => method === 'GET' && scope !== null && !path.includes(':'),
  );

  it(
    'answers 502 when the connection to the database breaks off under its request: GET /v1/senders and every other',
    cutOff(async (own) => {
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
      await Promise.all(others.flatMap((one) => asked(keys.map(() => through(own, one)))));
      const answers = await cutUnder(own, account, keys.length, () =>
        asked(keys.map((key) => through(own, key))),
      );
      const told = answers.map(({ path, answer }) => [path, answer.status, answer.body.error.code]);
      expect(told).toEqual(
        [...reading.map(({ path }) => path), CANCEL].map((path) => [path, 502, 'provider_error']),
      );
      own.database.restore();
      await eventually(
        () => Promise.all(reading.map(({ path }) => through(own, account).get(path))),
        (again) => again.every(({ status }) => status === 200),
      );
    }),
  );
});

describe.concurrent('without the database, in the middle of a send', () => {
  it(
    'says that nobody knows; a retry with the key comes to one send',
    cutOff(async (own) => {
      const account = await newAccount({ balance: 100, price: 10 });
      let sending: Promise<ApiAnswer>;
      const answer = await heldBack(account, async (waiting) => {
        sending = through(own, account).send(body, 'k');
        await waiting();
        own.database.cut();
      }).then(() => sending);
      expect(OUTAGES).toContain(answer.status);
      expect(answer.body.error.message).toContain('Nie wiadomo');
      own.database.restore();
      await healthy(own);
      await eventually(
        () => through(own, account).send(body, 'k'),
        ({ status }) => status === 201,
      );
      expect(await storedMessages(account.id)).toHaveLength(1);
      expect(await books(account.id)).toMatchObject({ balance: 90, ledger: 90 });
    }),
  );
});
