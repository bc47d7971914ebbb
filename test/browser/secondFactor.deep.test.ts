import { Secret, TOTP } from 'otpauth';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { RunningApi } from '../../api/server.ts';
import { startOwnApi } from '../support/ownApi.ts';
import { newPerson, newSession, type Person, SESSION } from '../support/panel.ts';
import { overflows, picture, startBrowser, VIEWS, violations } from './browser.ts';

let browser: Browser;
let api: RunningApi;
let panel: { api: RunningApi; log: string[] };
beforeAll(async () => {
  browser = await startBrowser();
  // Passkeys are made for names of hosts alone.
  api = await startOwnApi({ host: 'localhost' });
  panel = { api, log: [] };
});
afterAll(async () => {
  await browser?.close();
  await api?.stop();
});

const complaints: string[] = [];

/** Opens a page with a person's session. */
async function enter(
  context: BrowserContext,
  { browser: { cookies } }: Pick<Person, 'browser'>,
  path: string,
) {
  await context.addCookies([
    { name: SESSION.replace('__Host-', ''), value: cookies.get(SESSION)!, url: api.url },
  ]);
  const page = context.pages()[0] ?? (await context.newPage());
  page.removeAllListeners('console');
  page.on('console', (message) => complaints.push(message.text()));
  await page.goto(api.url + path);
  return page;
}

const press = (page: Page, name: string) =>
  Promise.all([page.waitForEvent('load'), page.getByRole('button', { name }).click()]);
const heading = (page: Page) => page.getByRole('heading', { level: 1 }).innerText();

it.each(VIEWS)('an app and a passkey are added and proved at $width px, $colorScheme', async (view) => {
  const { width, colorScheme } = view;
  const context = await browser.newContext({ viewport: { width, height: 720 }, colorScheme, locale: 'pl' });
  const looked = async (page: Page, name: string) => {
    await picture(page, `factors-${name}`, view);
    expect([name, await violations(page), await overflows(page)]).toEqual([name, [], false]);
  };
  const person = await newPerson(panel, 'owner');
  const page = await enter(context, person, '/panel/you');
  await page.getByRole('link', { name: 'Ustaw drugi składnik' }).click();
  await looked(page, 'none');

  await press(page, 'Dodaj aplikację');
  await looked(page, 'app');
  const secret = Secret.fromBase32(await page.locator('#secret').innerText());
  await page.getByLabel('Kod z aplikacji').fill(TOTP.generate({ secret }));
  await press(page, 'Dodaj aplikację');
  await looked(page, 'recovery');

  const debug = await context.newCDPSession(page);
  await debug.send('WebAuthn.enable');
  const options = { protocol: 'ctap2', transport: 'internal', hasUserVerification: true } as const;
  const { authenticatorId } = await debug.send('WebAuthn.addVirtualAuthenticator', {
    options: { ...options, isUserVerified: false, automaticPresenceSimulation: true },
  });
  await page.goto(`${api.url}/panel/you/factors`);
  await press(page, 'Dodaj klucz dostępu');
  await looked(page, 'passkey');
  await page.getByLabel('Nazwa').fill('Telefon');
  await page.getByRole('button', { name: 'Dodaj klucz dostępu' }).click();
  await page.getByRole('alert').waitFor();
  await debug.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: true });
  await press(page, 'Dodaj klucz dostępu');
  expect(await heading(page)).toBe('Drugi składnik logowania');
  await looked(page, 'both');

  await enter(context, await newSession(panel, person), '/panel/keys');
  expect(await heading(page)).toBe('Potwierdź, że to Ty');
  await looked(page, 'confirm');
  await press(page, 'Użyj klucza dostępu');
  expect(await heading(page)).toBe('Klucze');
  expect(complaints).toEqual([]);
  await context.close();
});
