import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, describe, expect, it, test, vi } from 'vitest';
import { polishDay } from '../../../domain/calendar.ts';
import { eventually } from '../../support/eventually.ts';
import {
  type AccountWish,
  books,
  database,
  newAccount,
  storedMessages,
  type TestAccount,
} from '../../support/factories.ts';
import { newPerson, type PanelUnderTest, type Person, type Seen, startPanel } from '../../support/panel.ts';

let panel: PanelUnderTest;
beforeAll(async () => {
  panel = await startPanel();
});
afterAll(() => panel.api.stop());
afterEach(() => void vi.useRealTimers());

const OWN = '+48500100299';
const TOMORROW = `${polishDay(Date.now() + 86_400_000)}T12:00`;

type Sender = Person & { owned: TestAccount };

async function newSender(wish: AccountWish = {}): Promise<Sender> {
  const owned = await newAccount(wish);
  return { ...(await newPerson(panel, 'developer', owned.id)), owned };
}

const unescaped = (html: string): string =>
  html.replaceAll('&lt;', '<').replaceAll('&quot;', '"').replaceAll('&amp;', '&');

/** Hidden fields of the form that leads to an address. */
function hiddenIn({ text }: Seen, action: string): Record<string, string> {
  const form = text.slice(text.indexOf(`action="${action}"`)).split('</form>')[0]!;
  const fields = form.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)"/g);
  return Object.fromEntries([...fields].map(([, name = '', value = '']) => [name, unescaped(value)]));
}

const CONFIRM = '/panel/send/confirm';

/** Fills in the form, and sends what the page to confirm it has. */
async function sendConfirmed({ browser }: Person, form: Record<string, string>): Promise<[Seen, Seen]> {
  const shown = await browser.post('/panel/send', form);
  expect(shown.status).toBe(200);
  return [shown, await browser.post(CONFIRM, hiddenIn(shown, CONFIRM))];
}

/** One of the figures of a page. */
const figure = ({ text }: Seen, name: string): string | undefined =>
  new RegExp(`<dt>${name}</dt><dd>([^<]*)</dd>`).exec(text)?.[1]?.replace(/\s/g, ' ');

const groszeShown = (seen: Seen): number =>
  Math.round(
    100 *
      Number(
        figure(seen, 'Cena razem')!
          .replace(',', '.')
          .replace(/[^\d.]/g, ''),
      ),
  );

it('a test account sends a free SMS from the form, and sees it delivered', async () => {
  const sender = await newSender({ mode: 'test', balance: 0, verified: [OWN] });
  expect((await sender.browser.get('/panel/send')).text).toContain(`Wyślij test na ${OWN}`);
  const [shown, sent] = await sendConfirmed(sender, { to: '500 100-299', text: 'Dzień dobry!' });
  expect(figure(shown, 'Bezpłatne wiadomości')).toBe('1');
  expect(sent.to).toMatch(/^\/panel\/messages\?reference=panel-/);
  const list = await eventually(
    () => sender.browser.get(sent.to!),
    ({ text }) => text.includes('dostarczona</span>'),
  );
  const [path] = /\/panel\/messages\/msg_\w+/.exec(list.text)!;
  const { text } = await sender.browser.get(path);
  for (const seen of ['Dzień dobry!', 'Poszła z bezpłatnych wiadomości.', 'Sieć przyjęła: część 1'])
    expect(text).toContain(seen);
  expect((await books(sender.account)).credits).toBe(24);
  const logged = panel.log.filter((line) => line.includes(`"personId":"${sender.id}"`));
  expect(logged.some((line) => line.includes(`"route":"${CONFIRM}"`))).toBe(true);
});

test('while typing, the price and the preview come alone', async () => {
  const { browser } = await newSender({ price: 7 });
  const form = { to: '500100200, 500100201', text: 'ż'.repeat(71) };
  const typing = { 'hx-request': 'true', 'sec-fetch-site': 'same-origin' };
  const seen = await browser.post('/panel/send/estimate', form, typing);
  expect([seen.status, groszeShown(seen), figure(seen, 'Części')]).toEqual([200, 2 * 2 * 7, '4']);
  expect(seen.text).toContain('Znak „ż” na pozycji 1');
  expect(seen.text).not.toContain('<textarea');
  expect((await browser.post('/panel/send/estimate', {}, typing)).status).toBe(200);
  const whole = await browser.post('/panel/send/estimate', form);
  expect(whole.text).toContain('500100200, 500100201</textarea>');
});

describe('the price shown is the price charged', () => {
  const PRICES = { price: 7, balance: 100_000, countryRates: { '49': { sms: 17 } } };

  let sender: Sender;
  let groups: string;
  beforeAll(async () => {
    sender = await newSender(PRICES);
    const { api } = sender.owned;
    await api.post('/v1/contacts', { msisdn: '500100201', first_name: 'Żaneta', groups: ['VIP'] });
    await api.post('/v1/contacts', { msisdn: '500100202', groups: ['VIP'] });
    await api.post('/v1/blacklist', { msisdn: '500100203' });
    groups = (await api.get('/v1/groups')).body.data[0]!.id;
  });

  /** What a send costs; null if it is refused. */
  async function sent(form: Record<string, string>): Promise<number | null> {
    const before = (await books(sender.account)).balance;
    const all = { ...form, ...(form['groups'] === undefined ? {} : { groups }), send_at: TOMORROW };
    const shown = await sender.browser.post('/panel/send', all);
    if (shown.status === 422) return null;
    const answer = await sender.browser.post(CONFIRM, hiddenIn(shown, CONFIRM));
    expect(answer).toMatchObject({ status: 303 });
    const charged = before - (await books(sender.account)).balance;
    expect(charged).toBe(groszeShown(shown));
    return charged;
  }

  it.each([
    [{ to: '500100200', text: 'x' }, 7],
    [{ to: '500100200\n0048 500 100 200\r\n+48 500-100-200', text: 'x' }, 7],
    [{ to: '500100200;+4915112345678', text: 'x'.repeat(161) }, 2 * (7 + 17)],
    [{ groups: 'VIP', text: `Dzien dobry {{imie}}, ${'x'.repeat(60)}` }, 2 * 7 + 7],
    [{ to: '500100201', groups: 'VIP', text: 'x' }, 2 * 7],
    [{ to: '500100203,500100204', text: 'x' }, 7],
    [{ to: '500100200', text: '{{opt_out}} {{link:https://example.com/a}}' }, 7],
  ])('of %j', async (form, grosze) => {
    expect(await sent(form)).toBe(grosze);
  });

  it('of any text that can be sent', async () => {
    const texts = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 400 });
    await fc.assert(
      fc.asyncProperty(texts, async (text) => {
        await sent({ to: '500100200', text });
      }),
      { seed: 46, numRuns: 10 },
    );
  });
});

describe('a confirmation', () => {
  it('sends once, however often and at the same time it is given', async () => {
    const sender = await newSender();
    const shown = await sender.browser.post('/panel/send', { to: '500100200,500100201', text: 'x' });
    const fields = hiddenIn(shown, CONFIRM);
    const once = () => sender.browser.post(CONFIRM, fields);
    const answers = await Promise.all([once(), once(), once()]);
    answers.push(await once());
    expect(new Set(answers.map(({ status, to }) => `${status} ${to}`)).size).toBe(1);
    expect(answers[0].status).toBe(303);
    expect(await storedMessages(sender.account)).toHaveLength(2);
  });

  it('is asked for again where the send would come to something else by now', async () => {
    const sender = await newSender();
    const shown = await sender.browser.post('/panel/send', { to: '500100200,500100201', text: 'x' });
    const fields = hiddenIn(shown, CONFIRM);
    await sender.owned.api.post('/v1/blacklist', { msisdn: '500100201' });
    const again = await sender.browser.post(CONFIRM, fields);
    expect(again).toMatchObject({
      status: 422,
      text: expect.stringContaining('Na czarnej liście: 1 z 2') as string,
    });
    expect(await storedMessages(sender.account)).toEqual([]);
    expect(hiddenIn(again, CONFIRM)['key']).toBe(fields['key']);
    expect((await sender.browser.post(CONFIRM, hiddenIn(again, CONFIRM))).status).toBe(303);
  });

  it('is asked for again on another day, when a send would be remembered no more', async () => {
    const sender = await newSender();
    const shown = await sender.browser.post('/panel/send', { to: '500100200', text: 'x' });
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 86_400_000 });
    const again = await sender.browser.post(CONFIRM, hiddenIn(shown, CONFIRM));
    expect(again).toMatchObject({ status: 422, text: expect.stringContaining('minął dzień') as string });
    expect(await storedMessages(sender.account)).toEqual([]);
    expect((await sender.browser.post(CONFIRM, hiddenIn(again, CONFIRM))).status).toBe(303);
  });

  it('that is refused keeps its key, as it may have been accepted', async () => {
    const sender = await newSender({ balance: 3 });
    const shown = await sender.browser.post('/panel/send', { to: '500100200', text: 'x' });
    const fields = hiddenIn(shown, CONFIRM);
    const refused = await sender.browser.post(CONFIRM, fields);
    expect(refused.status).toBe(422);
    expect(hiddenIn(refused, CONFIRM)).toEqual(fields);
    // Also through the form.
    const form = await sender.browser.post('/panel/send/estimate', fields);
    expect(hiddenIn(form, '/panel/send')['key']).toBe(fields['key']);
    expect(hiddenIn(await sender.browser.post('/panel/send', fields), CONFIRM)).toEqual(fields);
    expect(await storedMessages(sender.account)).toEqual([]);
  });

  it.each([
    [{ balance: 3 }, { to: '500100200', text: 'x' }, 'Środki na koncie nie wystarczą'],
    [{}, { to: '500100200', text: 'x', send_at: '2020-01-01T12:00' }, 'Podany czas już minął'],
    [{ senders: ['SKLEP'] }, { to: '500100200', text: 'x', from: 'SKLEP' }, '<dd>SKLEP</dd>'],
    [{}, { to: '500100200', text: 'x', send_at: TOMORROW }, '12:00 (czas polski)'],
  ] as [AccountWish, Record<string, string>, string][])(
    'of an account %j and %j says so',
    async (wish, form, words) => {
      const { browser } = await newSender(wish);
      expect((await browser.post('/panel/send', form)).text).toContain(words);
    },
  );
});

describe('a form', () => {
  let sender: Sender;
  beforeAll(async () => {
    sender = await newSender();
  });

  it.each([
    [{ to: '', text: 'x' }, 'to'],
    [{ to: '12', text: 'x' }, 'to'],
    [{ to: Array.from({ length: 501 }, (_, n) => 500_100_000 + n).join('\n'), text: 'x' }, 'to'],
    [{ to: '500100200', text: ' ' }, 'text'],
    [{ to: '500100200', text: 'Hej {{' }, 'text'],
    [{ to: '500100200', text: 'x', from: 'BANK' }, 'from'],
    [{ to: '500100200', text: 'x', groups: 'gr_00000000000000000000000000' }, 'groups'],
    [{ to: '500100200', template_id: 'tpl_00000000000000000000000000' }, null],
    [{ to: '500100200', text: 'x', send_window: '8-20' }, 'send_window'],
    // The night of the change to summer time.
    [{ to: '500100200', text: 'x', send_at: '2027-03-28T02:30' }, 'send_at'],
    [{ to: '500100200', text: 'x', send_at: 'jutro' }, 'send_at'],
  ] as [Record<string, string>, string | null][])(
    'with %j is refused as it was typed',
    async (form, field) => {
      const seen = await sender.browser.post('/panel/send', form);
      expect(seen.status).toBe(422);
      if (field !== null) expect(seen.text).toContain(`<a href="#${field}">`);
      expect(seen.text).toContain(`${form['to']}</textarea>`);
      expect(await storedMessages(sender.account)).toEqual([]);
    },
  );
});

it('a template has fields for what contacts do not know, and takes the place of the text', async () => {
  const sender = await newSender();
  const { id } = (
    await sender.owned.api.post('/v1/templates', { name: 'Wizyta', body: 'Hej {{imie}}, termin {{termin}}' })
  ).body;
  const form = { to: '500100200', text: 'nie to', template_id: id };
  const fields = await sender.browser.post('/panel/send/estimate', form);
  expect(fields.text).toContain('name="param-termin"');
  expect(fields.text).not.toContain('name="param-imie"');
  await sendConfirmed(sender, { ...form, 'param-termin': 'piątek' });
  const [message] = await database()`select text from messages where account_id = ${sender.account}`;
  expect(message).toEqual({ text: 'Hej , termin piątek' });
});

it('a test goes to the own number at once, once for a text, and leaves the form as it was', async () => {
  const sender = await newSender({ verified: [OWN, '+48500100298'] });
  const page = await sender.browser.get('/panel/send');
  const form = { ...hiddenIn(page, '/panel/send'), to: '500100200', text: 'Próba', send_at: TOMORROW };
  const test = (text: string) => sender.browser.post('/panel/send/test', { ...form, text });
  const seen = await test('Próba');
  await test('Próba');
  await test('Inna');
  expect(seen.text).toContain('Test wysłany.');
  expect(seen.text).toContain('500100200</textarea>');
  const sent = await database()`
    select recipient, text, send_at from messages where account_id = ${sender.account} order by id`;
  expect([...sent]).toEqual([
    { recipient: OWN, text: 'Próba', sendAt: null },
    { recipient: OWN, text: 'Inna', sendAt: null },
  ]);
});

it('hostile text stays text', async () => {
  const { browser } = await newSender({ verified: [OWN] });
  const hostile = '"><script>alert(1)</script></textarea><img src=x>\u202e{{x}}';
  for (const text of [hostile, hostile + 'x'.repeat(10_000)])
    for (const path of ['/panel/send', '/panel/send/estimate', '/panel/send/test', CONFIRM]) {
      const form = {
        to: `500100200,${hostile}`,
        text,
        template_id: hostile,
        'param-"><b>': hostile,
        key: hostile,
      };
      const seen = await browser.post(path, form);
      expect([200, 422]).toContain(seen.status);
      expect(seen.text).not.toMatch(/<script>|<img|<b>/);
    }
  const shown = await browser.post('/panel/send', { to: '500100200', text: hostile });
  expect(shown).toMatchObject({ status: 200 });
  expect(shown.text).not.toMatch(/<script>|<img/);
});
