import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '../../../db/ids.ts';
import { clickOn } from '../../support/clicked.ts';
import { eventually } from '../../support/eventually.ts';
import {
  type AccountWish,
  database,
  newAccount,
  type TestAccount,
  untilStatus,
} from '../../support/factories.ts';
import { sendLink } from '../../support/links.ts';
import { newPerson, PANEL_URL, type PanelUnderTest, type Person, startPanel } from '../../support/panel.ts';

let panel: PanelUnderTest;
beforeAll(async () => {
  panel = await startPanel();
});
afterAll(() => panel.api.stop());

const HOSTILE = '"><script>alert(1)</script><img src=x>\u202e';
const later = new Date(Date.now() + 86_400_000).toISOString();

type Owner = Person & { owned: TestAccount };

async function newOwner(wish: AccountWish = {}): Promise<Owner> {
  const owned = await newAccount(wish);
  return { ...(await newPerson(panel, 'owner', owned.id)), owned };
}

let receivers = 0;
/** Receives replies, and has some of a number. */
async function withReplies(texts: readonly string[], from = '+48500100200'): Promise<Owner> {
  const owner = await newOwner({ inboundNumber: `+48${String(661_000_000 + (receivers += 1))}` });
  await database()`
    insert into inbound_messages (id, route, provider_reference, sender, receiver, received_text, state, account_id, text, matched_by)
    select r.id, 'test', r.id, ${from}, '+48500600700', r.content, 'matched', ${owner.account}, r.content, 'last_message'
      from unnest(${texts.map(() => newId('in'))}::text[], ${texts as string[]}::text[]) as r(id, content)`;
  return owner;
}

describe('the list of messages', () => {
  let owner: Owner;
  beforeAll(async () => {
    owner = await newOwner();
    const scheduled = { text: 'x', send_at: later };
    await owner.owned.api.accepted({ ...scheduled, to: '500100200', reference: 'zamówienie' });
    await owner.owned.api.accepted({ ...scheduled, to: '500100201' });
  });

  it.each([
    ['to=500+100+200', 1],
    ['to=0048500100200', 1],
    ['to=%2B48+500-100-200', 1],
    ['to=%28%2B48%29+500.100.200', 1],
    ['to=500100209', 0],
    ['reference=zam%C3%B3wienie', 1],
    ['status=scheduled', 2],
    ['status=delivered', 0],
    ['since=2020-01-01&until=2098-12-31&status=', 2],
    ['since=2098-01-01', 0],
    ['until=2020-01-01', 0],
  ])('by %s has %i', async (query, count) => {
    const { text } = await owner.browser.get(`/panel/messages?${query}`);
    expect(text.match(/<a href="\/panel\/messages\/msg_/g) ?? []).toHaveLength(count);
    if (count === 0) expect(text).toContain('Żadna wiadomość nie pasuje');
  });

  it.each(['to=12', 'status=x', 'since=2026-02-30', 'until=x', 'cursor=x'])(
    'by %s says what is wrong',
    async (query) => {
      const { status, text } = await owner.browser.get(`/panel/messages?${query}`);
      expect(status).toBe(200);
      expect(text).toMatch(/<p role="alert">[^<]+<\/p>/);
    },
  );

  it('has pages', async () => {
    const { browser, owned } = await newOwner({ balance: 100_000 });
    const to = Array.from({ length: 60 }, (_, n) => `+48${500_100_000 + n}`);
    await owned.api.accepted({ to, text: 'x', send_at: later, reference: 'a&b' });
    const seen = new Set<string>();
    for (let path: string | undefined = '/panel/messages?reference=a%26b'; path !== undefined;) {
      const { text } = await browser.get(path);
      for (const [, id] of text.matchAll(/\/panel\/messages\/(msg_\w+)/g)) seen.add(id!);
      path = /<a href="([^"]+)" rel="next">/.exec(text)?.[1]?.replaceAll('&amp;', '&');
    }
    expect(seen.size).toBe(60);
  });
});

describe('a message', () => {
  it.each([
    [
      '+48500100901',
      'undelivered',
      ['niedostarczona', 'Sieć zgłosiła', 'Kosztowała 0,10'],
      'The network reported that',
    ],
    [
      '+48500100902',
      'failed',
      ['nieudana', 'odrzucona przez operatora', 'opłata wróciła'],
      'The network operator refused',
    ],
    ['+48500100900', 'delivered', ['dostarczona', 'Kosztowała 0,10'], 'It cost'],
    [
      '+48500100999',
      'rejected',
      ['odrzucona', 'na czarnej liście', 'Nic nie kosztowała.'],
      'on the blacklist of the account',
    ],
  ])('to %s that was %s says why and whether it cost', async (to, status, words, english) => {
    const { browser, owned } = await newOwner();
    if (status === 'rejected') await owned.api.post('/v1/blacklist', { msisdn: to });
    const { id } = await owned.api.accepted({ to, text: HOSTILE });
    await untilStatus(owned, id, status);
    const { text } = await eventually(
      () => browser.get(`/panel/messages/${id}`),
      (seen) => words.every((word) => seen.text.replaceAll(' ', ' ').includes(word)),
    );
    expect(text).toContain('&lt;script>alert(1)&lt;/script>');
    expect(text).not.toMatch(/<script>|<img/);
    await browser.post('/panel/language', { language: 'en', back: '/panel' });
    expect((await browser.get(`/panel/messages/${id}`)).text).toContain(english);
  });

  it('that is scheduled is cancelled, and any is sent again as a new one', async () => {
    const { browser, owned } = await newOwner();
    const { message, url, token } = await sendLink(owned, 'https://example.com/a?x=$$9');
    const short = `${PANEL_URL.replace('https://', '')}/l/${token}`;
    await database()`update messages set text = ${`Hej ${short}`} where id = ${message}`;
    const path = `/panel/messages/${message}`;
    expect((await browser.get(path)).text).toContain('Anuluj teraz');
    expect(await browser.post(`${path}/cancel`)).toMatchObject({ status: 303, to: path });
    const { text } = await browser.get(path);
    expect(text).toContain('Anulowano ją przed wysłaniem. Nic nie kosztowała: opłata wróciła');
    expect(text).not.toContain('Anuluj teraz');
    expect(text).toContain(`/panel/links/${token}`);
    const again = await browser.get(`/panel/send?again=${message}`);
    expect(again.text).toContain(`Hej {{link:${url}}}</textarea>`);
    expect(again.text).toContain('+48500100200</textarea>');
    expect((await browser.post(`${path}/cancel`)).status).toBe(303);
  });
});

it('ids of others are not found, and nothing of theirs is shown', async () => {
  const mine = await newOwner({ inboundNumber: '+48662000001' });
  const theirs = await withReplies(['ich odpowiedź']);
  const { message, token } = await sendLink(theirs.owned);
  await theirs.owned.api.post('/v1/blacklist', { msisdn: '500100277' });
  for (const path of [`/panel/messages/${message}`, `/panel/links/${token}`, `/panel/send?again=${message}`])
    expect([path, (await mine.browser.get(path)).status]).toEqual([path, 404]);
  expect((await mine.browser.post(`/panel/messages/${message}/cancel`)).status).toBe(404);
  expect((await mine.browser.post('/panel/blacklist/remove', { msisdn: '+48500100277' })).status).toBe(404);
  await mine.browser.post('/panel/replies/+48500100200/read');
  for (const path of [
    '/panel/messages',
    '/panel/links',
    '/panel/replies',
    '/panel/replies/+48500100200',
    '/panel/blacklist',
  ])
    expect((await mine.browser.get(path)).text).not.toMatch(
      /ich odpowiedź|msg_|\/panel\/links\/\w|500100277/,
    );
  const [reply] = await database()`select read_at from inbound_messages where account_id = ${theirs.account}`;
  expect(reply).toEqual({ readAt: null });
});

describe('replies', () => {
  it('are a conversation in order of time, unread until they are marked', async () => {
    const { browser, owned } = await withReplies(['Pierwsza', HOSTILE]);
    await owned.api.accepted({ to: '500100200', text: 'Nasza', send_at: later });
    const list = (await browser.get('/panel/replies')).text;
    expect(list.match(/<span class="badge">nowa<\/span>/g)).toHaveLength(2);
    const path = '/panel/replies/+48500100200';
    expect(list).toContain(`<a href="${path}">`);
    const { text } = await browser.get(path);
    expect(text).not.toMatch(/<script>|<img/);
    const places = ['Pierwsza', 'alert(1)', 'Nasza'].map((one) => text.indexOf(one));
    expect(places).toEqual(places.toSorted((a, b) => a - b));
    expect((await browser.get('/panel/replies?unread=true')).text).toContain('Pierwsza');
    expect(await browser.post(`${path}/read`)).toMatchObject({ status: 303, to: path });
    expect((await browser.get('/panel/replies?unread=true')).text).not.toContain('Pierwsza');
    expect((await browser.get('/panel/replies?from=500+100+200')).text).toContain('Pierwsza');
  });

  it('of who opted out say so, and are not answered', async () => {
    const { browser, owned } = await withReplies(['STOP']);
    expect((await browser.get('/panel/replies/500100200')).text).toContain('>Odpisz<');
    await owned.api.post('/v1/blacklist', { msisdn: '500100200', reason: 'opt_out' });
    const { text } = await browser.get('/panel/replies/500100200');
    expect(text).toContain('Odbiorca zrezygnował');
    expect(text).not.toContain('>Odpisz<');
  });

  it('are explained where the account has no number for them', async () => {
    const { browser } = await newOwner();
    expect((await browser.get('/panel/replies')).text).toContain('nie odbiera jeszcze odpowiedzi');
  });
});

describe('the blacklist', () => {
  it('takes numbers as people write them, says which are none, and lets them go', async () => {
    const { browser } = await newOwner();
    const form = { msisdns: '500 100 200\n+48 500-100-201, dwa', reason: HOSTILE, expires_at: '2098-12-31' };
    const refused = await browser.post('/panel/blacklist/add', form);
    expect(refused.status).toBe(422);
    expect(refused.text).toContain('Dodane: 2. To nie są numery telefonu: dwa.');
    expect(refused.text).toMatch(/>dwa<\/textarea>/);
    const { text } = await browser.get('/panel/blacklist');
    expect(text).not.toMatch(/<script>|<img/);
    for (const shown of ['+48500100200', '+48500100201', '1 sty 2099, 00:00']) expect(text).toContain(shown);
    expect(await browser.post('/panel/blacklist/add', { msisdns: '500100202' })).toMatchObject({
      status: 303,
    });
    const search = async (query: string) =>
      [
        ...(await browser.get(`/panel/blacklist?${query}`)).text.matchAll(
          /<a href="\/panel\/replies\/\+48(\d+)"/g,
        ),
      ].map(([, number]) => number);
    expect(await search('msisdn=500+100+201')).toEqual(['500100201']);
    expect(await search('reason=manual')).toEqual(['500100202']);
    await browser.post('/panel/blacklist/remove', { msisdn: '+48500100201' });
    expect(await search('')).toEqual(['500100200', '500100202']);
  });

  it.each([
    [{}, 'msisdns'],
    [{ msisdns: '500100200', reason: 'x'.repeat(201) }, 'reason'],
    [{ msisdns: '500100200', expires_at: '2020-01-01' }, 'expires_at'],
    [{ msisdns: '500100200', expires_at: 'x' }, 'expires_at'],
  ] as [Record<string, string>, string][])('refuses %j', async (form, field) => {
    const { browser } = await newOwner();
    const seen = await browser.post('/panel/blacklist/add', form);
    expect(seen.status).toBe(422);
    expect(seen.text).toContain(`<a href="#${field}">`);
  });
});

it('links are shown with their clicks', async () => {
  const { browser, owned } = await newOwner();
  const { token } = await sendLink(owned, 'https://example.com/"><script>');
  expect((await browser.get('/panel/links?clicked=true')).text).not.toContain(token);
  await clickOn(database(), token);
  expect((await browser.get('/panel/links?clicked=true')).text).toContain(`/panel/links/${token}`);
  const { text } = await browser.get(`/panel/links/${token}`);
  expect(text).toContain('https://example.com/');
  expect(text).toContain('<dt>Kliknięcia</dt><dd>1</dd>');
  expect(text).not.toContain('<script>');
});
