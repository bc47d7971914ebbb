import { describe, expect, it } from 'vitest';
import { database, newAccount, type TestAccount } from '../support/factories.ts';

let made = 0;
/** A word that no other test has: letters only, as numbers are guarded. */
function newWord(): string {
  made += 1;
  const letters = [...`${process.pid}${made}`].map((digit) => String.fromCharCode(71 + Number(digit)));
  return `X${letters.join('')}`.slice(0, 10);
}

const claim = ({ api }: TestAccount, word: string | null) =>
  api.patch('/v1/account', { inbound_prefix: word });
const keywordOf = async ({ api }: TestAccount) => {
  const { body } = await api.get('/v1/account');
  return (body as unknown as { inbound_prefix: string | null }).inbound_prefix;
};
const refusal = (text: RegExp) => ({
  status: 409,
  body: {
    error: {
      code: 'invalid_request',
      param: 'inbound_prefix',
      message: expect.stringMatching(text) as string,
    },
  },
});
const GUARDED = refusal(/zgodą operatora/);
const TAKEN = refusal(/zajęte/);
const RESTING = refusal(/30 dniach od rezygnacji/);
const TOO_OFTEN = refusal(/zbyt często/);

const allow = (account: TestAccount, word: string) =>
  database()`insert into allowed_keywords (account_id, word) values (${account.id}, ${word})`;
/** Lets the rests of an account have begun so much earlier. */
const age = (account: TestAccount, by: string) => database()`
  update resting_keywords set given_up_at = given_up_at - ${by}::interval where account_id = ${account.id}`;

describe('everyday words', () => {
  it.each(['tak', '12', '15min'])('%s is refused, and nothing else of the request is done', async (word) => {
    const account = await newAccount();
    const body = { inbound_prefix: word, send_window: '08:00-20:00' };
    expect(await account.api.patch('/v1/account', body)).toMatchObject(GUARDED);
    expect((await account.api.get('/v1/account')).body).toMatchObject({
      ...{ inbound_prefix: null, send_window: null },
    });
    const records = await database()`select from audit_log where account_id = ${account.id}`;
    expect(records).toHaveLength(0);
  });

  it.each(['STOP', 'wypisz', 'Nie'])('%s cannot be claimed, even with consent', async (word) => {
    const account = await newAccount();
    await allow(account, word.toUpperCase());
    expect(await claim(account, word)).toMatchObject(refusal(/rezygnacji/));
    expect(await keywordOf(account)).toBeNull();
  });

  it('with the operator’s consent it is this account’s alone', async () => {
    const [account, other] = [await newAccount(), await newAccount()];
    await allow(account, 'ELO');
    expect(await claim(other, 'elo')).toMatchObject(GUARDED);
    expect((await claim(account, 'elo')).status).toBe(200);
    expect(await keywordOf(account)).toBe('ELO');
    expect(await claim(other, 'elo')).toMatchObject(GUARDED);
    await allow(other, 'ELO');
    expect(await claim(other, 'elo')).toMatchObject(TAKEN);
  });

  it('an account that had one before consent was needed keeps it, and may say so again', async () => {
    const account = await newAccount();
    await database()`update accounts set inbound_prefix = 'SIEMA' where id = ${account.id}`;
    expect((await claim(account, 'siema')).status).toBe(200);
    expect((await account.api.patch('/v1/account', { send_window: null })).status).toBe(200);
    expect(await keywordOf(account)).toBe('SIEMA');
    await claim(account, null);
    expect(await claim(account, 'siema')).toMatchObject(GUARDED);
  });
});

describe('a hundred accounts claim one word at once', () => {
  it('one has it, and the others get 409', async () => {
    const accounts = await Promise.all(Array.from({ length: 100 }, () => newAccount()));
    const word = newWord();
    const answers = await Promise.all(accounts.map((account) => claim(account, word)));
    const won = answers.filter(({ status }) => status === 200);
    expect(won).toHaveLength(1);
    for (const answer of answers.filter((one) => !won.includes(one))) expect(answer).toMatchObject(TAKEN);
    const holders = await database()`select id from accounts where inbound_prefix = ${word}`;
    expect(holders).toHaveLength(1);
  });

  it('two that swap theirs at one instant are both refused, whichever the database ends', async () => {
    for (let round = 0; round < 8; round += 1) {
      const [one, other] = [await newAccount(), await newAccount()];
      const [mine, theirs] = [newWord(), newWord()];
      await claim(one, mine);
      await claim(other, theirs);
      const answers = await Promise.all([claim(one, theirs), claim(other, mine)]);
      for (const answer of answers) expect(answer).toMatchObject(TAKEN);
    }
  });

  it('while its owner gives it up: only the owner can have it', async () => {
    const owner = await newAccount();
    const others = await Promise.all(Array.from({ length: 20 }, () => newAccount()));
    const word = newWord();
    await claim(owner, word);
    const [given, ...answers] = await Promise.all([
      claim(owner, null),
      ...others.flatMap((account) => [claim(account, word), claim(account, word)]),
    ]);
    expect(given.status).toBe(200);
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([409]));
    expect((await claim(owner, word)).status).toBe(200);
  });
});

describe('a keyword that was given up', () => {
  it.each([
    ['for none', (account: TestAccount) => claim(account, null)],
    ['for another', (account: TestAccount) => claim(account, newWord())],
    [
      'with the account',
      (account: TestAccount) => database()`update accounts set status = 'closed' where id = ${account.id}`,
    ],
  ])('%s rests for 30 days, to the second, for others', async (_, giveUp) => {
    const [owner, other] = [await newAccount(), await newAccount()];
    const word = newWord();
    await claim(owner, word);
    await giveUp(owner);
    expect(await claim(other, word)).toMatchObject(RESTING);
    await age(owner, '29 days 23:59:30');
    expect(await claim(other, word)).toMatchObject(RESTING);
    await age(owner, '30 seconds');
    expect((await claim(other, word)).status).toBe(200);
    expect(await keywordOf(other)).toBe(word);
  });

  it('its former owner has it back at once, and it rests anew after that', async () => {
    const [owner, other] = [await newAccount(), await newAccount()];
    const word = newWord();
    await claim(owner, word);
    await claim(owner, null);
    await age(owner, '29 days');
    expect((await claim(owner, word)).status).toBe(200);
    expect(await claim(other, word)).toMatchObject(TAKEN);
    await claim(owner, null);
    await age(owner, '29 days');
    expect(await claim(other, word)).toMatchObject(RESTING);
  });

  it('an account reopened after it was closed has none, and may claim its own again', async () => {
    const owner = await newAccount();
    const word = newWord();
    await claim(owner, word);
    for (const status of ['closed', 'active'])
      await database()`update accounts set status = ${status} where id = ${owner.id}`;
    expect(await keywordOf(owner)).toBeNull();
    expect((await claim(owner, word)).status).toBe(200);
  });

  it('a suspended account keeps it', async () => {
    const owner = await newAccount();
    const word = newWord();
    await claim(owner, word);
    for (const status of ['suspended', 'active'])
      await database()`update accounts set status = ${status} where id = ${owner.id}`;
    expect(await keywordOf(owner)).toBe(word);
  });

  it('the sixth change within 30 days is refused', async () => {
    const account = await newAccount();
    const words = Array.from({ length: 7 }, newWord);
    for (const word of words.slice(0, 6)) expect((await claim(account, word)).status).toBe(200);
    expect(await claim(account, words[6]!)).toMatchObject(TOO_OFTEN);
    expect(await keywordOf(account)).toBe(words[5]);
    // One of its own again is no further word; giving up is always possible.
    expect((await claim(account, words[0]!)).status).toBe(200);
    expect((await claim(account, null)).status).toBe(200);
    expect(await claim(account, words[6]!)).toMatchObject(TOO_OFTEN);
    const resting = await database()`select from resting_keywords where account_id = ${account.id}`;
    expect(resting).toHaveLength(6);
    await age(account, '30 days');
    expect((await claim(account, words[6]!)).status).toBe(200);
    await claim(account, null);
    const left = await database()`select word from resting_keywords where account_id = ${account.id}`;
    expect(left).toEqual([{ word: words[6] }]);
  });
});
