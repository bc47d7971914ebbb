import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { text as bodyOf } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { newId } from '../../../db/ids.ts';
import { eventually } from '../../support/eventually.ts';
import { database, newAccount } from '../../support/factories.ts';
import { startOwnApi } from '../../support/ownApi.ts';
import { hold } from '../../support/heldLocks.ts';
import {
  askedBy,
  mailsTo,
  newAddress,
  newBrowser,
  newPerson,
  PANEL_URL,
  type PanelUnderTest,
  type Person,
  startPanel,
} from '../../support/panel.ts';

let panel: PanelUnderTest;
beforeAll(async () => {
  panel = await startPanel();
});
afterAll(() => panel.api.stop());

const addressOf = async (id: string) =>
  (await database()<{ address: string }[]>`select address from people where id = ${id}`)[0]?.address;
const peopleWith = async (address: string) =>
  (await database()`select from people where address = ${address}`).count;
const sessionsOf = async (id: string) =>
  (await database()`select from sessions where person_id = ${id}`).count;

async function linkTo(address: string, count = 1): Promise<string> {
  const { text } = (await mailsTo(address, count))[count - 1]!;
  return new RegExp(`${PANEL_URL}(/panel/address/(?:undo/)?[\\w-]{43})$`, 'm').exec(text)![1]!;
}

/** Asks for another address. @returns path of the link that was sent to it */
async function askedFor({ browser }: Person, address: string): Promise<string> {
  expect(await browser.post('/panel/you/address', { address })).toMatchObject({ to: '/panel/you/address' });
  return await linkTo(address);
}

/** Changes the address. @returns path of the link that undoes it */
async function changed(person: Person, address: string): Promise<string> {
  const link = await askedFor(person, address);
  const former = (await addressOf(person.id))!;
  const before = (await mailsTo(former, 0)).length;
  expect(await person.browser.post(link)).toMatchObject({ to: '/panel/you' });
  return await linkTo(former, before + 1);
}

describe('a change of address', () => {
  it('takes the link at the new one, ends other sessions and tells both, of which the former one undoes it', async () => {
    const person = await newPerson(panel, 'owner');
    const { id, browser } = person;
    await database()`
      insert into sessions (id, token_hash, person_id, assurance, address)
      values (${newId('ses')}, sha256(${id}::bytea), ${id}, 'address', '10.0.0.1')`;
    const address = newAddress();
    await browser.post('/panel/you/address', { address: ` ${address.toUpperCase()} ` });
    const link = await linkTo(address);
    expect((await browser.get('/panel/you/address')).text).toContain(`na adres ${address}.`);
    for (const method of ['HEAD', 'GET', 'GET']) expect((await browser.ask(method, link)).status).toBe(200);
    expect([await addressOf(id), await sessionsOf(id)]).toEqual([person.address, 2]);
    expect(await browser.post(link)).toMatchObject({ status: 303, to: '/panel/you' });
    expect([await addressOf(id), await sessionsOf(id)]).toEqual([address, 1]);
    expect((await browser.post(link)).status).toBe(404);
    expect((await mailsTo(address, 2))[1]!.text).toContain(`a nie ${person.address}`);
    const undo = await linkTo(person.address);
    for (const [key, age] of [
      ['before', '1 hour'],
      ['since', '0'],
    ])
      await database()`
        insert into passkeys (id, person_id, label, public_key, counter, created_at)
        values (${id + key}, ${id}, ${key!}, '', 0, now() - ${age!}::interval)`;
    await database()`
      insert into recovery_codes (code_hash, person_id, created_at)
      select sha256((${id} || n)::bytea), ${id}, now() - n * interval '1 hour' from generate_series(0, 1) n`;
    const stranger = newBrowser(panel);
    for (const method of ['HEAD', 'GET', 'GET']) expect((await stranger.ask(method, undo)).status).toBe(200);
    expect(await addressOf(id)).toBe(address);
    expect((await stranger.post(undo)).status).toBe(200);
    expect([...(await database()`select label from passkeys where person_id = ${id}`)]).toEqual([
      { label: 'before' },
    ]);
    expect([await addressOf(id), await sessionsOf(id)]).toEqual([person.address, 0]);
    expect((await database()`select from recovery_codes where person_id = ${id}`).count).toBe(1);
    expect((await mailsTo(address, 3))[2]!.text).toContain(`znowu adresem ${person.address}, a nie tym`);
    expect((await stranger.post(undo)).status).toBe(404);
    const log = await database()`
      select action, details from audit_log where account_id = ${person.account} order by id`;
    const [from, to] = [person.address, address].map((one) => `${one[0]}…@klient.example`);
    expect([...log]).toEqual([
      { action: 'address change', details: { from, address: to } },
      { action: 'address undo', details: { address: from } },
    ]);
  });

  it('is confirmed by the person alone, whoever gets the link', async () => {
    const [person, other] = [await newPerson(panel, 'owner'), await newPerson(panel, 'owner')];
    const link = await askedFor(person, newAddress());
    for (const [browser, status] of [
      [newBrowser(panel), 403],
      [other.browser, 404],
    ] as const) {
      expect((await browser.get(link)).status).toBe(status);
      expect((await browser.post(link)).status).toBe(status);
    }
    expect(await addressOf(person.id)).toBe(person.address);
    // Another one takes its place.
    await askedFor(person, newAddress());
    expect((await person.browser.post(link)).status).toBe(404);
  });

  it.each(['waits for an hour', 'is undone for seven days'])('%s', async (what) => {
    const person = await newPerson(panel, 'owner');
    const link = await (what.startsWith('waits') ? askedFor : changed)(person, newAddress());
    const [row] = await database()<{ hours: number }[]>`
      select round(extract(epoch from expires_at - now()) / 3600)::int as hours
        from address_changes where person_id = ${person.id}`;
    expect(row).toEqual({ hours: what.startsWith('waits') ? 1 : 168 });
    await database()`update address_changes set expires_at = now() where person_id = ${person.id}`;
    expect((await person.browser.get(link)).status).toBe(404);
    expect((await person.browser.post(link)).status).toBe(404);
  });

  it('undone takes those after it along, and none before it', async () => {
    const person = await newPerson(panel, 'owner');
    const [second, third] = [newAddress(), newAddress()];
    const toFirst = await changed(person, second);
    const toSecond = await changed(person, third);
    const stranger = newBrowser(panel);
    await stranger.post(toFirst);
    expect(await addressOf(person.id)).toBe(person.address);
    expect((await stranger.post(toSecond)).status).toBe(404);
    expect(await addressOf(person.id)).toBe(person.address);
  });

  it('to an address that somebody has is answered alike, and only that address is told', async () => {
    const [person, other] = [await newPerson(panel, 'owner'), await newPerson(panel, 'reader')];
    const pages = [];
    for (const address of [newAddress(), other.address]) {
      const { status, to } = await person.browser.post('/panel/you/address', { address });
      const { text } = await person.browser.get('/panel/you/address');
      pages.push({ status, to, text: text.replaceAll(address, 'X') });
    }
    expect(pages[1]).toEqual(pages[0]);
    expect((await mailsTo(other.address))[0]!.text).toMatch(/ma on już własne konto/);
    expect((await mailsTo(other.address))[0]!.text).not.toContain('https://');
  });

  it('to an address that somebody takes meanwhile, or gives up, changes nothing', async () => {
    const [person, other] = [await newPerson(panel, 'owner'), await newPerson(panel, 'reader')];
    const address = newAddress();
    const link = await askedFor(person, address);
    await database()`update people set address = ${address} where id = ${other.id}`;
    expect((await person.browser.post(link)).status).toBe(409);
    await changed(other, newAddress());
    expect((await person.browser.post(link)).status).toBe(409);
    expect(await addressOf(person.id)).toBe(person.address);
  });

  it.each(['link', 'code'])('leaves the former one to its person: a %s there undoes it', async (by) => {
    const person = await newPerson(panel, 'owner');
    const undo = await changed(person, newAddress());
    const [browser, { address }] = [newBrowser(panel), person];
    const mail = await askedBy(browser, address);
    expect((await browser.get('/panel/code')).text).toContain(address);
    const seen =
      by === 'link' ? await browser.post(mail.link) : await browser.post('/panel/code', { code: mail.code });
    expect(seen.to).toMatch(/^\/panel\/address\/undo\/[\w-]{43}$/);
    expect([browser.cookies.size, await peopleWith(address)]).toEqual([0, 0]);
    expect((await browser.post(mail.link)).status).toBe(410);
    expect((await browser.get(seen.to!)).text).toContain(`Adres ${address} zmieniono niedawno`);
    expect((await browser.post(seen.to!)).status).toBe(200);
    expect(await addressOf(person.id)).toBe(address);
    expect((await browser.post(undo)).status).toBe(404);
    expect((await browser.post((await askedBy(browser, address)).link)).to).toBe('/panel/overview');
    expect(await peopleWith(address)).toBe(1);
  });

  it('leaves it to nobody else for seven days, who signs up at that moment or changes to it', async () => {
    const [person, other] = [await newPerson(panel, 'owner'), await newPerson(panel, 'reader')];
    const [{ id, address }, browser] = [person, newBrowser(panel)];
    const { link } = await askedBy(browser, address);
    const change = await hold(async (tx) => {
      await tx`update people set address = ${newAddress()} where id = ${id}`;
      await tx`
        insert into address_changes (link_hash, person_id, address, confirmed_at, expires_at)
        values (sha256(${id}::bytea), ${id}, ${address}, now(), now() + interval '7 days')`;
    });
    const signingIn = browser.post(link);
    await change.releaseToWaiting();
    expect((await signingIn).to).toMatch(/^\/panel\/address\/undo\//);
    await other.browser.post('/panel/you/address', { address });
    expect((await mailsTo(address, 2))[1]!.text).toMatch(/ma on już własne konto/);
    await database()`update address_changes set expires_at = now() where person_id = ${id}`;
    expect((await browser.post((await askedBy(browser, address)).link)).to).toBe('/panel/overview');
    expect(await peopleWith(address)).toBe(1);
  });

  it('back to the own former one takes the link there, and leaves nothing to undo but that', async () => {
    const person = await newPerson(panel, 'owner');
    const [address, before] = [newAddress(), (await mailsTo(person.address, 0)).length];
    const toFormer = await changed(person, address);
    await person.browser.post('/panel/you/address', { address: person.address });
    const back = await linkTo(person.address, before + 2);
    expect(await person.browser.post(back)).toMatchObject({ to: '/panel/you' });
    expect(await addressOf(person.id)).toBe(person.address);
    expect((await newBrowser(panel).post(toFormer)).status).toBe(404);
    const reserved = await database()`select address from address_changes where person_id = ${person.id}`;
    expect([...reserved]).toEqual([{ address }]);
  });

  it('that another one replaces at that moment is over', async () => {
    const person = await newPerson(panel, 'owner');
    const { id, browser } = person;
    const link = await askedFor(person, newAddress());
    const waiting = (count: number) =>
      eventually(
        () => database()`
          select from pg_stat_activity
           where datname = current_database() and wait_event_type = 'Lock' and query like '%from people%for no key update%'`,
        (rows) => rows.count >= count,
      );
    const held = await hold((tx) => tx`select from people where id = ${id} for no key update`);
    const replacing = browser.post('/panel/you/address', { address: newAddress() });
    await waiting(1);
    const confirming = browser.post(link);
    await waiting(2);
    await held.release();
    expect((await replacing).status).toBe(303);
    expect((await confirming).status).toBe(404);
    expect(await addressOf(id)).toBe(person.address);
  });

  it.each([
    ['jan', 'Wpisz adres'],
    ['', 'Wpisz adres'],
    ['OWN', 'obecny adres'],
  ])('to %j is refused', async (typed, why) => {
    const { browser, address } = await newPerson(panel, 'reader');
    const seen = await browser.post('/panel/you/address', { address: typed.replace('OWN', address) });
    expect(seen).toMatchObject({ status: 422, text: expect.stringContaining(why) as string });
  });

  it('sends an address five e-mails an hour', async () => {
    const address = newAddress();
    const people = await Promise.all(Array.from({ length: 6 }, () => newPerson(panel, 'reader')));
    const asks = await Promise.all(
      people.map(({ browser }) => browser.post('/panel/you/address', { address })),
    );
    expect(asks.map(({ status }) => status).sort()).toEqual([303, 303, 303, 303, 303, 422]);
  });
});

test('links of changes are nowhere in the database or the log', async () => {
  const person = await newPerson(panel, 'owner');
  const address = newAddress();
  const undo = await changed(person, address);
  const [link] = [await linkTo(address)];
  const rows = JSON.stringify([
    await database()`select * from address_changes`,
    await database()`select text from email_contents c join email_recipients r on r.email_id = c.email_id
                      where r.address in (${address}, ${person.address})`,
  ]);
  for (const token of [undo, link].map((path) => path.split('/').at(-1)!)) {
    expect(rows).not.toContain(token);
    expect(panel.log.join('')).not.toContain(token);
  }
});

test('a panel with a host of its own is on no other, and its links and cookies follow it', async () => {
  const house = await newAccount();
  const api = await startOwnApi({
    config: { OWN_EMAIL_ACCOUNT: house.id },
    publicUrl: 'https://api.example',
    panelUrl: PANEL_URL,
  });
  const at = async (host: string, path: string, method = 'GET') => {
    const headers = { host, 'sec-fetch-site': 'same-origin' };
    const asking = request({ host: '127.0.0.1', port: api.port, path, method, headers });
    asking.end();
    const [answer] = (await once(asking, 'response')) as [IncomingMessage];
    return { status: answer.statusCode, cookies: answer.headers['set-cookie'], body: await bodyOf(answer) };
  };
  expect((await at('PANEL.example', '/panel')).status).toBe(200);
  expect((await at('panel.example', '/v1/openapi.json')).status).toBe(200);
  const masked = async (path: string) =>
    (await at('api.example', path)).body.replaceAll(/req_\w+/g, 'req').replaceAll(path, 'X');
  expect((await at('api.example', '/panel')).status).toBe(404);
  expect(await masked('/panel/keys')).toBe(await masked('/nothing'));
  await api.stop();
});
