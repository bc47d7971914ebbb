import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { books, database, newAccount, storedMessages, type TestAccount } from '../../support/factories.ts';
import { heldBack } from '../../support/heldBack.ts';
import { type Generation, GENERATIONS, mcpClient } from '../../support/mcpClient.ts';
import { postTool } from '../../support/rawTool.ts';
import { type ServiceProcess, spawnProcess } from '../../support/service.ts';

const { apiUrl } = inject('service');
const SEND = { to: '500100200', text: 'Dzień dobry' };
const LOOKUP = { msisdn: '500100200' };

// Of an account it has one request under way: that another one is let in shows that it knows who has gone.
let single: ServiceProcess;
beforeAll(async () => {
  single = await spawnProcess('api', inject('service'), { REQUESTS_AT_ONCE: '1' });
});
afterAll(() => single.stop());

/** Waits until that process knows that its caller has gone. */
const untilNoticed = ({ key }: TestAccount) =>
  eventually(
    () => fetch(`${single.url}/v1/account`, { headers: { Authorization: `Bearer ${key}` } }),
    ({ status }) => status === 200,
  );

/** What nobody may find who was charged nothing. */
async function tracesOf({ id, keyId }: TestAccount): Promise<unknown> {
  const [left] = await database()`
    select (select count(*)::int from idempotency_keys where account_id = ${id}) as keys,
           (select count(*)::int from reservations where account_id = ${id}) as reservations,
           (select coalesce(sum(grosze), 0)::int from tool_spending where key_id = ${keyId}) as spent,
           (select count(*)::int from number_lookups where account_id = ${id}) as lookups`;
  return { ...left, messages: await storedMessages(id), balance: (await books(id)).balance };
}

const NOTHING = { keys: 0, reservations: 0, spent: 0, lookups: 0, messages: [], balance: 10_000 };

/** An account that may spend so much through tools. */
async function bound(): Promise<TestAccount> {
  const account = await newAccount();
  await database()`update api_keys set tool_budget_grosze = 1000 where id = ${account.keyId}`;
  return account;
}

/** Waits until the call that was given up has ended, and left nothing. */
const untilNothing = (account: TestAccount) =>
  eventually(
    () => tracesOf(account),
    (left) => JSON.stringify(left) === JSON.stringify(NOTHING),
  );

async function expectSendable({ key, id }: TestAccount, generation: Generation): Promise<void> {
  const { call, close } = await mcpClient(apiUrl, key, { generation });
  expect(await call('send_sms', SEND)).toMatchObject({ isError: false });
  await close();
  expect(await storedMessages(id)).toHaveLength(1);
}

describe.each(GENERATIONS)('before the charge, %s', (generation) => {
  it.each([
    ['send_sms', SEND],
    ['check_number', LOOKUP],
  ])('a connection that drops leaves nothing of %s', async (name, args) => {
    const account = await bound();
    const gone = new AbortController();
    await heldBack(account, async (waiting) => {
      const { signal } = gone;
      const lost = postTool(single.url, account.key, generation, { name, args, signal }).catch(() => null);
      await waiting();
      gone.abort();
      expect(await lost).toBeNull();
      await untilNoticed(account);
    });
    await untilNothing(account);
    await expectSendable(account, generation);
  });
});

// Before 2026-07-28 a client says that it cancels in a request of its own, which a server without sessions can relate to no call.
it('a client that cancels leaves nothing of a send', async () => {
  const account = await bound();
  const { client, close } = await mcpClient(single.url, account.key);
  const cancelling = new AbortController();
  const { signal } = cancelling;
  await heldBack(account, async (waiting) => {
    const called = client.callTool({ name: 'send_sms', arguments: SEND }, { signal });
    const rejected = expect(called).rejects.toThrow();
    await waiting();
    cancelling.abort();
    await rejected;
    await untilNoticed(account);
  });
  await untilNothing(account);
  await close();
  await expectSendable(account, 'modern');
});

it('a client that cancels while its user is asked leaves nothing', async () => {
  const account = await bound();
  const cancelling = new AbortController();
  const { client, close } = await mcpClient(apiUrl, account.key, {
    capabilities: { elicitation: { form: {} } },
    prepare: (one) =>
      one.setRequestHandler('elicitation/create', () => {
        cancelling.abort();
        return { action: 'accept', content: { confirm: true } };
      }),
  });
  const to = Array.from({ length: 11 }, (_, index) => `5001003${10 + index}`);
  const { signal } = cancelling;
  const called = client.callTool({ name: 'send_sms', arguments: { ...SEND, to } }, { signal });
  await expect(called).rejects.toThrow();
  expect(await tracesOf(account)).toEqual(NOTHING);
  await close();
});
