import { afterAll, beforeAll, expect, it } from 'vitest';
import { database } from '../../support/factories.ts';
import { newPerson, type PanelUnderTest, type Person, startPanel } from '../../support/panel.ts';

let panel: PanelUnderTest;
beforeAll(async () => {
  panel = await startPanel();
});
afterAll(() => panel.api.stop());

async function settingsOf({ account }: Person) {
  const [row] = await database()<{ threshold: number | null; people: string[] }[]>`
    select (select low_balance_grosze from balance_alerts where account_id = ${account}) as threshold,
           array(select person_id from memberships where account_id = ${account} and alerted order by person_id) as people`;
  return row;
}

const tick = (...people: Person[]) => Object.fromEntries(people.map(({ id }) => [`person-${id}`, 'on']));

it('are set for people of the account, with a threshold, and shown as they are', async () => {
  const owner = await newPerson(panel, 'owner');
  const [billing, reader] = [
    await newPerson(panel, 'billing', owner.account),
    await newPerson(panel, 'reader', owner.account),
  ];
  const stranger = await newPerson(panel, 'owner');
  expect(
    await billing.browser.post('/panel/alerts', { low_balance: ' 49,9 ', ...tick(owner, reader, stranger) }),
  ).toMatchObject({ status: 303, to: '/panel/alerts?saved' });
  expect(await settingsOf(owner)).toEqual({ threshold: 4_990, people: [owner.id, reader.id].sort() });
  expect(await settingsOf(stranger)).toEqual({ threshold: null, people: [] });
  const { text } = await owner.browser.get('/panel/alerts');
  expect(text).toContain('value="49,90"');
  expect(text.match(/<input type="checkbox"[^>]* checked/g)).toHaveLength(2);
  expect(text).not.toContain(stranger.address);
  expect((await owner.browser.get('/panel/activity')).text).toContain('Zmiana powiadomień');

  await owner.browser.post('/panel/alerts', { low_balance: '', ...tick(billing) });
  expect(await settingsOf(owner)).toEqual({ threshold: null, people: [billing.id] });
  await database()`delete from memberships where person_id = ${billing.id}`;
  expect(await settingsOf(owner)).toEqual({ threshold: null, people: [] });
});

it.each(['0', '0,00', '-5'])('are not set below %s PLN, and the form stays as typed', async (typed) => {
  const owner = await newPerson(panel, 'owner');
  const seen = await owner.browser.post('/panel/alerts', { low_balance: typed, ...tick(owner) });
  expect(seen).toMatchObject({ status: 422, text: expect.stringContaining('href="#low_balance"') as string });
  expect(seen.text).toContain(`value="${typed}"`);
  expect(seen.text).toContain(' checked');
  expect(await settingsOf(owner)).toEqual({ threshold: null, people: [] });
});

it('go to five addresses at most, the contact address included', async () => {
  const owner = await newPerson(panel, 'owner');
  const others: Person[] = [];
  for (let count = 0; count < 4; count += 1) others.push(await newPerson(panel, 'reader', owner.account));
  const all = { low_balance: '', ...tick(owner, ...others) };
  expect((await owner.browser.post('/panel/alerts', all)).status).toBe(303);
  await database()`update accounts set contact_email = 'biuro@klient.example' where id = ${owner.account}`;
  const refused = await owner.browser.post('/panel/alerts', all);
  expect(refused).toMatchObject({ status: 422, text: expect.stringContaining('href="#people"') as string });
  // An address that is both counts once.
  await database()`update accounts set contact_email = ${owner.address} where id = ${owner.account}`;
  expect((await owner.browser.post('/panel/alerts', all)).status).toBe(303);
});

it('stay as they are while the account is not active', async () => {
  const owner = await newPerson(panel, 'owner');
  await database()`update accounts set status = 'suspended' where id = ${owner.account}`;
  expect((await owner.browser.post('/panel/alerts', { low_balance: '5' })).status).toBe(403);
  expect(await settingsOf(owner)).toEqual({ threshold: null, people: [] });
});
