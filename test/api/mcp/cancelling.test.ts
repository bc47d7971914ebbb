import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { books, database, newAccount, storedMessages, type TestAccount } from '../../support/factories.ts';
import { heldBack } from '../../support/heldBack.ts';
import { GENERATIONS, mcpClient } from '../../support/mcpClient.ts';
import { postTool } from '../../support/rawTool.ts';
import { type ServiceProcess, spawnProcess } from '../../support/service.ts';

const { apiUrl } = inject('service');
const SEND = { to: '500100200', text: 'Dzień dobry' };

// It serves one request of an account at a time: once it takes another, it knows that the caller of the first has gone.
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

/** What a call could leave behind. */
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

// What was on its way by then is carried out, once: the same call again is answered with it.
it.each(GENERATIONS)(
  'a send whose connection drops is sent once, however often it is called, %s',
  async (generation) => {
    const account = await bound();
    const gone = new AbortController();
    await heldBack(account, async (waiting) => {
      const { signal } = gone;
      const lost = postTool(single.url, account.key, generation, { name: 'send_sms', args: SEND, signal });
      const rejected = expect(lost).rejects.toThrow();
      await waiting();
      gone.abort();
      await rejected;
      await untilNoticed(account);
    });
    const { call, close } = await mcpClient(apiUrl, account.key, { generation });
    expect(await call('send_sms', SEND)).toMatchObject({ isError: false });
    await close();
    expect(await storedMessages(account.id)).toHaveLength(1);
  },
);

it('a call beyond those that an account may make at once is answered with a result', async () => {
  const account = await newAccount();
  let first: Promise<Response> | undefined;
  await heldBack(account, async (waiting) => {
    first = postTool(single.url, account.key, 'legacy', { name: 'send_sms', args: SEND });
    await waiting();
    const call = { name: 'get_account', args: {} };
    const second = await postTool(single.url, account.key, 'legacy', call);
    const result = expect.stringMatching(/rate_limited.*"isError":true/) as string;
    expect([second.status, await second.text()]).toEqual([200, result]);
  });
  expect(await (await first!).text()).toContain('"accepted":1');
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
