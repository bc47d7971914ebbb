import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { QuotaReachedError, ToolBudgetError } from '../../db/accounts/quotas.ts';
import { hasSqlState, SQLSTATE } from '../../db/connection.ts';
import { newId } from '../../db/ids.ts';
import {
  type Accepting,
  acceptMessages,
  LinksChangedError,
  type NewMessage,
} from '../../db/messages/accept.ts';
import { InsufficientFundsError } from '../../db/money/reservations.ts';
import { type KeyClaim, KeyTakenError, readKeyRecord } from '../../db/messages/idempotency.ts';
import { eventually } from '../support/eventually.ts';
import { fileDatabase } from '../support/database.ts';
import { newMessage } from '../support/messages.ts';

const { sql } = await fileDatabase();

interface Funds {
  billing?: 'prepaid' | 'postpaid';
  balance: number;
  creditLimit?: number;
  credits?: number;
}

async function accountWith({
  billing = 'prepaid',
  balance,
  creditLimit = 0,
  credits = 0,
}: Funds): Promise<string> {
  const id = newId('cl');
  await sql`
    insert into accounts (id, name, mode, billing_mode, credit_limit_grosze)
    values (${id}, 'A', ${credits > 0 ? 'test' : 'live'}, ${billing}, ${creditLimit})`;
  await sql`
    insert into ledger_entries (account_id, kind, amount_grosze, test_credits) values (${id}, 'opening', ${balance}, ${credits})`;
  return id;
}

const LIMITS = { unpaid_messages: 1_000, unpaid_bytes: 1_000_000 };

/** What a request accepts: of an account, with what it costs each, and whatever else is said. */
function accepting(
  accountId: string,
  costs: readonly number[],
  { message = {}, ...rest }: Partial<Omit<Accepting, 'messages'>> & { message?: Partial<NewMessage> } = {},
): Accepting {
  const requestId = newId('req');
  const messages = costs.map((costGrosze, index) =>
    newMessage({ accountId, requestId, recipient: `+48500${100_000 + index}`, costGrosze, ...message }),
  );
  return { messages, claims: [], limits: LIMITS, spending: null, ...rest };
}

const claim = (key: string): KeyClaim => {
  return { key, fingerprint: Buffer.from(key), acceptedBody: { of: key } };
};

interface Books {
  balance: number;
  credits: number;
  /** What the ledger sums up to. */
  ledger: number;
  charges: number;
  messages: number;
  reservations: number;
  keys: number;
}

/** All that an acceptance leaves behind. */
async function booksOf(account: string): Promise<Books> {
  const [books] = await sql<Books[]>`
    select balance_grosze as balance, test_credits as credits,
           (select sum(amount_grosze)::int from ledger_entries where account_id = a.id) as ledger,
           (select count(*)::int from ledger_entries where account_id = a.id and kind = 'charge') as charges,
           (select count(*)::int from messages where account_id = a.id) as messages,
           (select count(*)::int from reservations where account_id = a.id) as reservations,
           (select count(*)::int from idempotency_keys where account_id = a.id) as keys
      from accounts a where id = ${account}`;
  return books!;
}

/** Refused with this, a request leaves nothing behind. */
async function expectNothingOf(
  account: string,
  request: Accepting,
  refusal: new (...args: never[]) => Error,
): Promise<void> {
  const before = await booksOf(account);
  await expect(acceptMessages(sql, request)).rejects.toThrow(refusal);
  expect(await booksOf(account)).toEqual(before);
}

const outcomeOf = (request: Accepting): Promise<string> =>
  acceptMessages(sql, request).then(
    () => 'accepted',
    (error: unknown) => (error instanceof Error ? error.name : 'unknown'),
  );

const count = (outcomes: readonly string[], outcome: string): number =>
  outcomes.filter((one) => one === outcome).length;

const waitingForLocks = async (): Promise<number> =>
  (
    await sql`
      select from pg_stat_activity where datname = current_database() and wait_event in ('transactionid', 'tuple')`
  ).count;

// One statement, and several: with a key each.
const WAYS = [
  ['with one key', () => [claim('k')]],
  ['with two', () => [claim('k1'), claim('k2')]],
  ['without', () => []],
] as const;

describe.each(WAYS)('messages that are accepted %s', (_, claims) => {
  test.each([
    [{ balance: 30 }, [10, 20], true],
    [{ balance: 29 }, [10, 20], false],
    [{ billing: 'postpaid', balance: 0, creditLimit: 30 }, [10, 20], true],
    [{ billing: 'postpaid', balance: 0, creditLimit: 29 }, [10, 20], false],
    [{ billing: 'postpaid', balance: -5, creditLimit: 35 }, [10, 20], true],
    [{ billing: 'prepaid', balance: 0, creditLimit: 30 }, [10, 20], false],
  ] as [Funds, number[], boolean][])('of funds %o pay %o all, or none: %o', async (funds, costs, paid) => {
    const account = await accountWith(funds);
    const request = accepting(account, costs, { claims: claims() });
    if (!paid) return await expectNothingOf(account, request, InsufficientFundsError);
    await acceptMessages(sql, request);
    const balance = funds.balance - costs.reduce((sum, cost) => sum + cost, 0);
    expect(await booksOf(account)).toEqual({
      ...{ balance, ledger: balance, credits: 0, keys: claims().length },
      ...{ charges: costs.length, messages: costs.length, reservations: costs.length },
    });
  });

  test.each([
    [2, true],
    [1, false],
  ])('of %i test credits take one each, whatever they would cost: %o', async (credits, paid) => {
    const account = await accountWith({ balance: 7, credits });
    const request = accepting(account, [10, 20], { claims: claims(), message: { testCredits: 1 } });
    if (!paid) return await expectNothingOf(account, request, InsufficientFundsError);
    await acceptMessages(sql, request);
    expect(await booksOf(account)).toMatchObject({ balance: 7, ledger: 7, credits: 0, charges: 2 });
  });

  test('are there with their statuses; rejected ones cost nothing and are not to be started', async () => {
    const account = await accountWith({ balance: 10 });
    const { messages, ...rest } = accepting(account, [0, 10], { claims: claims() });
    const [rejected, scheduled] = [
      { ...messages[0]!, status: 'rejected', errorCode: 'blacklisted' } as const,
      {
        ...messages[1]!,
        status: 'scheduled',
        sendAt: new Date(Date.now() + 3_600_000),
        priority: true,
      } as const,
    ];
    await acceptMessages(sql, { ...rest, messages: [rejected, scheduled] });
    expect(await booksOf(account)).toMatchObject({ balance: 0, charges: 1, messages: 2, reservations: 1 });
    const rows = await sql`
      select id, status, accepted_as, error_code, send_at from messages where account_id = ${account} order by id`;
    expect([...rows]).toEqual([
      { id: rejected.id, status: 'rejected', acceptedAs: 'rejected', errorCode: 'blacklisted', sendAt: null },
      {
        ...{ id: scheduled.id, status: 'scheduled', acceptedAs: 'scheduled', errorCode: null },
        sendAt: scheduled.sendAt,
      },
    ]);
    const [reserved] =
      await sql`select subject_id, kind, priority from reservations where account_id = ${account}`;
    expect(reserved).toEqual({ subjectId: scheduled.id, kind: 'message', priority: true });
  });
});

describe('many at once', () => {
  test.each([
    ['the last grosz', { balance: 10 }, [10], 2, 1],
    ['the last test credit', { balance: 0, credits: 1 }, [10], 2, 1],
    ['more than there is', { balance: 205 }, [3, 7], 40, 20],
  ] as [string, Funds, number[], number, number][])(
    'that want %s are accepted as far as it goes',
    async (_, funds, costs, requests, accepted) => {
      const account = await accountWith(funds);
      const message = { testCredits: funds.credits === undefined ? 0 : 1 };
      // Every other one in several statements.
      const outcomes = await Promise.all(
        Array.from({ length: requests }, (__, n) =>
          outcomeOf(
            accepting(account, costs, {
              message,
              claims: n % 2 === 0 ? [] : [claim(`a${n}`), claim(`b${n}`)],
            }),
          ),
        ),
      );
      expect(count(outcomes, 'accepted')).toBe(accepted);
      expect(count(outcomes, 'InsufficientFundsError')).toBe(requests - accepted);
      const books = await booksOf(account);
      const [spent, credits] =
        funds.credits === undefined ? [10 * accepted, 0] : [0, funds.credits - accepted];
      expect(books).toMatchObject({ balance: funds.balance - spent, ledger: funds.balance - spent, credits });
      expect(books).toMatchObject({
        messages: costs.length * accepted,
        reservations: costs.length * accepted,
      });
    },
  );
});

describe('a key', () => {
  test.each([
    ['alone', [claim('k')]],
    ['among others', [claim('a'), claim('k'), claim('z')]],
  ])(
    'that another request has refuses what comes with it %s, and nothing of it is left',
    async (_, claims) => {
      const account = await accountWith({ balance: 100 });
      const first = accepting(account, [10], { claims: [claim('k')] });
      await acceptMessages(sql, first);
      await expectNothingOf(account, accepting(account, [10, 10], { claims }), KeyTakenError);
      await expect(acceptMessages(sql, accepting(account, [10], { claims }))).rejects.toMatchObject({
        key: 'k',
      });
      expect(await readKeyRecord(sql, account, 'k')).toEqual({
        fingerprint: Buffer.from('k'),
        body: { of: 'k' },
      });
      const [{ requestId } = { requestId: '' }] = await sql<{ requestId: string }[]>`
      select request_id from idempotency_keys where account_id = ${account}`;
      expect(requestId).toBe(first.messages[0]!.requestId);
    },
  );

  test.each([
    ['23:59', false],
    ['24:00', true],
  ])('of %s hours ago is free: %o', async (age, isFree) => {
    const account = await accountWith({ balance: 100 });
    await acceptMessages(sql, accepting(account, [10], { claims: [claim('k')] }));
    await sql`
      update idempotency_keys set created_at = now() - ${age}::interval where account_id = ${account}`;
    const next = accepting(account, [10], { claims: [{ ...claim('k'), acceptedBody: { of: 'another' } }] });
    if (!isFree) return await expectNothingOf(account, next, KeyTakenError);
    expect(await readKeyRecord(sql, account, 'k')).toBeNull();
    await acceptMessages(sql, next);
    expect(await readKeyRecord(sql, account, 'k')).toMatchObject({ body: { of: 'another' } });
    expect(await booksOf(account)).toMatchObject({ balance: 80, messages: 2, keys: 1 });
    await expectNothingOf(account, accepting(account, [10], { claims: [claim('k')] }), KeyTakenError);
  });

  test('is free again for one that waited for a request that was refused', async () => {
    const account = await accountWith({ balance: 10 });
    let second: Promise<string> | undefined;
    const first = sql.begin(async (tx) => {
      await tx`
        insert into idempotency_keys (account_id, key, fingerprint, request_id, accepted_body)
        values (${account}, 'k', '', ${newId('req')}, '{}')`;
      second = outcomeOf(accepting(account, [10], { claims: [claim('k')] }));
      await eventually(waitingForLocks, (waiting) => waiting > 0);
      throw new Error('refused');
    });
    await expect(first).rejects.toThrow('refused');
    expect(await second).toBe('accepted');
    expect(await booksOf(account)).toMatchObject({ balance: 0, messages: 1, keys: 1 });
  });
});

describe('a bulk of more than a statement takes', () => {
  const COSTS = Array.from({ length: 2_500 }, () => 2);

  test('is accepted as a whole', async () => {
    const account = await accountWith({ balance: 5_000 });
    await acceptMessages(sql, accepting(account, COSTS, { claims: [claim('k')] }));
    expect(await booksOf(account)).toEqual({
      ...{ balance: 0, ledger: 0, credits: 0, keys: 1 },
      ...{ charges: 2_500, messages: 2_500, reservations: 2_500 },
    });
    const [times] = await sql`
      select count(distinct created_at)::int as times from ledger_entries where account_id = ${account} and kind = 'charge'`;
    expect(times).toEqual({ times: 1 });
  });

  test('that its account cannot pay to the last grosz leaves nothing', async () => {
    const account = await accountWith({ balance: 4_999 });
    await expectNothingOf(
      account,
      accepting(account, COSTS, { claims: [claim('k')] }),
      InsufficientFundsError,
    );
  });

  test('of which the last message cannot be written leaves nothing', async () => {
    const account = await accountWith({ balance: 6_000 });
    const first = accepting(account, [10]);
    await acceptMessages(sql, first);
    const { messages, ...rest } = accepting(account, COSTS, { claims: [claim('k')] });
    const clashing = { ...messages.at(-1)!, id: first.messages[0]!.id };
    const request = { ...rest, messages: [...messages.slice(0, -1), clashing] };
    const before = await booksOf(account);
    const failing = acceptMessages(sql, request);
    await expect(failing).rejects.toSatisfy((error) => hasSqlState(error, SQLSTATE.uniqueViolation));
    expect(await booksOf(account)).toEqual(before);
  });

  test('of long texts too is written in several statements, and is one', async () => {
    const account = await accountWith({ balance: 12 });
    const request = accepting(account, [2, 2, 2, 2, 2, 2], { message: { text: 'x'.repeat(400_000) } });
    await acceptMessages(sql, request);
    expect(await booksOf(account)).toMatchObject({ balance: 0, messages: 6, reservations: 6 });
    await expectNothingOf(
      account,
      accepting(account, [0, 0, 0, 0, 0, 1], { message: { text: 'x'.repeat(400_000) } }),
      InsufficientFundsError,
    );
  });
});

describe('the budget of a key for tools', () => {
  async function keyWith(account: string, budget: number | null): Promise<string> {
    const id = newId('key');
    await sql`
      insert into api_keys (id, account_id, hash, hint, mode, scopes, tool_budget_grosze)
      values (${id}, ${account}, ${Buffer.from(id)}, 'x', 'live', '{send}', ${budget})`;
    return id;
  }
  const spentOf = async (keyId: string): Promise<number[]> =>
    (await sql<{ grosze: number }[]>`select grosze from tool_spending where key_id = ${keyId}`).map(
      ({ grosze }) => grosze,
    );
  const spending = (keyId: string, costGrosze: number) => ({ spending: { keyId, costGrosze } });

  test('covers what it covers to the grosz; what is beyond is refused, and nothing of it is left', async () => {
    const account = await accountWith({ balance: 100 });
    const keyId = await keyWith(account, 15);
    await acceptMessages(sql, accepting(account, [10], { claims: [claim('k')], ...spending(keyId, 10) }));
    const beyond = accepting(account, [3, 3], { claims: [claim('l')], ...spending(keyId, 6) });
    await expectNothingOf(account, beyond, ToolBudgetError);
    await expect(acceptMessages(sql, beyond)).rejects.toMatchObject({ budgetGrosze: 15, costGrosze: 6 });
    expect(await spentOf(keyId)).toEqual([10]);
    await acceptMessages(sql, accepting(account, [5], { claims: [claim('l')], ...spending(keyId, 5) }));
    expect(await spentOf(keyId)).toEqual([15]);
    expect(await booksOf(account)).toMatchObject({ balance: 85, messages: 2, keys: 2 });
  });

  test.each([
    ['the account cannot pay', [101], [], InsufficientFundsError],
    ['has a key that is taken', [1], [claim('k')], KeyTakenError],
  ] as const)('is not charged for what is refused because it %s', async (_, costs, claims, refusal) => {
    const account = await accountWith({ balance: 101 });
    const keyId = await keyWith(account, 1_000);
    await acceptMessages(sql, accepting(account, [1], { claims: [claim('k')], ...spending(keyId, 1) }));
    await expectNothingOf(
      account,
      accepting(account, costs, { claims, ...spending(keyId, costs[0]) }),
      refusal,
    );
    expect(await spentOf(keyId)).toEqual([1]);
  });

  test('is nobody’s where the key has none, or nobody’s at all where it is zero', async () => {
    const account = await accountWith({ balance: 100 });
    const [free, closed] = [await keyWith(account, null), await keyWith(account, 0)];
    await acceptMessages(sql, accepting(account, [10], spending(free, 10)));
    await expectNothingOf(account, accepting(account, [10], spending(closed, 10)), ToolBudgetError);
    expect([await spentOf(free), await spentOf(closed)]).toEqual([[], []]);
  });

  test('covers of many at once those that fit together', async () => {
    const account = await accountWith({ balance: 1_000 });
    const keyId = await keyWith(account, 70);
    const outcomes = await Promise.all(
      Array.from({ length: 20 }, () => outcomeOf(accepting(account, [10], spending(keyId, 10)))),
    );
    expect([count(outcomes, 'accepted'), count(outcomes, 'ToolBudgetError')]).toEqual([7, 13]);
    expect(await spentOf(keyId)).toEqual([70]);
    expect(await booksOf(account)).toMatchObject({ balance: 930, messages: 7 });
  });
});

describe('of messages that cost nothing', () => {
  const rejected = { status: 'rejected' as const, text: 'żółć' };

  test.each([
    ['as many as an account may have', { unpaid_messages: 5, unpaid_bytes: 1_000 }, 2],
    // Eight octets each.
    ['as long ones as it may have', { unpaid_messages: 100, unpaid_bytes: 47 }, 2],
  ])('%s are accepted, however many requests come at once', async (_, limits, fit) => {
    const account = await accountWith({ balance: 0 });
    const requests = Array.from({ length: 8 }, (__, n) =>
      accepting(account, [0, 0], { limits, message: rejected, claims: [claim(`k${n}`)] }),
    );
    const outcomes = await Promise.all(requests.map(outcomeOf));
    expect([count(outcomes, 'accepted'), count(outcomes, 'QuotaReachedError')]).toEqual([fit, 8 - fit]);
    expect(await booksOf(account)).toMatchObject({ messages: 2 * fit, keys: fit, reservations: 0 });
    await expectNothingOf(account, requests[outcomes.indexOf('QuotaReachedError')]!, QuotaReachedError);
  });

  test('those of a day ago are not counted, nor what is paid', async () => {
    const account = await accountWith({ balance: 100 });
    const limits = { unpaid_messages: 2, unpaid_bytes: 1_000 };
    await acceptMessages(sql, accepting(account, [0, 0], { limits, message: rejected }));
    await acceptMessages(sql, accepting(account, [10, 10, 10], { limits }));
    const tomorrow = new Date(Date.now() + 86_400_000 + 60_000);
    await expectNothingOf(
      account,
      accepting(account, [0, 0], { limits, message: rejected }),
      QuotaReachedError,
    );
    const later = accepting(account, [0, 0], { limits, message: { ...rejected, createdAt: tomorrow } });
    await acceptMessages(sql, later);
    expect(await booksOf(account)).toMatchObject({ balance: 70, messages: 7 });
  });
});

describe('links', () => {
  const URL = 'https://example.com/oferta';
  const linked = (token: string, isNew = true) => ({ links: [{ url: URL, token, isNew }] });
  const token = () => newId('msg').slice(-8);

  const linksOf = async (account: string) => {
    const rows = await sql<{ token: string; messages: number }[]>`
      select token, (select count(*)::int from message_links where token = l.token) as messages
        from tracked_links l where account_id = ${account} order by id`;
    return [...rows];
  };

  test('are made with the messages that carry them, and carried by later ones', async () => {
    const account = await accountWith({ balance: 100 });
    const made = token();
    await acceptMessages(sql, accepting(account, [10], { message: linked(made) }));
    await acceptMessages(sql, accepting(account, [10], { message: linked(made, false) }));
    expect(await linksOf(account)).toEqual([{ token: made, messages: 2 }]);
  });

  test.each([
    ['made', (made: string) => linked(made, true)],
    ['taken back', (made: string) => linked(made, false)],
  ])('that somebody else has %s meanwhile leave nothing', async (what, message) => {
    const account = await accountWith({ balance: 100 });
    const known = token();
    if (what === 'made') await acceptMessages(sql, accepting(account, [10], { message: linked(known) }));
    const before = await linksOf(account);
    for (const claims of [[claim('k')], [claim('k'), claim('l')], []])
      await expectNothingOf(
        account,
        accepting(account, [10], { claims, message: message(token()) }),
        LinksChangedError,
      );
    expect(await linksOf(account)).toEqual(before);
  });

  test('of a token that was drawn before leave nothing', async () => {
    const [account, other] = [await accountWith({ balance: 100 }), await accountWith({ balance: 100 })];
    const drawn = token();
    await acceptMessages(sql, accepting(other, [10], { message: linked(drawn) }));
    await expectNothingOf(account, accepting(account, [10], { message: linked(drawn) }), LinksChangedError);
    expect(await linksOf(account)).toEqual([]);
  });

  test('that many make at once are one request’s, and nobody waits in a circle', async () => {
    const account = await accountWith({ balance: 100_000 });
    const people = Array.from({ length: 12 }, (_, n) => `+48500200${100 + n}`);
    const requestOf = (n: number): Accepting => {
      // Each has some of the same people, in an order of its own.
      const recipients = Array.from(
        { length: 1 + (n % 4) },
        (_, i) => people[(n * 7 + i * 5) % people.length]!,
      );
      const request = accepting(
        account,
        recipients.map(() => 1),
      );
      const messages = request.messages.map((message, i) => {
        const optOutToken = n % 2 === 0 ? `o${token()}` : null;
        return { ...message, recipient: recipients[i]!, ...linked(token()), optOutToken };
      });
      // Every third one takes several statements: with several keys, with rejected messages, or with long texts.
      if (n % 9 === 0) return { ...request, messages, claims: [claim(`a${n}`), claim(`b${n}`)] };
      if (n % 9 === 3) {
        const { messages: free } = accepting(account, [0, 0], { message: { status: 'rejected' } });
        return {
          ...request,
          messages: [...messages, ...free.map((one) => ({ ...one, requestId: messages[0]!.requestId }))],
        };
      }
      if (n % 9 === 6)
        return { ...request, messages: messages.map((one) => ({ ...one, text: 'x'.repeat(600_000) })) };
      return { ...request, messages };
    };
    const requests = Array.from({ length: 90 }, (_, n) => requestOf(n));
    const outcomes = await Promise.all(requests.map(outcomeOf));
    const accepted = requests
      .filter((_, n) => outcomes[n] === 'accepted')
      .flatMap(({ messages }) => messages);
    expect(new Set(outcomes)).toEqual(new Set(['accepted', 'LinksChangedError']));
    expect((await linksOf(account)).map(({ token: made }) => made).sort()).toEqual(
      accepted.flatMap(({ links }) => links.map(({ token: made }) => made)).sort(),
    );
    const paid = accepted.filter(({ status }) => status === 'queued').length;
    expect(await booksOf(account)).toMatchObject({
      ...{ balance: 100_000 - paid, ledger: 100_000 - paid, messages: accepted.length, reservations: paid },
    });
  });
});

interface Wish {
  account: number;
  costs: number[];
  keys: string[];
}

/** Whether requests come to these outcomes, one after the other in some order. */
function isExplained(
  wishes: readonly Wish[],
  outcomes: readonly string[],
  funds: number,
  taken: ReadonlySet<string>,
): boolean {
  if (wishes.length === 0) return true;
  return wishes.some(({ costs, keys }, first) => {
    const cost = costs.reduce((sum, one) => sum + one, 0);
    const outcome = keys.some((key) => taken.has(key))
      ? 'KeyTakenError'
      : cost > 0 && cost > funds
        ? 'InsufficientFundsError'
        : 'accepted';
    if (outcome !== outcomes[first]) return false;
    const isAccepted = outcome === 'accepted';
    const rest = (_: unknown, index: number): boolean => index !== first;
    return isExplained(
      wishes.filter(rest),
      outcomes.filter(rest),
      funds - (isAccepted ? cost : 0),
      isAccepted ? new Set([...taken, ...keys]) : taken,
    );
  });
}

test('any mix of requests at once comes to what it comes to one after the other, in some order', async () => {
  const wish = fc.record({
    account: fc.nat({ max: 1 }),
    costs: fc.array(fc.nat({ max: 12 }), { minLength: 1, maxLength: 4 }),
    keys: fc.uniqueArray(fc.constantFrom('a', 'b', 'c', 'd'), { maxLength: 2 }),
  });
  const funds = fc.record({ balance: fc.integer({ min: -5, max: 40 }), creditLimit: fc.nat({ max: 20 }) });
  await fc.assert(
    fc.asyncProperty(
      fc.tuple(funds, funds),
      // Those of a wave come at once.
      fc.array(fc.array(wish, { minLength: 1, maxLength: 6 }), { minLength: 1, maxLength: 3 }),
      async (all, waves) => {
        const accounts = await Promise.all(all.map((one) => accountWith({ ...one, billing: 'postpaid' })));
        const left = all.map(({ balance, creditLimit }) => balance + creditLimit);
        const taken = accounts.map(() => new Set<string>());
        const written = accounts.map(() => [] as string[]);
        for (const wave of waves) {
          const requests = wave.map(({ account, costs, keys }) =>
            accepting(accounts[account]!, costs, { claims: keys.map(claim) }),
          );
          const outcomes = await Promise.all(requests.map(outcomeOf));
          for (const account of accounts.keys()) {
            const own = [...wave.keys()].filter((index) => wave[index]!.account === account);
            const [wishes, came] = [own.map((index) => wave[index]!), own.map((index) => outcomes[index]!)];
            expect(
              isExplained(wishes, came, left[account]!, taken[account]!),
              JSON.stringify([wishes, came]),
            ).toBe(true);
            for (const index of own.filter((one) => outcomes[one] === 'accepted')) {
              left[account]! -= wave[index]!.costs.reduce((sum, cost) => sum + cost, 0);
              for (const key of wave[index]!.keys) taken[account]!.add(key);
              written[account]!.push(...requests[index]!.messages.map(({ id }) => id));
            }
          }
        }
        for (const [index, account] of accounts.entries()) {
          const balance = left[index]! - all[index]!.creditLimit;
          const messages = written[index]!.length;
          expect(await booksOf(account)).toMatchObject({
            ...{ balance, ledger: balance, keys: taken[index]!.size, messages, reservations: messages },
          });
          const rows = await sql<
            { id: string }[]
          >`select id from messages where account_id = ${account} order by id`;
          expect(rows.map(({ id }) => id)).toEqual(written[index]!.toSorted());
        }
      },
    ),
    { numRuns: 40 },
  );
});
