import type { BrowserContext, Page } from 'playwright-core';
import type { Language } from '../../panel/language.ts';
import { words } from '../../panel/signIn/words.ts';
import { eventually } from '../support/eventually.ts';
import { database } from '../support/factories.ts';
import { newAddress } from '../support/panel.ts';

/** What a page of the simulator shows, as soon as it says so. */
export async function shown(url: string, path: string, wanted: RegExp): Promise<string> {
  const text = await eventually(
    async () => (await fetch(url + path)).text(),
    (html) => wanted.test(html),
  );
  return wanted.exec(text)![1]!;
}

/** Presses a button, and waits for the page that answers. */
export async function submit(page: Page, name: string | RegExp): Promise<void> {
  await Promise.all([
    page.waitForEvent('load'),
    page.locator('main').getByRole('button', { name }).first().click(),
  ]);
}

/** Signs up with a new address, by the code in the simulator's mailbox. */
export async function signUp(page: Page, url: string, language: Language): Promise<void> {
  const say = words[language];
  const address = newAddress();
  // A network opens five accounts a day, and all browsers here have the same.
  await database()`update sign_ins set network = '10.0.0.1' where opened_account`;
  await page.goto(`${url}/panel`);
  await page.getByLabel(say.address).fill(address);
  await submit(page, say.send);
  const mailbox = `/simulator/mailbox?address=${encodeURIComponent(address)}`;
  const mail = await shown(url, mailbox, /(\/simulator\/email\?id=\w+)/);
  await page.getByLabel(say.code).fill(await shown(url, mail, /\b(\d{6})\b/));
  await submit(page, say.signIn);
}

/** What the pages of a window do that they should not: requests to other origins, and what the console says. */
export function complaintsOf(context: BrowserContext, url: string): string[] {
  const complaints: string[] = [];
  context.on('request', (request) => {
    if (!request.url().startsWith(url)) complaints.push(request.url());
  });
  context.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
  });
  context.on('weberror', (error) => complaints.push(error.error().message));
  return complaints;
}
