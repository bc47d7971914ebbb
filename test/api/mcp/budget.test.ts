import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { holdLock } from '../../support/heldBack.ts';
import {
  books,
  database,
  newAccount,
  newKey,
  storedMessages,
  type TestAccount,
} from '../../support/factories.ts';
import { postTool } from '../../support/rawTool.ts';
import { type ServiceProcess, spawnProcess } from '../../support/service.ts';
import { using } from './using.ts';

const later = new Date(Date.now() + 86_400_000).toISOString();
const ONE = { to: '500100200', text: 'Dzień dobry', send_at: later };
const other = (text: string | number) => ({ ...ONE, text: `Dzień dobry ${text}` });
const REACHED = {
  isError: true,
  refusal: {
    error: {
      code: 'forbidden',
      message: expect.stringContaining('Dzienny budżet klucza') as string,
      param: 'to',
    },
    next: expect.stringContaining('Nothing was sent or charged') as string,
  },
};

/** An account whose key may spend so much a day through tools; a part costs 10 grosze, a call 40, a look-up 5. */
async function boundTo(grosze: number, wish = {}): Promise<TestAccount> {
  const account = await newAccount(wish);
  await database()`update api_keys set tool_budget_grosze = ${grosze} where id = ${account.keyId}`;
  return account;
}

/** What counts today. */
async function spentOf({ keyId }: Pick<TestAccount, 'keyId'>): Promise<number> {
  const [row] = await database()<{ spent: number }[]>`
    select coalesce(sum(grosze), 0)::int as spent
      from tool_spending where key_id = ${keyId} and day = (now() at time zone 'Europe/Warsaw')::date`;
  return row!.spent;
}

const charged = async ({ id }: TestAccount) => 10_000 - (await books(id)).balance;

describe('a budget for a key and day', () => {
  it('covers what it covers and no grosz more; then says so, and what to do', async () => {
    const account = await boundTo(55);
    await using(account.key, async ({ call }) => {
      expect((await call('send_voice', ONE)).isError).toBe(false);
      expect((await call('send_sms', ONE)).isError).toBe(false);
      expect(await call('send_sms', other(2))).toMatchObject(REACHED);
      expect((await call('check_number', { msisdn: '500100200' })).body).toMatchObject({ cost_grosze: 5 });
      // Free, as it was looked up before.
      expect((await call('check_number', { msisdn: '500100200' })).body).toMatchObject({ cost_grosze: 0 });
      expect(await call('check_number', { msisdn: '500100201' })).toMatchObject({
        isError: true,
        refusal: { error: { code: 'forbidden', param: 'msisdn' } },
      });
      expect(await call('send_voice', other(2))).toMatchObject(REACHED);
    });
    expect([await charged(account), await spentOf(account)]).toEqual([55, 55]);
    expect(await storedMessages(account.id)).toHaveLength(2);
  });

  it('counts no try, no estimate, no repeat and nothing that was refused', async () => {
    const account = await boundTo(30, { balance: 25 });
    await using(account.key, async ({ call }) => {
      await call('send_sms', { ...ONE, dry_run: true });
      await call('send_sms', { ...ONE, to: '12' });
      const answers = await Promise.all(Array.from({ length: 5 }, () => call('send_sms', ONE)));
      expect(answers.some(({ isError }) => !isError)).toBe(true);
      expect((await call('send_sms', ONE)).isError).toBe(false);
      expect(await spentOf(account)).toEqual(10);
      const three = { ...other(3), to: ['500100301', '500100302'] };
      expect(await call('send_sms', three)).toMatchObject({
        refusal: { error: { code: 'insufficient_funds' } },
      });
      expect((await call('send_sms', other(2))).isError).toBe(false);
      // What was sent already is answered, whatever the budget has left.
      await database()`update api_keys set tool_budget_grosze = 0 where id = ${account.keyId}`;
      expect((await call('send_sms', ONE)).body).toMatchObject({ replayed: true });
    });
    expect(await spentOf(account)).toEqual(20);
  });

  it('is the key’s own, and not of what the key sends by REST, nor of a key without one', async () => {
    const account = await boundTo(10);
    const free = await newKey(account.id);
    await account.api.accepted({ to: '500100200', text: 'REST' });
    await account.api.get('/v1/numbers/500100200/lookup');
    expect(await spentOf(account)).toEqual(0);
    await using(free.key, async ({ call }) => {
      expect((await call('send_sms', other('free'))).isError).toBe(false);
    });
    await using(account.key, async ({ call }) => {
      expect((await call('send_sms', ONE)).isError).toBe(false);
      expect(await call('send_sms', other(2))).toMatchObject(REACHED);
    });
    await account.api.accepted({ to: '500100200', text: 'REST again' });
    expect(await spentOf(free)).toBe(0);
  });

  it('leaves test accounts alone, which pay no money', async () => {
    const account = await boundTo(0, { mode: 'test', balance: 0, verified: ['+48500100200'] });
    await using(account.key, async ({ call }) => {
      expect((await call('send_sms', ONE)).isError).toBe(false);
    });
  });

  it('is given back what a look-up without a result took', async () => {
    const account = await boundTo(5);
    await using(account.key, async ({ call }) => {
      const failed = await call('check_number', { msisdn: '500100915' });
      expect(failed).toMatchObject({ isError: true, refusal: { error: { code: 'provider_error' } } });
      expect([await charged(account), await spentOf(account)]).toEqual([0, 0]);
      expect((await call('check_number', { msisdn: '500100200' })).isError).toBe(false);
    });
    expect([await charged(account), await spentOf(account)]).toEqual([5, 5]);
  });

  it('lets a look-up be joined that another call has begun and pays for', async () => {
    const account = await boundTo(5);
    await using(account.key, async ({ call }) => {
      const same = () => call('check_number', { msisdn: '500100207' });
      const answers = await Promise.all(Array.from({ length: 10 }, same));
      expect(answers.map(({ isError }) => isError)).toEqual(answers.map(() => false));
    });
    expect([await charged(account), await spentOf(account)]).toEqual([5, 5]);
  });

  it('holds exactly with forty calls at once', async () => {
    const account = await boundTo(100);
    const answers = await using(account.key, ({ call }) =>
      Promise.all(Array.from({ length: 40 }, (_, index) => call('send_sms', other(index)))),
    );
    const sent = answers.filter(({ isError }) => !isError).length;
    // A busy machine gives some up as provider_error, which takes nothing of the budget.
    for (const { isError, refusal } of answers)
      if (isError) expect(['forbidden', 'provider_error']).toContain(refusal.error!.code);
    expect(sent).toBeGreaterThan(0);
    expect(sent).toBeLessThanOrEqual(10);
    await using(account.key, async ({ call }) => {
      for (let index = 40; ; index += 1) {
        const answer = await call('send_sms', other(index));
        if (!answer.isError) continue;
        expect(answer).toMatchObject(REACHED);
        break;
      }
    });
    expect([await charged(account), await spentOf(account)]).toEqual([100, 100]);
  });
});

describe('a process that dies before a send is accepted', () => {
  let second: ServiceProcess;
  beforeAll(async () => {
    second = await spawnProcess('api', inject('service'));
  });
  afterAll(() => second.stop());

  it('leaves nothing of it in the budget', async () => {
    const account = await boundTo(10);
    const money = await holdLock(`select from accounts where id = '${account.id}' for update`);
    const lost = postTool(second.url, account.key, 'modern', { name: 'send_sms', args: ONE }).catch(
      () => null,
    );
    await money.somebodyWaits();
    second.child.kill('SIGKILL');
    await lost;
    await money.release();
    await using(account.key, async ({ call }) => {
      expect((await call('send_sms', other(2))).isError).toBe(false);
      expect(await call('send_sms', other(3))).toMatchObject(REACHED);
    });
    expect([await charged(account), await spentOf(account)]).toEqual([10, 10]);
  });
});
