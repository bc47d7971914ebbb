import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';

const CHROMIUM = process.env['CHROMIUM'] ?? '/usr/bin/chromium';
// Nothing of its own over the network, and no sandbox, which a container does not have.
const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

let browser: Browser;
beforeAll(async () => {
  browser = await chromium.launch({ executablePath: CHROMIUM, args: FLAGS });
});
afterAll(() => browser.close());

/** Opens the page; gives it to the test, with what the browser complained about and asked others for. */
async function open(
  look: { width: number; colorScheme: 'light' | 'dark'; bypassCSP?: boolean },
  test: (page: Page, seen: { complaints: string[]; outside: string[] }) => Promise<void>,
): Promise<void> {
  const { width, ...options } = look;
  const context = await browser.newContext({ viewport: { width, height: 800 }, ...options });
  try {
    const page = await context.newPage();
    const seen = { complaints: [] as string[], outside: [] as string[] };
    const base = inject('service').apiUrl;
    page.on('console', (message) => {
      // Browsers ask for an icon of their own accord.
      if (!message.location().url.endsWith('/favicon.ico')) seen.complaints.push(message.text());
    });
    page.on('request', (request) => {
      if (!request.url().startsWith(base)) seen.outside.push(request.url());
    });
    await page.goto(`${base}/docs`);
    await test(page, seen);
  } finally {
    await context.close();
  }
}

describe('the documentation in a browser', () => {
  it.each([
    [1280, 'light'],
    [1280, 'dark'],
    [320, 'light'],
    [320, 'dark'],
  ] as const)('at %i px, %s: no violation of any axe rule, nothing cut off', async (width, colorScheme) => {
    // The policy lets no script run, axe neither: for it alone it is lifted.
    await open({ width, colorScheme, bypassCSP: true }, async (page) => {
      await page.evaluate('for (const one of document.querySelectorAll("details")) one.open = true');
      const overflow = await page.evaluate('document.documentElement.scrollWidth - window.innerWidth');
      expect(overflow).toBeLessThanOrEqual(0);
      await page.evaluate(AXE);
      const enhanced = {
        rules: { 'color-contrast-enhanced': { enabled: true }, 'target-size': { enabled: true } },
      };
      const violations = await page.evaluate(
        `axe.run(document, ${JSON.stringify(enhanced)}).then(({ violations }) => violations.map(({ id, nodes }) => id + ' ' + nodes[0].html))`,
      );
      expect(violations).toEqual([]);
    });
  });

  it('asks nobody else for anything, and the policy finds nothing to block', async () => {
    await open({ width: 1280, colorScheme: 'light' }, (_, seen) => {
      expect(seen).toEqual({ complaints: [], outside: [] });
      return Promise.resolve();
    });
  });

  it('is used with the keyboard alone: skip link, contents, errors of an operation', async () => {
    await open({ width: 1280, colorScheme: 'light' }, async (page) => {
      await page.keyboard.press('Tab');
      expect(await focused(page)).toMatchObject({ text: 'Skip to content', visible: true });
      await page.keyboard.press('Enter');
      expect(new URL(page.url()).hash).toBe('#content');
      await page.locator('nav a[href="#sendMessages"]').focus();
      await page.keyboard.press('Enter');
      expect((await page.locator('#sendMessages').boundingBox())!.y).toBeLessThan(400);
      const errors = page.locator('section:has(> #sendMessages) summary');
      await errors.focus();
      await page.keyboard.press('Enter');
      expect(await page.locator('section:has(> #sendMessages) details').getAttribute('open')).not.toBeNull();
    });
  });
});

async function focused(page: Page): Promise<{ text: string; visible: boolean }> {
  return await page.evaluate<{ text: string; visible: boolean }>(`{
    const { left, top, width } = document.activeElement.getBoundingClientRect();
    ({ text: document.activeElement.innerText, visible: left >= 0 && top >= 0 && width > 0 });
  }`);
}
