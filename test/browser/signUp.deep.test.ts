import { randomInt } from 'node:crypto';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { apiClient } from '../support/client.ts';
import { newAddress, type PanelUnderTest, startPanel } from '../support/panel.ts';
import { startReceiver } from '../support/webhookReceiver.ts';
import { reach, startBrowser } from './browser.ts';
import { shown, signUp, submit } from './newcomer.ts';

let panel: PanelUnderTest;
let browser: Browser;
let url: string;
beforeAll(async () => {
  [panel, browser] = await Promise.all([startPanel({ TRUST_PROXY: false }, null), startBrowser()]);
  url = `http://127.0.0.1:${panel.api.port}`;
});
afterAll(async () => {
  await browser?.close();
  await panel?.api.stop();
});

it.each([true, false])(
  'a stranger has sent a first SMS by page and by key within two minutes; JavaScript: %s',
  async (javaScriptEnabled) => {
    const began = Date.now();
    const context = await browser.newContext({ javaScriptEnabled, locale: 'pl' });
    const page = await context.newPage();
    const number = `+48512${String(randomInt(1_000_000)).padStart(6, '0')}`;
    const phone = `/simulator/phone?number=${encodeURIComponent(number)}`;
    const receiver = await startReceiver();

    await signUp(page, url, 'pl');
    expect(new URL(page.url()).pathname).toBe('/panel/overview');

    await page.goto(`${url}/panel/numbers`);
    await page.getByLabel('Numer telefonu').fill(number.slice(3));
    await submit(page, 'Wyślij kod');
    await page.getByLabel('Kod', { exact: true }).fill(await shown(url, phone, /\b(\d{6})\b/));
    await submit(page, 'Potwierdź numer');

    await page.goto(`${url}/panel/webhooks/address`);
    await page.locator('#url').fill(receiver.url);
    await submit(page, /Zapisz/);
    const secret = await page.locator('#secret').innerText();
    receiver.useSecret(secret);

    await page.goto(`${url}/panel/send`);
    await page.getByLabel('Numery odbiorców').fill(number.slice(3));
    await page.getByLabel('Treść', { exact: true }).fill('Pierwsza wiadomość');
    await submit(page, 'Dalej');
    await submit(page, /^Wyślij \(/);
    await shown(url, phone, /(Pierwsza wiadomość)/);
    await receiver.until((calls) =>
      calls.some(({ event, verified }) => verified && event.type === 'message.delivered'),
    );

    await page.goto(`${url}/panel/keys`);
    await page.getByLabel('Etykieta').fill('Sklep');
    await submit(page, 'Utwórz');
    const key = await page.locator('#secret').innerText();
    const sent = await apiClient(url, key).accepted({ to: number, text: 'Druga wiadomość' });
    expect(sent).toMatchObject({ status: 'queued' });
    await shown(url, phone, /(Druga wiadomość)/);

    await page.goto(`${url}/panel/messages`);
    await page.locator('main').getByText('Druga wiadomość').waitFor();
    await page.goto(`${url}/panel/overview`);
    expect(await page.locator('main').innerText()).toContain('23');
    expect(Date.now() - began).toBeLessThan(120_000);
    await context.close();
  },
);

it('sign-up, a send and an import need nothing but the keyboard', async () => {
  const context = await browser.newContext({ locale: 'pl', viewport: { width: 1280, height: 800 } });
  const page = await context.newPage();
  const type = async (name: string, text: string) => {
    await reach(page, name);
    await page.keyboard.type(text);
  };
  const enter = async (name?: string | RegExp) => {
    if (name !== undefined) await reach(page, name);
    await Promise.all([page.waitForEvent('load'), page.keyboard.press('Enter')]);
  };
  const address = newAddress();
  const number = `512${String(randomInt(1_000_000)).padStart(6, '0')}`;
  const phone = `/simulator/phone?number=${encodeURIComponent(`+48${number}`)}`;

  await page.goto(`${url}/panel`);
  await type('Adres e-mail', address);
  await enter();
  const mailbox = `/simulator/mailbox?address=${encodeURIComponent(address)}`;
  const mail = await shown(url, mailbox, /(\/simulator\/email\?id=\w+)/);
  await type('Kod z e-maila', await shown(url, mail, /\b(\d{6})\b/));
  await enter();
  await enter('Własne numery');
  await type('Numer telefonu', number);
  await enter();
  await type('Kod', await shown(url, phone, /\b(\d{6})\b/));
  await enter();

  await enter('Wyślij');
  await type('Numery odbiorców', number);
  await type('Treść', 'Z klawiatury');
  await enter('Dalej');
  await enter(/^Wyślij \(/);
  await shown(url, phone, /(Z klawiatury)/);

  await enter('Kontakty');
  await enter('Import z pliku');
  await reach(page, 'Plik CSV');
  const [chooser] = await Promise.all([page.waitForEvent('filechooser'), page.keyboard.press('Space')]);
  const buffer = Buffer.from('numer;imię\n500100200;Ania\n');
  await chooser.setFiles({ name: 'kontakty.csv', mimeType: 'text/csv', buffer });
  await enter('Wczytaj plik');
  await reach(page, 'Importuj');
  await page.keyboard.press('Enter');
  await page.getByText('Import zakończony').waitFor();
  await page.goto(`${url}/panel/contacts`);
  await page.locator('main').getByText('Ania').waitFor();
  await context.close();
});
