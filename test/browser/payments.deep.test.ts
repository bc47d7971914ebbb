import { randomInt } from 'node:crypto';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { words as billing } from '../../panel/billing/words.ts';
import { words as company } from '../../panel/company/words.ts';
import { words as keys } from '../../panel/keys/words.ts';
import { type Language, pln } from '../../panel/language.ts';
import { words as ledger } from '../../panel/ledger/words.ts';
import { words as overview } from '../../panel/overview/words.ts';
import { apiClient } from '../support/client.ts';
import { eventually } from '../support/eventually.ts';
import { type PanelUnderTest, startPanel } from '../support/panel.ts';
import { startBrowser } from './browser.ts';
import { complaintsOf, signUp, submit } from './newcomer.ts';

let panel: PanelUnderTest;
let browser: Browser;
let url: string;
beforeAll(async () => {
  const settings = { TRUST_PROXY: false, PAYMENT_PROCESSOR: 'simulated' } as const;
  [panel, browser] = await Promise.all([startPanel(settings, null), startBrowser()]);
  url = `http://127.0.0.1:${panel.api.port}`;
});
afterAll(async () => {
  await browser?.close();
  await panel?.api.stop();
});

/** Fills in who buys, and asks for a top-up of 50 PLN. @returns on the page of the payment */
async function askForTopUp(page: Page, language: Language): Promise<void> {
  const [buyer, say] = [company[language], billing[language]];
  await page.goto(`${url}/panel/overview`);
  await follow(page, overview[language].steps.live[0]!);
  const amount = async () => {
    await page.getByLabel(say.amount).fill('50');
    await submit(page, say.next);
  };
  await amount();
  const fields = [
    [buyer.nip, '526-025-02-74'],
    [buyer.name, 'Żółw & Spółka'],
    [buyer.street, 'Świętokrzyska 12'],
    [buyer.postalCode, '00-916'],
    [buyer.city, 'Warszawa'],
  ] as const;
  for (const [label, value] of fields) await page.getByLabel(label, { exact: true }).fill(value);
  await submit(page, buyer.goOn);
  expect(new URL(page.url()).pathname).toBe('/panel/billing');
  await amount();
}

async function follow(page: Page, name: string): Promise<void> {
  await Promise.all([page.waitForEvent('load'), page.locator('main').getByRole('link', { name }).click()]);
}

/** Pays by a card that is charged at once, or by BLIK that is confirmed once the payer is back. */
async function pay(page: Page, language: Language, method: 'card' | 'blik'): Promise<void> {
  const say = billing[language];
  await page.getByRole('link', { name: say.pay }).click();
  await page.getByLabel('Method').selectOption(method);
  const checkout = page.url();
  await submit(page, method === 'card' ? 'Pay' : 'Pay, confirmed later');
  expect(page.url()).toMatch(/\/panel\/billing\/pay_\w+\?returned=\d+$/);
  if (method === 'card') return;
  await page.getByText(say.confirming).waitFor();
  const bank = await page.context().newPage();
  await bank.goto(checkout);
  await submit(bank, 'Confirm');
  await bank.close();
}

const grosze = (text: string): number =>
  Number(
    text
      .replace('−', '-')
      .replace(/[^\d.,-]/g, '')
      .replace(/[.,]/, ''),
  );

/** Rows of a table of the ledger: what, and how much. */
async function rowsOf(page: Page, name: string, what: number): Promise<[what: string, grosze: number][]> {
  const rows = await page.getByRole('region', { name, exact: true }).locator('tbody tr').all();
  const cells = await Promise.all(rows.map((row) => row.locator('th, td').allInnerTexts()));
  return cells.map((row) => [row[what]!, grosze(row[2]!)]);
}

it.each([
  ['pl', 'card', true],
  ['en', 'blik', true],
  ['pl', 'blik', false],
  ['en', 'card', false],
] as const)(
  'from sign-up to a delivered live message, in %s, paid by %s; JavaScript: %s',
  async (language, method, javaScriptEnabled) => {
    const context = await browser.newContext({ javaScriptEnabled, locale: language });
    context.setDefaultTimeout(10_000);
    const complaints = complaintsOf(context, url);
    const page = await context.newPage();
    await signUp(page, url, language);

    await askForTopUp(page, language);
    await pay(page, language, method);
    await page.getByText(billing[language].thanks).waitFor();

    await follow(page, billing[language].toKeys);
    await page.getByLabel(keys[language].label).fill('Sklep');
    await submit(page, keys[language].make);
    const key = await page.locator('#secret').innerText();
    expect(key).toMatch(/live/);
    const number = `+48513${String(randomInt(1_000_000)).padStart(6, '0')}`;
    const api = apiClient(url, key);
    const sent = await api.accepted({ to: number, text: 'Zażółć' });
    await eventually(
      () => api.get(`/v1/messages/${sent.id}`),
      ({ body }) => body.status === 'delivered',
    );

    await page.goto(`${url}/panel/ledger`);
    const { heading, kinds, subjects, sums, opening, closing } = ledger[language];
    const entries = await rowsOf(page, heading, 1);
    expect(entries.map(([what, amount]) => [what.split(' simulated:')[0], amount])).toEqual([
      [`${kinds.charge} ${subjects.message}`, -15],
      [`${kinds.topup} ${subjects.payment}`, 5_000],
      [kinds.opening, 0],
    ]);
    expect(await rowsOf(page, sums, 0)).toEqual([
      [opening, 0],
      [kinds.opening, 0],
      [kinds.topup, 5_000],
      [kinds.charge, -15],
      [closing, 4_985],
    ]);
    expect(await page.locator('.figures').innerText()).toContain(pln(language, 4_985));
    expect(complaints).toEqual([]);
    await context.close();
  },
);
