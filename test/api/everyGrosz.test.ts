import { describe, expect, it } from 'vitest';
import type { ApiAnswer } from '../support/client.ts';
import { decided } from '../support/decided.ts';
import { giveDomain } from '../support/email.ts';
import { type AccountWish, books, database, newAccount, type TestAccount } from '../support/factories.ts';
import { refusal } from './refusal.ts';

const POLISH = ['+48500100200', '+48500100201', '+48500100202'];
const later = new Date(Date.now() + 86_400_000).toISOString();
const PRICES = { price: 7, mmsPrice: 31, vmsPrice: 13, countryRates: { '49': { sms: 17 } } } as const;

interface Purchase {
  /** What it costs with these prices. */
  grosze: number;
  charges: number;
  buy: (account: TestAccount) => Promise<ApiAnswer>;
}

const send =
  (body: object) =>
  ({ api }: TestAccount) =>
    api.send({ text: 'x', send_at: later, ...body });

/** Everything that costs, by whichever door. */
const PURCHASES: Record<string, Purchase> = {
  'an SMS': { grosze: 7, charges: 1, buy: send({ to: POLISH[0] }) },
  // 161 characters are two parts.
  'an SMS of two parts to three': {
    ...{ grosze: 3 * 2 * 7, charges: 3 },
    buy: send({ to: POLISH, text: 'x'.repeat(161) }),
  },
  'an SMS with priority, also abroad, at a price of its own and at twice the usual one': {
    ...{ grosze: 2 * (7 + 17 + 14), charges: 3 },
    buy: send({ to: [POLISH[0], '+4915112345678', '+420601123456'], priority: true }),
  },
  'an MMS to two': {
    ...{ grosze: 2 * 31, charges: 2 },
    buy: ({ api }) =>
      api.post('/v1/mms', {
        ...{ to: POLISH.slice(1), subject: 'x', send_at: later },
        smil: '<smil><body><text>x</text></body></smil>',
      }),
  },
  'a voice call': {
    ...{ grosze: 13, charges: 1 },
    buy: ({ api }) => api.post('/v1/voice', { to: POLISH[0], text: 'x', send_at: later }),
  },
  'an e-mail to three': {
    ...{ grosze: 3, charges: 1 },
    buy: ({ api }) =>
      api.post('/v1/email', {
        to: ['a', 'b', 'c'].map((one) => `${one}@klient.example`),
        subject: 'x',
        text: 'x',
      }),
  },
  'a look-up': { grosze: 5, charges: 1, buy: lookUp },
};

function lookUp({ api }: TestAccount) {
  return decided(() => api.get(`/v1/numbers/${POLISH[0]}/lookup`));
}

/** Ways to have so much money and no more. */
const PURSES: Record<string, (grosze: number) => AccountWish> = {
  'prepaid, with a credit limit that does not count': (balance) => ({ balance, creditLimit: 1_000 }),
  'postpaid, with money and credit': (grosze) => ({
    balance: 2,
    billing: 'postpaid',
    creditLimit: grosze - 2,
  }),
};

async function withMoney(wish: AccountWish): Promise<TestAccount> {
  const account = await newAccount({ ...PRICES, ...wish });
  await giveDomain(account.id);
  return account;
}

/** A look-up that was not answered in time was charged and refunded. */
async function chargesOf({ id }: TestAccount): Promise<number> {
  const [entries] = await database()<{ charges: number; refunds: number }[]>`
    select count(*) filter (where kind = 'charge')::int as charges, count(*) filter (where kind = 'refund')::int as refunds
      from ledger_entries where account_id = ${id}`;
  return entries!.charges - entries!.refunds;
}

describe.each(Object.entries(PURCHASES))('%s', (_, { grosze, charges, buy }) => {
  it.each(Object.entries(PURSES))(
    'takes the last grosz, and is refused where one is missing: %s',
    async (_, purse) => {
      const account = await withMoney(purse(grosze));
      const before = await books(account.id);
      expect((await buy(account)).status).toBeLessThan(300);
      const spent = before.balance - grosze;
      expect(await books(account.id)).toEqual({ ...before, balance: spent, ledger: spent });
      expect(await chargesOf(account)).toBe(charges);
      // Nothing is left, for anything.
      const beyond = await account.api.send({ to: POLISH[0], text: 'x', send_at: later });
      expect(beyond).toMatchObject(refusal(402));

      const short = await withMoney(purse(grosze - 1));
      const had = await books(short.id);
      expect(await buy(short)).toMatchObject({ status: 402 });
      expect(await books(short.id)).toEqual(had);
      expect(await chargesOf(short)).toBe(0);
    },
  );
});

it('what is cancelled comes back to the grosz, once, each message with its own', async () => {
  const account = await withMoney({ balance: 1_000 });
  const ids: string[] = [];
  const scheduled = Object.entries(PURCHASES).filter(([what]) => !/e-mail|look-up/.test(what));
  for (const [, { buy }] of scheduled) {
    const { body } = await buy(account);
    const messages: { id: string }[] = 'messages' in body ? body.messages : [body];
    ids.push(...messages.map(({ id }) => id));
  }
  let balance = 1_000 - scheduled.reduce((sum, [, { grosze }]) => sum + grosze, 0);
  expect(await books(account.id)).toMatchObject({ balance, ledger: balance });
  for (const id of ids) {
    const { cost_grosze } = (await account.api.get(`/v1/messages/${id}`)).body;
    balance += cost_grosze;
    for (let times = 0; times < 2; times += 1) {
      expect((await account.api.delete(`/v1/messages/${id}`)).status).toBe(200);
      expect(await books(account.id)).toMatchObject({ balance, ledger: balance });
    }
  }
  expect(balance).toBe(1_000);
});
