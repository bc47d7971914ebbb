import axe from 'axe-core';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type Browser, chromium, type Page } from 'playwright-core';
import { findChromium } from './chromium.ts';

// What Chromium does of its own accord is neither wanted nor reachable on every machine.
const QUIET = [
  '--disable-gpu',
  '--disable-quic',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--no-first-run',
];
const PICTURE_MAX = 3000;
/** How people look at a page: on a small telephone and at a desk, by day and by night. */
export const VIEWS = [320, 1280].flatMap((width) =>
  (['light', 'dark'] as const).map((colorScheme) => ({ width, colorScheme })),
);
type View = (typeof VIEWS)[number];

/** A page that is open, and what it did that it should not have done. */
interface OpenPage {
  page: Page;
  status: number;
  /** Requests to other origins. */
  strangers: string[];
  /** Errors and warnings of the console. */
  complaints: string[];
  close(): Promise<void>;
}

/** Starts Chromium without a window. */
export async function startBrowser(): Promise<Browser> {
  const { executablePath, env } = await findChromium();
  const isRoot = process.getuid?.() === 0;
  return await chromium.launch({
    executablePath,
    args: QUIET,
    chromiumSandbox: !isRoot,
    env: { ...process.env, ...env },
  });
}

/**
 * Opens an address in a context of its own: no cookies, nothing cached.
 * @param userAgent what the browser calls itself
 */
export async function open(
  browser: Browser,
  url: string,
  { width, colorScheme }: View,
  userAgent: string,
): Promise<OpenPage> {
  const context = await browser.newContext({ viewport: { width, height: 720 }, colorScheme, userAgent });
  const page = await context.newPage();
  const strangers: string[] = [];
  const complaints: string[] = [];
  const { origin } = new URL(url);
  context.on('request', (request) => {
    if (new URL(request.url()).origin !== origin) strangers.push(request.url());
  });
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(error.message));
  const response = await page.goto(url);
  return { page, status: response?.status() ?? 0, strangers, complaints, close: () => context.close() };
}

/** What axe finds wrong with every rule it has, experimental ones and WCAG AAA too: rule, element and reason. */
export async function violations(page: Page, without: readonly string[] = []): Promise<string[]> {
  // The page's policy runs no script of the page; this one comes from the debugger.
  await page.evaluate(axe.source);
  const rules = axe.getRules().map(({ ruleId }) => [ruleId, { enabled: !without.includes(ruleId) }]);
  const options = { resultTypes: ['violations'], rules: Object.fromEntries(rules) as object };
  const found = await page.evaluate<axe.AxeResults>(`axe.run(document, ${JSON.stringify(options)})`);
  return found.violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html}: ${failureSummary ?? ''}`),
  );
}

/** Whether something is wider than the window, so that one would have to scroll sideways to read. */
export async function overflows(page: Page): Promise<boolean> {
  return await page.evaluate<boolean>(
    'document.documentElement.scrollWidth > document.documentElement.clientWidth',
  );
}

/** Goes on by the Tab key until something of this name has the focus. */
export async function reach(page: Page, name: string | RegExp): Promise<void> {
  for (let i = 0; i < 100; i += 1) {
    await page.keyboard.press('Tab');
    const at = await page.evaluate<string>(
      '(document.activeElement.labels?.[0] ?? document.activeElement).innerText.trim()',
    );
    if (typeof name === 'string' ? at === name : name.test(at)) return;
  }
  throw new Error(`the Tab key never comes to ${name}`);
}

/** Keeps a picture of the page, from its top to at most 3000 px, in the folder that `E2E_SCREENSHOTS` names, if it names one. */
export async function picture(page: Page, name: string, { width, colorScheme }: View): Promise<void> {
  const folder = process.env['E2E_SCREENSHOTS'];
  if (folder === undefined || folder === '') return;
  mkdirSync(folder, { recursive: true });
  const length = await page.evaluate<number>('document.documentElement.scrollHeight');
  const path = join(folder, `${name}-${width}-${colorScheme}.png`);
  const clip = { x: 0, y: 0, width, height: Math.min(length, PICTURE_MAX) };
  await page.screenshot({ path, clip, fullPage: true });
}
