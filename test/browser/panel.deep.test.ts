import { gzipSync } from 'node:zlib';
import { HtmlValidate } from 'html-validate';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '../../db/ids.ts';
import { LANGUAGES, type Language } from '../../panel/language.ts';
import { routes } from '../../panel/routes.ts';
import { database, newAccount } from '../support/factories.ts';
import { type Person, newPerson, type PanelUnderTest, SESSION, startPanel } from '../support/panel.ts';
import { filledAccount } from './filledAccount.ts';
import { CHECKOUTS, filledBilling, PAYMENTS } from './filledBilling.ts';
import { complaintsOf } from './newcomer.ts';
import { overflows, picture, startBrowser, violations } from './browser.ts';

const WIDTHS = [320, 768, 1280];
const SCHEMES = ['light', 'dark'] as const;
// Of the style of markup, which is no matter of those who read it.
const markup = new HtmlValidate({
  extends: ['html-validate:recommended'],
  rules: {
    // Fields are named as the API names them, `fields.miasto`.
    'valid-id': ['error', { relaxed: true }],
    ...Object.fromEntries(
      [
        'void-style',
        'no-trailing-whitespace',
        'doctype-style',
        'long-title',
        'no-implicit-button-type',
        'no-implicit-input-type',
      ].map((rule) => [rule, 'off']),
    ),
  },
});

let panel: PanelUnderTest;
let browser: Browser;
let owner: Person;
let ids: Record<string, string>;
beforeAll(async () => {
  [panel, browser] = await Promise.all([startPanel({}, null), startBrowser()]);
  const filled = await filledAccount();
  owner = await newPerson(panel, 'owner', filled.account.id);
  const { cookies } = owner.browser;
  cookies.set('goniec_session', cookies.get(SESSION)!);
  await owner.browser.post('/panel/numbers', { to: '511 999 000' });
  const numbers = (await owner.browser.get('/panel/numbers')).text;
  const payments = await filledBilling(filled.account.id, filled.ids['messages']!);
  const others = await newAccount();
  ids = {
    ...filled.ids,
    ...payments,
    billing: payments['paid']!,
    numbers: /ver_\w{26}/.exec(numbers)![0],
    invitation: newId('inv'),
  };
  await database()`
    insert into invitations (id, account_id, address, role, invited_by)
    values (${ids['invitation']!}, ${others.id}, ${owner.address}, 'reader', ${owner.id})`;
});
afterAll(async () => {
  await browser?.close();
  await panel?.api.stop();
});

const pages = routes
  .filter(
    ({ path, methods, access }) =>
      methods.includes('GET') && !/\*|export$|:file$/.test(path) && access !== 'anybody',
  )
  .map(({ path }) => path);

/** The address of a page, of something of its kind in the account, or of what its parameter names. */
function addressOf(path: string): string {
  const at = path.replace(
    /([^/]+)\/:(\w+)/,
    (_, kind: string, name: string) => `${kind}/${ids[name] ?? ids[kind]}`,
  );
  expect(at).not.toContain('undefined');
  return `http://127.0.0.1:${panel.api.port}${at}`;
}

/** A window of somebody signed in, and what its pages do that they should not. */
async function openWindow(language: Language, javaScriptEnabled = true) {
  const url = `http://127.0.0.1:${panel.api.port}`;
  const context = await browser.newContext({ javaScriptEnabled });
  await context.addCookies([
    { url, name: 'goniec_session', value: owner.browser.cookies.get(SESSION)! },
    { url, name: 'goniec_language', value: language },
  ]);
  return { context, page: await context.newPage(), complaints: complaintsOf(context, url) };
}

const unfold = (page: Page) =>
  page.evaluate('for (const one of document.querySelectorAll("main details")) one.open = true');

/** It fits every width, with nothing for axe to find and a silent console. @returns its markup */
async function expectGood(path: string, language: Language): Promise<string> {
  const { context, page, complaints } = await openWindow(language);
  const response = await page.goto(addressOf(path));
  expect([response?.status(), await page.evaluate('document.documentElement.lang')]).toEqual([200, language]);
  const html = await response!.text();
  expect(await page.evaluate('document.querySelectorAll("planted-x, img, script:not([src])").length')).toBe(
    0,
  );
  for (const colorScheme of SCHEMES) {
    await page.emulateMedia({ colorScheme });
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: 720 });
      await picture(page, `panel${path.replace(/\W+/g, '-')}-${language}`, { width, colorScheme });
      await unfold(page);
      expect([width, await overflows(page)]).toEqual([width, false]);
    }
    expect(await violations(page)).toEqual([]);
  }
  expect(complaints).toEqual([]);
  await context.close();
  return html;
}

async function expectValid(html: string): Promise<void> {
  const { results } = await markup.validateString(html);
  expect(
    results.flatMap(({ messages }) => messages.map((m) => `${m.ruleId}: ${m.message} ${m.line}:${m.column}`)),
  ).toEqual([]);
}

describe.each([...pages, ...Object.keys(PAYMENTS).map((name) => `/panel/billing/:${name}`)])('%s', (path) => {
  it.each(LANGUAGES)('in %s: valid markup, fits every width, nothing for axe to find', async (language) => {
    await expectValid(await expectGood(path, language));
  });
});

it.each(['', ...CHECKOUTS.map((state) => `/cs_${state}`)])(
  'the simulated processor, /simulator/payments%s, is as good',
  async (path) => {
    await expectGood(`/simulator/payments${path}`, 'en');
  },
);

it('takes at most 40 kB at a first visit, compressed, with everything', async () => {
  const { context, page } = await openWindow('pl');
  const sizes: Promise<number>[] = [];
  page.on('response', (response) => sizes.push(response.body().then((body) => gzipSync(body).length)));
  await page.goto(addressOf('/panel/messages'), { waitUntil: 'networkidle' });
  const taken = await Promise.all(sizes);
  // The page, two style sheets, two scripts, icons.
  expect(taken.length).toBeGreaterThan(5);
  expect(taken.reduce((sum, size) => sum + size)).toBeLessThan(40_000);
  await context.close();
});
