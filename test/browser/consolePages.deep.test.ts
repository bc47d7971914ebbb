import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { commandPath, OFFERS } from '../../console/commands/offered.ts';
import { routes } from '../../console/routes.ts';
import { newId } from '../../db/ids.ts';
import { ATTENTION_KINDS } from '../../operations/support/attention.ts';
import { type Colleague, type ConsoleUnderTest, COOKIE, newStaff, openConsole } from '../support/console.ts';
import { database } from '../support/factories.ts';
import { filledAccount } from './filledAccount.ts';
import { filledBilling } from './filledBilling.ts';
import { complaintsOf, submit } from './newcomer.ts';
import { overflows, picture, startBrowser, violations } from './browser.ts';

const WIDTHS = [1280, 768];
const READING = [...OFFERS.values()].map(({ command }) => command).filter((command) => !('ask' in command));

let opened: ConsoleUnderTest;
let browser: Browser;
let admin: Colleague;
let second: Colleague;
/** What the parameters of a path stand for. */
let things: Record<string, string[]>;
beforeAll(async () => {
  [opened, browser] = await Promise.all([openConsole(), startBrowser()]);
  const { account, ids } = await filledAccount();
  const payments = await filledBilling(account.id, ids['messages']!);
  second = await newStaff(opened, 'admin');
  admin = await newStaff(opened, 'admin');
  await leaveWork(account.id, payments['disputed']!);
  const money = { account: account.id, grosze: '5000', reference: 'FV 7/2026' };
  const why = { confirmed: 'yes', reason: 'Przelew, którego bank nie rozpoznał' };
  await second.browser.post('/console/commands/topup', { ...money, grosze: '5000.00', ...why });
  const findings = { action: 'dismiss', kind: 'budget_used' };
  await second.browser.post('/console/commands/bulks.start', { ...findings, ...why });
  const [bulk] = await database()<{ id: string }[]>`select id from bulks where actor = ${second.name}`;
  things = {
    messages: [ids['messages']!, ids['scheduled']!],
    emails: [ids['emails']!],
    accounts: [account.id],
    bulks: [bulk!.id],
    payments: [payments['disputed']!],
    routes: ['simulator'],
    attention: [...ATTENTION_KINDS],
    commands: [...OFFERS.keys()].map((name) => name.replaceAll(' ', '.')),
    link: ['x'.repeat(43)],
  };
});
afterAll(async () => {
  await browser?.close();
  await opened?.api.stop();
});

/** Leaves some of what lists are made of. */
async function leaveWork(account: string, payment: string): Promise<void> {
  const sql = database();
  const reply = newId('in');
  await sql`
    insert into inbound_messages (id, route, provider_reference, sender, received_text, state, received_at)
    values (${reply}, 'simulator', ${reply}, '+48500100987', 'Poufne', 'unmatched', now() - interval '3 days')`;
  for (const [kind, subject] of [
    ['budget_used', 'codes 2026-11-28'],
    ['payment_disputed', payment],
  ] as const)
    await sql`
      insert into findings (kind, subject, account_id, state, details)
      values (${kind}, ${subject}, ${account}, 'open', ${sql.json({ used: 200, of: 200 })})`;
}

// Those of the panel are looked at there.
const pages = routes.filter(
  ({ path, methods }) =>
    path.startsWith('/console') &&
    methods.includes('GET') &&
    !/\/(new|items|passkeys|code|approvals\/:id)$/.test(path),
);

/** The addresses of a page, of all that its parameter can be. */
function addressesOf(path: string): string[] {
  const [, kind = ''] = /(\w+)\/:\w+/.exec(path) ?? [];
  return kind === '' ? [path] : (things[kind] ?? []).map((thing) => path.replace(/:\w+/, thing));
}

/** A window of somebody signed in, or of a stranger, and what its pages do that they should not. */
async function openWindow(javaScriptEnabled = true, isStaff = true, who = admin) {
  const { url } = opened.api;
  const context = await browser.newContext({ javaScriptEnabled });
  const value = who.browser.cookies.get(COOKIE)!;
  if (isStaff) await context.addCookies([{ url, name: COOKIE, value }]);
  return { context, page: await context.newPage(), complaints: complaintsOf(context, url) };
}

/** What is wrong with a page at each width. */
async function faultsOf(page: Page, address: string): Promise<string[]> {
  const faults: string[] = [];
  const response = await page.goto(opened.api.url + address);
  if (response?.status() !== 200) faults.push(`${address} answers ${response?.status()}`);
  if ((await page.locator('planted-x, img, script:not([src])').count()) > 0)
    faults.push(`${address} has markup that was written by others`);
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 720 });
    await picture(page, `console${address.replace(/\W+/g, '-')}`, { width, colorScheme: 'light' });
    await page.evaluate('for (const one of document.querySelectorAll("main details")) one.open = true');
    if (await overflows(page)) faults.push(`${address} is wider than ${width} px`);
    faults.push(...(await violations(page)).map((fault) => `${address} at ${width} px: ${fault}`));
  }
  return faults;
}

describe.each(pages)('$path', ({ path, access }) => {
  const isStaff = access !== 'anybody';

  it('fits every width, has nothing for axe to find, asks nobody else, says nothing', async () => {
    const { context, page, complaints } = await openWindow(true, isStaff);
    const addresses = addressesOf(path);
    expect(addresses.length).toBeGreaterThan(0);
    for (const address of addresses) expect(await faultsOf(page, address)).toEqual([]);
    expect(complaints).toEqual([]);
    await context.close();
  });

  it('opens without JavaScript', async () => {
    const { context, page } = await openWindow(false, isStaff);
    for (const address of addressesOf(path)) {
      const response = await page.goto(opened.api.url + address);
      expect([address, response?.status(), await page.locator('h1').count()]).toEqual([address, 200, 1]);
    }
    await context.close();
  });
});

it('shows what the commands that read answer about the account', async () => {
  const { context, page, complaints } = await openWindow();
  for (const { name, options } of READING) {
    const [account] = things['accounts']!;
    const known: Record<string, string> = {
      ...{ account: account!, to: '+48500100200', show: 'yes' },
      ...(name === 'find' ? { text: account! } : {}),
      ...(name.startsWith('routes') ? { name: 'simulator' } : {}),
      ...(name === 'payments show' ? { payment: things['payments']![0]! } : {}),
      ...(name === 'messages show' ? { id: things['messages']![0]! } : {}),
      ...(name === 'emails show' ? { id: things['emails']![0]! } : {}),
      ...(name.startsWith('bulks') ? { id: things['bulks']![0]! } : {}),
    };
    const isAsked = (option: string) => option in options || option === 'show';
    const values = Object.fromEntries(Object.entries(known).filter(([option]) => isAsked(option)));
    expect(await faultsOf(page, commandPath(name, values))).toEqual([]);
  }
  expect(complaints).toEqual([]);
  await context.close();
});

it.each([true, false])('a second person approves what one has asked for; JavaScript: %s', async (js) => {
  const { context, page } = await openWindow(js);
  await page.goto(`${opened.api.url}${commandPath('topup', { account: things['accounts']![0]! })}`);
  await page.getByLabel('Pln').fill('5000');
  await submit(page, 'Continue');
  await page.getByRole('heading', { name: 'What it would do' }).waitFor();
  await picture(page, 'console-dry-run', { width: 1280, colorScheme: 'light' });
  await page.getByLabel('Reason').fill('Przelew z wtorku');
  await submit(page, 'Ask a second person');
  await page.getByText('somebody else decides').first().waitFor();
  await context.close();
  const { context: theirs, page: other } = await openWindow(js, true, second);
  await other.goto(`${opened.api.url}/console/approvals`);
  await other
    .getByRole('link', { name: `Decide on topup of ${admin.name}` })
    .first()
    .click();
  await other.getByText('What it would do').waitFor();
  await other.getByText(`Approve topup of ${admin.name}`).click();
  await submit(other, 'Approve and do it');
  await other.getByText('Done.').waitFor();
  await theirs.close();
});
