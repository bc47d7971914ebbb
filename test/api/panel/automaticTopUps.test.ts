import { afterAll, beforeAll, expect, it } from 'vitest';
import { startDueTopUps } from '../../../operations/money/automaticTopUps.ts';
import { eventually } from '../../support/eventually.ts';
import { books, database } from '../../support/factories.ts';
import { type PanelUnderTest, type Person, startPanel } from '../../support/panel.ts';
import { atProcessor, bookedFor, newPayer, openTopUp, paymentIs } from '../../support/payments.ts';

const PAGE = '/panel/billing/automatic';
const SETTINGS = { enabled: 'on', threshold: '20', net: '100', cap: '150' };

let panel: PanelUnderTest;
beforeAll(async () => {
  panel = await startPanel({ PAYMENT_PROCESSOR: 'simulated' });
});
afterAll(() => panel.api.stop());

async function pay(person: Person, method: string): Promise<void> {
  const { id, session } = await openTopUp(person, '50');
  await atProcessor(panel, session, { action: 'pay', method });
  await paymentIs(id, 'paid');
}

/** Something else takes from the balance. */
const take = (account: string, grosze: number) => database()`
  insert into ledger_entries (account_id, kind, amount_grosze, note) values (${account}, 'adjustment', ${-grosze}, 'spent')`;

const automaticOf = async (account: string) =>
  await database()<
    { state: string }[]
  >`select state from payments where account_id = ${account} and automatic`;

it.each([
  ['threshold', { threshold: '0,99' }],
  ['threshold', { threshold: '-1' }],
  ['net', { net: '49,99' }],
  ['net', { net: '100000,01' }],
  ['cap', { cap: 'sto' }],
  ['cap', { cap: '99,99' }],
])('a fault in %s is named, with the form as typed: %j', async (field, typed) => {
  const person = await newPayer(panel);
  const { status, text } = await person.browser.post(PAGE, { ...SETTINGS, ...typed });
  expect(status).toBe(422);
  expect(text).toContain(`href="#${field}"`);
  for (const value of Object.values(typed)) expect(text).toContain(`value="${value}"`);
  const saved = await database()`select from automatic_top_ups where account_id = ${person.account}`;
  expect(saved.count).toBe(0);
});

it('charges the card that paid the next top-up when the balance falls, within the cap, until it is removed', async () => {
  const person = await newPayer(panel);
  const { account, browser } = person;
  await pay(person, 'card');
  expect((await browser.get(PAGE)).text).toContain('Nie ma zapisanej karty');
  expect(await browser.post(PAGE, SETTINGS)).toMatchObject({ status: 303, to: PAGE });
  expect((await browser.get(PAGE)).text).toContain('następne doładowanie');
  // Of BLIK nothing can be kept.
  await pay(person, 'blik');
  expect((await browser.get(PAGE)).text).toContain('następne doładowanie');
  await pay(person, 'card');
  expect((await browser.get(PAGE)).text).toContain('ostatnie cyfry 4242');
  expect(await automaticOf(account)).toEqual([]);

  await take(account, 13_001);
  const [charged] = await eventually(
    () => automaticOf(account),
    ([one]) => one?.state === 'paid',
  );
  expect(charged).toEqual({ state: 'paid' });
  expect((await bookedFor(account)).map(([, grosze]) => grosze)).toEqual([5_000, 5_000, 5_000, 10_000]);
  expect(await books(account)).toMatchObject({ balance: 11_999, ledger: 11_999 });
  expect((await browser.get('/panel/billing')).text).toContain('Doładowanie automatyczne');

  // 200 would be more than 150.
  await take(account, 10_000);
  await startDueTopUps(database(), 'simulated');
  expect(await automaticOf(account)).toHaveLength(1);

  expect(await browser.post(`${PAGE}/card`)).toMatchObject({ status: 303, to: PAGE });
  const { text } = await browser.get(PAGE);
  expect(text).toContain('Nie ma zapisanej karty');
  expect(text).not.toContain('checked');
  await browser.post(PAGE, { ...SETTINGS, cap: '200' });
  await startDueTopUps(database(), 'simulated');
  expect(await automaticOf(account)).toHaveLength(1);
});
