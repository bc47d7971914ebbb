import { randomInt } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { maskMsisdn } from '../../../domain/msisdn.ts';
import { eventually } from '../../support/eventually.ts';
import { books, database, newAccount } from '../../support/factories.ts';
import { newPerson, type PanelUnderTest, type Person, type Seen, startPanel } from '../../support/panel.ts';

let panel: PanelUnderTest;
beforeAll(async () => {
  panel = await startPanel();
});
afterAll(() => panel.api.stop());

const newNumber = () => `+48511${String(randomInt(1_000_000)).padStart(6, '0')}`;
const asks = ({ browser }: Person, to: string) => browser.post('/panel/numbers', { to });
const verifiedOf = async (account: string) => [
  ...(await database()`select msisdn from verified_numbers where account_id = ${account} order by msisdn`),
];
/** What the installation has sent to a number, latest first. */
const sentTo = (msisdn: string) => database()<{ id: string; sender: string; codes: number }[]>`
  select id, account_id as sender, cardinality(sent_at) as codes from verifications
   where msisdn = ${msisdn} and for_account is not null order by created_at desc`;

/** The code that the phone has got, once there are so many SMS, and the path of its form. */
async function codeOn(msisdn: string, person: Person, count = 1): Promise<{ code: string; path: string }> {
  const [text] = await eventually(
    () => database()<{ content: string }[]>`
      select content from simulator_submits where destination = ${msisdn} order by received_at desc`,
    ({ length }) => length >= count,
  );
  const page = (await person.browser.get('/panel/numbers')).text;
  const [path = ''] = /\/panel\/numbers\/ver_[0-9a-z]{26}\/confirm/.exec(page) ?? [];
  return { code: /\d{6}/.exec(text!.content)![0], path };
}

const wrong = (code: string, by = 1) => String((Number(code) + by) % 1_000_000).padStart(6, '0');
const told = (seen: Seen) => / href="#(?:to|code)">([^<]*)</.exec(seen.text)?.[1] ?? null;

async function verify(person: Person, msisdn: string): Promise<void> {
  await asks(person, msisdn);
  const { code, path } = await codeOn(msisdn, person);
  expect(await person.browser.post(path, { code })).toMatchObject({ status: 303, to: '/panel/numbers' });
}

describe('an own number', () => {
  it('is verified by the code on the phone, which the installation pays', async () => {
    const person = await newPerson(panel, 'developer');
    const msisdn = newNumber();
    expect((await person.browser.get('/panel/numbers')).text).toContain('Nie ma jeszcze żadnego numeru');
    const typed = `${msisdn.slice(3, 6)} ${msisdn.slice(6, 9)}-${msisdn.slice(9)}`;
    expect(await asks(person, typed)).toMatchObject({ status: 303, to: '/panel/numbers' });
    const { code, path } = await codeOn(msisdn, person);
    expect(await books(person.account)).toMatchObject({ credits: 25 });
    const [sent] = await sentTo(msisdn);
    const [message] = await database()`
      select account_id as sender, recipient, cost_grosze > 0 as paid from messages where reference = ${sent!.id}`;
    expect(message).toEqual({ sender: sent!.sender, recipient: msisdn, paid: true });

    for (const [given, fault] of [
      [wrong(code), 'To nie ten kod. Pozostałe próby: 4.'],
      ['12345', 'Kod ma sześć cyfr.'],
    ] as const) {
      const seen = await person.browser.post(path, { code: given });
      expect([seen.status, told(seen)]).toEqual([422, fault]);
    }
    expect(await verifiedOf(person.account)).toEqual([]);
    expect(await person.browser.post(path, { code: ` ${code.slice(0, 3)} ${code.slice(3)}` })).toMatchObject({
      status: 303,
    });
    expect(await verifiedOf(person.account)).toEqual([{ msisdn }]);
    expect((await person.browser.post(path, { code })).status).toBe(303);
    expect((await person.browser.get('/panel/numbers')).text).toContain(`<th scope="row">${msisdn}</th>`);
    const log = await database()`
      select action, actor, subject from audit_log where account_id = ${person.account} order by id limit 1`;
    expect([...log]).toEqual([{ action: 'numbers verify', actor: person.id, subject: maskMsisdn(msisdn) }]);
  });

  it('is removed, which makes room for another; an account has two', async () => {
    const person = await newPerson(panel, 'owner');
    const [one, two, three] = [newNumber(), newNumber(), newNumber()].sort();
    await asks(person, one!);
    const first = await codeOn(one!, person);
    expect((await person.browser.post(first.path, { code: first.code })).status).toBe(303);
    await asks(person, three!);
    const third = await codeOn(three!, person);
    await verify(person, two!);
    expect((await person.browser.get('/panel/numbers')).text).toContain('Konto ma już dwa numery');
    expect((await asks(person, newNumber())).status).toBe(409);
    expect((await person.browser.post(third.path, { code: third.code })).status).toBe(409);
    const other = await newPerson(panel, 'owner');
    expect((await other.browser.post('/panel/numbers/remove', { number: one! })).status).toBe(409);
    expect((await person.browser.post('/panel/numbers/remove', { number: one! })).status).toBe(303);
    expect((await person.browser.post(first.path, { code: first.code })).status).toBe(422);
    expect(await verifiedOf(person.account)).toEqual([{ msisdn: two }]);
    // Nothing was lost by the refusal.
    expect((await person.browser.post(third.path, { code: third.code })).status).toBe(303);
    expect(await verifiedOf(person.account)).toEqual([{ msisdn: two }, { msisdn: three }]);
  });

  it('has five guesses at its code, and then gets another one', async () => {
    const person = await newPerson(panel, 'owner');
    const msisdn = newNumber();
    await asks(person, msisdn);
    const { code, path } = await codeOn(msisdn, person);
    const seen = await Promise.all(
      Array.from({ length: 20 }, (_, n) => person.browser.post(path, { code: wrong(code, n + 1) })),
    );
    const left = seen.flatMap(({ text }) => /Pozostałe próby: (\d)/.exec(text)?.[1] ?? []);
    expect(left.sort()).toEqual(['1', '2', '3', '4']);
    expect((await person.browser.post(path, { code })).text).toContain('Ten kod już nie działa');
    expect(await verifiedOf(person.account)).toEqual([]);
    await asks(person, msisdn);
    const other = await codeOn(msisdn, person, 2);
    expect(other.path).not.toBe(path);
    expect((await person.browser.post(other.path, { code: other.code })).status).toBe(303);
  });

  it('is confirmed by nobody else, in this account or another', async () => {
    const person = await newPerson(panel, 'owner');
    const [colleague, stranger] = [
      await newPerson(panel, 'developer', person.account),
      await newPerson(panel, 'owner'),
    ];
    const msisdn = newNumber();
    await asks(person, msisdn);
    const { code, path } = await codeOn(msisdn, person);
    for (const other of [colleague, stranger]) {
      expect((await other.browser.post(path, { code })).status).toBe(404);
      expect((await other.browser.get('/panel/numbers')).text).not.toContain(msisdn);
    }
    await asks(stranger, msisdn);
    const theirs = await codeOn(msisdn, stranger, 2);
    expect([theirs.path === path, theirs.code === code]).toEqual([false, false]);
    expect((await stranger.browser.post(theirs.path, { code })).status).toBe(422);
    expect((await person.browser.post(path, { code })).status).toBe(303);
    expect(await verifiedOf(stranger.account)).toEqual([]);
  });

  it('belongs to three accounts ever', async () => {
    const msisdn = newNumber();
    const removed = await newPerson(panel, 'owner');
    await verify(removed, msisdn);
    await removed.browser.post('/panel/numbers/remove', { number: msisdn });
    await newAccount({ mode: 'test', verified: [msisdn] });
    const [third, fourth] = [await newPerson(panel, 'owner'), await newPerson(panel, 'owner')];
    await asks(third, msisdn);
    const theirs = await codeOn(msisdn, third, 2);
    await asks(fourth, msisdn);
    const others = await codeOn(msisdn, fourth, 3);
    const both = await Promise.all([
      third.browser.post(theirs.path, { code: theirs.code }),
      fourth.browser.post(others.path, { code: others.code }),
    ]);
    expect(both.map(({ status }) => status).sort()).toEqual([303, 422]);
    const late = await asks(await newPerson(panel, 'owner'), msisdn);
    expect([late.status, told(late)]).toEqual([
      422,
      'Ten numer potwierdzono już na trzech kontach. Podaj inny.',
    ]);
    expect((await sentTo(msisdn)).length).toBe(3);
  });
});

describe('a code', () => {
  it.each([
    '+44 7700 900123',
    '22 123 45 67',
    '700 123 456',
    '801 123 456',
    'abc',
    '',
    '+48511',
    '×'.repeat(500),
  ])('is not sent to %s', async (to) => {
    const person = await newPerson(panel, 'owner');
    const seen = await asks(person, to);
    expect(seen.status).toBe(422);
    expect(told(seen)).toContain('Wpisz polski numer komórkowy');
    const asked = await database()`select from verifications where for_account = ${person.account}`;
    expect(asked.count).toBe(0);
  });

  it('goes to a number three times a day, whatever account asks, also at once', async () => {
    const msisdn = newNumber();
    const people = await Promise.all(Array.from({ length: 20 }, () => newPerson(panel, 'owner')));
    const seen = await Promise.all(people.map((person) => asks(person, msisdn)));
    const refused = seen.filter(({ status }) => status !== 303);
    expect(refused).toHaveLength(17);
    for (const { status, headers, text } of refused) {
      expect(status).toBe(429);
      expect(text).toContain('trzy w ciągu dnia');
      expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
    }
    const sent = await sentTo(msisdn);
    expect(sent.reduce((sum, { codes }) => sum + codes, 0)).toBe(3);
    await database()`
      update verifications set sent_at = array[now() - interval '25 hours'] where msisdn = ${msisdn}`;
    expect((await asks(people[0]!, msisdn)).status).toBe(303);
  });

  it('is asked for five numbers a day by a network, of IPv6 the /64', async () => {
    const network = `2001:db8:${randomInt(65_536).toString(16)}:7:`;
    const people = await Promise.all(Array.from({ length: 20 }, () => newPerson(panel, 'owner')));
    const seen = await Promise.all(
      people.map(({ browser }, n) => {
        const from = { 'sec-fetch-site': 'same-origin', 'x-forwarded-for': `${network}:${n + 1}` };
        return browser.post('/panel/numbers', { to: newNumber() }, from);
      }),
    );
    expect(seen.filter(({ status }) => status === 303)).toHaveLength(5);
    expect(seen.find(({ status }) => status === 429)!.text).toContain('Z tej sieci podano już dziś pięć');
  });

  it('is sent ten times a day for an account, from however many networks', async () => {
    const person = await newPerson(panel, 'owner');
    const seen = await Promise.all(
      Array.from({ length: 12 }, (_, n) =>
        person.browser.post(
          '/panel/numbers',
          { to: newNumber() },
          { 'sec-fetch-site': 'same-origin', 'x-forwarded-for': `198.51.100.${n + 1}` },
        ),
      ),
    );
    expect(seen.filter(({ status }) => status === 303)).toHaveLength(10);
    expect(seen.find(({ status }) => status === 429)!.text).toContain('Dla tego konta');
  });

  it('is sent within the budget of the day, with a finding at 70 % and at its end', async () => {
    const today = async () => {
      const [row] = await database()<{ used: number }[]>`
        select used from daily_use where name = 'number_codes' and day = (now() at time zone 'Europe/Warsaw')::date`;
      return row?.used ?? 0;
    };
    const limit = (await today()) + 7;
    const small = await startPanel({ NUMBER_CODES_A_DAY: limit });
    const people = await Promise.all(Array.from({ length: 20 }, () => newPerson(small, 'owner')));
    const seen = await Promise.all(people.map((person) => asks(person, newNumber())));
    expect(seen.filter(({ status }) => status === 303)).toHaveLength(7);
    const refused = seen.find(({ status }) => status !== 303)!;
    expect(refused).toMatchObject({ status: 429, headers: expect.anything() as unknown });
    expect(refused.text).toContain('Wysłaliśmy już dziś wszystkie kody');
    expect(await today()).toBe(limit);
    const found = await database()`
      select state, details from findings where kind = 'budget_used' and subject = 'number_codes'`;
    expect(found).toEqual([{ state: 'open', details: { used: limit, limits: [limit] } }]);
    await small.api.stop();

    const closed = await startPanel({ NUMBER_CODES_A_DAY: 0 });
    const late = await newPerson(closed, 'owner');
    expect((await asks(late, newNumber())).status).toBe(429);
    await closed.api.stop();
  });

  it('that the installation cannot pay for tells nothing of its account', async () => {
    const poor = await newAccount({ balance: 0 });
    const small = await startPanel({ OWN_EMAIL_ACCOUNT: poor.id });
    const person = await newPerson(small, 'owner');
    expect(await asks(person, newNumber())).toMatchObject({
      status: 503,
      text: expect.stringContaining('Nie możemy teraz wysłać SMS-a') as string,
    });
    await database()`update accounts set status = 'suspended' where id = ${person.account}`;
    expect((await asks(person, newNumber())).status).toBe(403);
    await small.api.stop();
    const off = await startPanel({ OWN_EMAIL_ACCOUNT: undefined });
    const other = await newPerson(off, 'owner');
    const page = (await other.browser.get('/panel/numbers')).text;
    expect(page).toContain('Numery potwierdza obsługa');
    expect(page).not.toContain('name="to"');
    expect((await asks(other, newNumber())).status).toBe(503);
    await off.api.stop();
  });
});
