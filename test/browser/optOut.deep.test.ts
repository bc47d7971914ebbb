import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { newAccount, type TestAccount } from '../support/factories.ts';
import { optOutPath, TELEPHONE, unknownOptOutPath, unsubscribePath } from '../support/pages.ts';
import { open, overflows, picture, startBrowser, VIEWS, violations } from './browser.ts';

const NUMBER = '+48500400200';
// As long as a sender name gets, and nothing in it to break a line at.
const SENDER = 'WWWWWWWWWWW';
const ADDRESS = `jan@${'w'.repeat(60)}.example`;
const PREVIEW = 'facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)';

let browser: Browser;
beforeAll(async () => {
  browser = await startBrowser();
});
afterAll(() => browser?.close());

const url = (path: string) => inject('service').apiUrl + path;
const isListed = async ({ api }: TestAccount) => (await api.get('/v1/blacklist')).body.data.length === 1;
const heading = (page: Page) => page.getByRole('heading', { level: 1 }).innerText();
const focused = (page: Page) => page.evaluate<string>('document.activeElement.tagName');

const optOut = (account: TestAccount) => optOutPath(account, NUMBER, SENDER);
const unsubscribe = (account: TestAccount) => unsubscribePath(account, ADDRESS);

const PAGES = [
  ['confirmation', TELEPHONE, optOut, 200, 'Rezygnacja przyjęta'],
  ['question', PREVIEW, optOut, 200, 'Rezygnacja z\u00a0wiadomości SMS'],
  ['inactive', TELEPHONE, unknownOptOutPath, 404, 'Link jest nieaktywny'],
  ['e-mail question', TELEPHONE, unsubscribe, 200, 'Rezygnacja z\u00a0e-maili'],
] as const;

describe.each(PAGES)('the page %s', (name, userAgent, at, status, title) => {
  it.each(VIEWS)(
    'at $width px, $colorScheme: fits, nothing for axe to find, asks nobody else',
    async (view) => {
      const account = await newAccount();
      const opened = await open(browser, url(await at(account)), view, userAgent);
      const { page } = opened;
      await picture(page, `opt-out-${name.replaceAll(' ', '-')}`, view);
      expect([opened.status, await page.title(), await heading(page)]).toEqual([status, title, title]);
      expect(await violations(page)).toEqual([]);
      expect(await overflows(page)).toBe(false);
      expect(opened.strangers).toEqual([]);
      // Chromium notes a 404 of the page itself; nothing else is to be said.
      expect(opened.complaints.filter((text) => !text.includes('status of 404'))).toEqual([]);
      expect(await page.context().cookies()).toEqual([]);
      await opened.close();
    },
  );
});

describe('a person without a mouse', () => {
  it('who was taken for a robot reaches the button with Tab and opts out with Enter', async () => {
    const account = await newAccount();
    const opened = await open(browser, url(await optOutPath(account, NUMBER)), VIEWS[0]!, PREVIEW);
    const { page } = opened;
    expect(await isListed(account)).toBe(false);
    await page.keyboard.press('Tab');
    expect(await focused(page)).toBe('BUTTON');
    expect(await page.evaluate<string>('getComputedStyle(document.activeElement).outlineStyle')).toBe(
      'solid',
    );
    await picture(page, 'opt-out-question-focused', VIEWS[0]!);
    await Promise.all([page.waitForEvent('load'), page.keyboard.press('Enter')]);
    expect(await heading(page)).toBe('Rezygnacja przyjęta');
    expect(await isListed(account)).toBe(true);
    expect([opened.strangers, opened.complaints]).toEqual([[], []]);
    await opened.close();
  });

  it('opts out by opening the link, and sees the same after loading it again', async () => {
    const account = await newAccount();
    const opened = await open(browser, url(await optOutPath(account, NUMBER)), VIEWS[0]!, TELEPHONE);
    expect(await isListed(account)).toBe(true);
    await opened.page.reload();
    expect(await heading(opened.page)).toBe('Rezygnacja przyjęta');
    await opened.close();
  });
});

it('axe finds faults where there are some', async () => {
  const page = await browser.newPage();
  await page.setContent('<p style="color: #bbb">Too pale to read.</p><img src="data:,">');
  const found = (await violations(page)).join('\n');
  for (const rule of ['html-has-lang', 'color-contrast', 'image-alt']) expect(found).toContain(`${rule}: `);
  await page.close();
});
