import { randomInt } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { books, database } from '../../support/factories.ts';
import {
  askedBy,
  type Browser,
  mailsTo,
  newAddress,
  newBrowser,
  type PanelUnderTest,
  type Seen,
  startPanel,
} from '../../support/panel.ts';

const SIGN_UPS = 10_000;
const AT_ONCE = 40;
/** What the day has left: e-mails to anybody, to people beyond those, and codes. */
const BUDGET = { toAnybody: 300, toPeople: 50, codes: 60 };
const OF_A_NETWORK = { mails: 20, accounts: 5, codes: 5 };
/** Grosze. */
const PRICES = { mail: 1, code: 10 };

let panel: PanelUnderTest & { house: string };
let before: Record<string, number>;
beforeAll(async () => {
  const rows = await database()<{ name: string; used: number }[]>`
    select name, used from daily_use where day = (now() at time zone 'Europe/Warsaw')::date`;
  before = Object.fromEntries(rows.map(({ name, used }) => [name, used]));
  const mails = (before['sign_in_emails'] ?? 0) + BUDGET.toAnybody;
  panel = await startPanel({
    SIGN_UP_EMAILS_A_DAY: mails,
    SIGN_IN_EMAILS_A_DAY: mails + BUDGET.toPeople,
    NUMBER_CODES_A_DAY: (before['number_codes'] ?? 0) + BUDGET.codes,
  });
});
afterAll(() => panel.api.stop());

/** Does the same with each, some at a time. */
async function each<In, Out>(items: readonly In[], act: (item: In) => Promise<Out>): Promise<Out[]> {
  const made: Out[] = [];
  const queue = items.entries();
  const worker = async () => {
    for (const [index, item] of queue) made[index] = await act(item);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return made;
}

const counts = (seen: readonly Seen[]): Record<string, number> => {
  const found: Record<string, number> = {};
  for (const { status } of seen) found[status] = (found[status] ?? 0) + 1;
  return found;
};

interface Attempt {
  address: string;
  browser: Browser;
  seen: Seen;
}

const prefix = `2a02:${randomInt(0x1000, 0xffff).toString(16)}`;

/** Signs up with addresses of its own, from the address of each attempt. */
const signUps = (networkOf: (n: number) => string): Promise<Attempt[]> =>
  each(
    Array.from({ length: SIGN_UPS }).map((_, n) => n),
    async (n) => {
      const [address, browser] = [newAddress(), newBrowser(panel, networkOf(n))];
      return { address, browser, seen: await browser.post('/panel', { address }) };
    },
  );

const opened = ({ address, browser }: Attempt) => mailsTo(address).then(([mail]) => browser.post(mail!.link));
const newNumber = (): string => `+48512${String(randomInt(1_000_000)).padStart(6, '0')}`;
const asksCode = (browser: Browser) => browser.post('/panel/numbers', { to: newNumber() });

/** Signs up as a stranger does. */
async function signsUp(): Promise<Browser> {
  const browser = newBrowser(panel);
  const { link } = await askedBy(browser, newAddress());
  expect(await browser.post(link)).toMatchObject({ status: 303, to: '/panel/overview' });
  return browser;
}

const spent = async () => {
  const [row] = await database()<{ mails: number; codes: number }[]>`
    select (select count(*)::int from emails where account_id = ${panel.house}) as mails,
           (select count(*)::int from messages where account_id = ${panel.house}) as codes`;
  return { ...row!, grosze: 100_000 - (await books(panel.house)).balance };
};

/** Follows up whatever mail has come, and asks for a code in each account. */
async function exploited(attempts: readonly Attempt[], numbers: number) {
  const sent = attempts.filter(({ seen }) => seen.status === 303);
  const entered = await each(sent, async (attempt) => ({ ...attempt, seen: await opened(attempt) }));
  const inside = entered.filter(({ seen }) => seen.status === 303);
  const codes = await each(
    inside.flatMap(({ browser }) => Array<Browser>(numbers).fill(browser)),
    asksCode,
  );
  return {
    asked: counts(attempts.map(({ seen }) => seen)),
    opened: counts(entered.map(({ seen }) => seen)),
    codes: counts(codes),
  };
}

it('10,000 sign-ups from one /64 come to 20 e-mails, 5 accounts and 5 codes, while others sign up', async () => {
  const since = performance.now();
  const flood = signUps((n) => `${prefix}:0:0:${(n >> 8).toString(16)}::${(n & 0xff).toString(16)}`);
  const stranger = await signsUp();
  expect((await asksCode(stranger)).status).toBe(303);
  const found = await exploited(await flood, 2);
  console.log('one network', found, await spent(), Math.round(performance.now() - since) / 1000);
  expect(found).toEqual({
    asked: { 303: OF_A_NETWORK.mails, 429: SIGN_UPS - OF_A_NETWORK.mails },
    opened: { 303: OF_A_NETWORK.accounts, 429: OF_A_NETWORK.mails - OF_A_NETWORK.accounts },
    codes: { 303: OF_A_NETWORK.codes, 429: OF_A_NETWORK.codes },
  });
});

it('10,000 from as many networks come to the budget of the day; who is known signs in, and everybody tomorrow', async () => {
  const since = performance.now();
  const known = newAddress();
  const first = newBrowser(panel);
  await first.post((await askedBy(first, known)).link);
  const already = await spent();
  const left = { mails: BUDGET.toAnybody - already.mails, codes: BUDGET.codes - already.codes };
  const found = await exploited(await signUps((n) => `${prefix}:1:${n.toString(16)}::1`), 1);
  const all = await spent();
  console.log('many networks', found, all, Math.round(performance.now() - since) / 1000);
  expect(found).toEqual({
    asked: { 303: left.mails, 429: SIGN_UPS - left.mails },
    opened: { 303: left.mails },
    codes: { 303: left.codes, 429: left.mails - left.codes },
  });
  const grosze = BUDGET.toAnybody * PRICES.mail + BUDGET.codes * PRICES.code;
  expect(all).toEqual({ mails: BUDGET.toAnybody, codes: BUDGET.codes, grosze });
  const again = newBrowser(panel);
  const { code } = await askedBy(again, known);
  expect(await again.post('/panel/code', { code })).toMatchObject({ to: '/panel/overview' });
  await database()`update daily_use set day = day - 1`;
  expect((await asksCode(await signsUp())).status).toBe(303);
});
