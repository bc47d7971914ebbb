import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { TELEPHONE } from '../support/pages.ts';
import { open, overflows, picture, startBrowser, VIEWS, violations } from './browser.ts';

// Whatever the keyboard can be at, in the order of the document.
const REACHABLE = 'a[href], button, input, select, textarea, summary, [tabindex="0"]';

let browser: Browser;
beforeAll(async () => {
  browser = await startBrowser();
});
afterAll(() => browser?.close());

const docs = () => `${inject('service').apiUrl}/docs`;

describe('the documentation page', () => {
  it.each(VIEWS)(
    'at $width px, $colorScheme: fits, nothing for axe to find, asks nobody else',
    async (view) => {
      const opened = await open(browser, docs(), view, TELEPHONE);
      const { page } = opened;
      await picture(page, 'docs', view);
      expect([opened.status, await page.evaluate<string>('document.documentElement.lang')]).toEqual([
        200,
        'en',
      ]);
      await page.evaluate('for (const one of document.querySelectorAll("details")) one.open = true');
      expect(await violations(page)).toEqual([]);
      expect(await overflows(page)).toBe(false);
      expect([opened.strangers, opened.complaints]).toEqual([[], []]);
      await opened.close();
    },
  );

  it('is read with the keyboard alone: Tab comes to everything that can be used, and shows where it is', async () => {
    const opened = await open(browser, docs(), VIEWS[2]!, TELEPHONE);
    const { page } = opened;
    const all = await page.evaluate<number>(
      `[...document.querySelectorAll('${REACHABLE}')].filter((e) => e.checkVisibility()).length`,
    );
    expect(all).toBeGreaterThan(10);
    for (let i = 0; i < all; i += 1) {
      await page.keyboard.press('Tab');
      const at = await page.evaluate<{ index: number; shown: boolean; html: string }>(`(() => {
        const e = document.activeElement;
        const visible = [...document.querySelectorAll('${REACHABLE}')].filter((x) => x.checkVisibility());
        return { index: visible.indexOf(e), shown: getComputedStyle(e).outlineStyle !== 'none', html: e.outerHTML.slice(0, 100) };
      })()`);
      expect(at).toMatchObject({ index: i, shown: true });
    }
    await opened.close();
  });

  it('begins with a way past the contents, and opens the errors of an operation by Enter', async () => {
    const opened = await open(browser, docs(), VIEWS[2]!, TELEPHONE);
    const { page } = opened;
    await page.keyboard.press('Tab');
    expect(await page.evaluate<string>('document.activeElement.innerText')).toBe('Skip to content');
    await page.keyboard.press('Enter');
    expect(new URL(page.url()).hash).toBe('#content');
    const errors = page.locator('section:has(> #sendMessages) details');
    await errors.locator('summary').focus();
    await page.keyboard.press('Enter');
    expect(await errors.getAttribute('open')).not.toBeNull();
    await opened.close();
  });
});
