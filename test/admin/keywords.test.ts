import { describe, expect, test } from 'vitest';
import { commandLine, listIn, ownDatabase } from './support.ts';

const database = ownDatabase();
const { ok, no } = commandLine(database.url);
const sql = () => database.sql();

const account = (keyword: string | null = null) => database.account({ inbound_prefix: keyword });

const keywordOf = async (id: string) => (await ok('accounts', 'show', '--account', id))['inbound_prefix'];

describe('inbound allow-keyword and revoke-keyword', () => {
  test('give an account the consent to an everyday word, once, and take it back', async () => {
    const [id, other] = [await account(), await account()];
    await ok('inbound', 'allow-keyword', '--account', other, '--word', 'tak');
    const named = ['--account', id, '--word', 'tak'];
    expect(await ok('inbound', 'allow-keyword', ...named)).toEqual({
      ...{ account_id: id, word: 'TAK', allowed: true },
    });
    expect(await database.lastAudit()).toMatchObject({
      ...{ action: 'inbound allow-keyword', account_id: id, subject: 'TAK', details: { was_allowed: false } },
    });
    await ok('inbound', 'allow-keyword', ...named);
    expect(await database.lastAudit()).toMatchObject({ details: { was_allowed: true } });
    expect(await ok('inbound', 'revoke-keyword', ...named)).toEqual({
      ...{ account_id: id, word: 'TAK', allowed: false, taken_away: false },
    });
    expect((await no('inbound', 'revoke-keyword', ...named)).code).toBe('not_found');
    expect(listIn(await ok('inbound', 'keywords', '--account', other))).toMatchObject([
      { word: 'TAK', allowed: true },
    ]);
  });

  test('revoked while in use it is taken away and rests; so is one that was claimed before consent was needed', async () => {
    const [allowed, former] = [await account(), await account('HEJ')];
    await ok('inbound', 'allow-keyword', '--account', allowed, '--word', 'OK');
    await sql()`update accounts set inbound_prefix = 'OK' where id = ${allowed}`;
    expect(await ok('inbound', 'revoke-keyword', '--account', allowed, '--word', 'ok')).toMatchObject({
      taken_away: true,
    });
    expect(await database.lastAudit()).toMatchObject({ details: { was_allowed: true, taken_away: true } });
    expect(await ok('inbound', 'revoke-keyword', '--account', former, '--word', 'hej')).toMatchObject({
      taken_away: true,
    });
    expect([await keywordOf(allowed), await keywordOf(former)]).toEqual([null, null]);
    expect(listIn(await ok('inbound', 'keywords', '--account', former))).toMatchObject([
      {
        word: 'HEJ',
        state: 'resting',
        everyday: true,
        allowed: false,
        until: expect.stringMatching(/Z$/) as string,
      },
    ]);
  });

  test('refuse words that unsubscribe, words that need no consent, and what is no keyword', async () => {
    const id = await account();
    for (const word of ['STOP', 'wypisz', 'NIE', 'SKLEP']) {
      expect((await no('inbound', 'allow-keyword', '--account', id, '--word', word)).code).toBe('refused');
    }
    for (const word of ['T', 'DZIĘKUJĘ', 'ABCDEFGHIJK', 'A B']) {
      expect((await no('inbound', 'allow-keyword', '--account', id, '--word', word)).code).toBe(
        'invalid_argument',
      );
    }
    await ok('accounts', 'set', '--account', id, '--status', 'closed');
    expect((await no('inbound', 'allow-keyword', '--account', id, '--word', 'TAK')).code).toBe('refused');
    expect((await no('inbound', 'revoke-keyword', '--account', 'cl_x', '--word', 'TAK')).code).toBe(
      'not_found',
    );
  });
});

describe('inbound keywords and release-keyword', () => {
  test('list keywords in use, allowed and at rest, and end a rest', async () => {
    const [shop, cinema] = [await account('SKLEPIK'), await account('START')];
    await ok('inbound', 'allow-keyword', '--account', shop, '--word', 'INFO');
    await sql()`update accounts set inbound_prefix = 'KINO' where id = ${shop}`;
    const listed = listIn(await ok('inbound', 'keywords')).filter(({ account_id }) =>
      [shop, cinema].includes(String(account_id)),
    );
    const shown = listed.map((one) => [one.word, one.account_id, one.state, one.everyday, one.allowed]);
    expect(shown).toEqual([
      ['INFO', shop, 'allowed', true, true],
      ['KINO', shop, 'in use', false, false],
      ['SKLEPIK', shop, 'resting', false, false],
      ['START', cinema, 'in use', true, false],
    ]);
    const taking = () => sql()`update accounts set inbound_prefix = 'SKLEPIK' where id = ${cinema}`;
    await expect(taking()).rejects.toThrow('rests');
    expect(await ok('inbound', 'release-keyword', '--word', 'sklepik')).toEqual({
      ...{ word: 'SKLEPIK', former_account_id: shop },
    });
    expect(await database.lastAudit()).toMatchObject({
      action: 'inbound release-keyword',
      account_id: shop,
      subject: 'SKLEPIK',
    });
    await taking();
    expect((await no('inbound', 'release-keyword', '--word', 'SKLEPIK')).code).toBe('not_found');
  });
});
