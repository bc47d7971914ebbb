import { describe, expect, test } from 'vitest';
import { newId } from '../../db/ids.ts';
import { commandLine, listIn, ownDatabase } from './support.ts';

const database = ownDatabase();
const { run, ok, no } = commandLine(database.url);
const sql = () => database.sql();

describe('inbound enable and disable', () => {
  test('set the number on which replies come, and the log knows it only masked', async () => {
    const id = await database.account();
    expect(await ok('inbound', 'enable', '--account', id, '--number', '500600700')).toEqual({
      ...{ account_id: id, inbound_number: '+48500600700', inbound_prefix: null },
    });
    expect(await ok('accounts', 'show', '--account', id)).toMatchObject({ inbound_number: '+48500600700' });
    await ok('inbound', 'enable', '--account', id, '--number', '+48500600701');
    expect(await database.lastAudit()).toMatchObject({
      ...{ action: 'inbound enable', account_id: id, subject: '+48*****701' },
      details: { from: '+48*****700' },
    });
    await ok('inbound', 'disable', '--account', id);
    expect(await database.lastAudit()).toMatchObject({
      ...{ action: 'inbound disable', account_id: id, subject: '+48*****701' },
    });
    expect(await ok('accounts', 'show', '--account', id)).toMatchObject({ inbound_number: null });
  });

  test('several accounts may share a number; the keyword stays when inbound ends', async () => {
    const [one, two] = [await database.account(), await database.account()];
    await sql()`update accounts set inbound_prefix = 'SKLEP' where id = ${one}`;
    for (const id of [one, two]) await ok('inbound', 'enable', '--account', id, '--number', '+48500600700');
    await ok('inbound', 'disable', '--account', one);
    expect(await ok('accounts', 'show', '--account', one)).toMatchObject({ inbound_prefix: 'SKLEP' });
    expect(await ok('accounts', 'show', '--account', two)).toMatchObject({ inbound_number: '+48500600700' });
  });

  test('refuse what cannot be', async () => {
    const id = await database.account();
    expect((await no('inbound', 'enable', '--account', id, '--number', '12')).message).toContain('--number');
    expect((await no('inbound', 'enable', '--account', 'cl_x', '--number', '500600700')).code).toBe(
      'not_found',
    );
    expect((await no('inbound', 'enable', '--account', id)).code).toBe('invalid_argument');
    expect((await no('inbound', 'disable', '--account', id)).code).toBe('refused');
    await ok('accounts', 'set', '--account', id, '--status', 'closed');
    expect((await no('inbound', 'enable', '--account', id, '--number', '500600700')).code).toBe('refused');
  });
});

describe('inbound unmatched', () => {
  test('lists what belongs to nobody, newest first, without what could steer a terminal', async () => {
    const texts = ['stara', 'nowa \u001b[2J\u0007\r\n\u009b31m\u202eabc 😀'];
    const ids = texts.map(() => newId('in'));
    await sql()`
      insert into inbound_messages (id, route, provider_reference, sender, receiver, received_text, state)
      select r.id, 'test', r.id, '+48500100200', null, r.content, 'unmatched'
        from unnest(${ids}::text[], ${texts}::text[]) as r(id, content)`;
    await sql()`
      insert into inbound_messages (id, route, provider_reference, sender, received_text)
      values (${newId('in')}, 'test', 'waiting', '+48500100200', 'jeszcze nie')`;
    const listed = listIn(await ok('inbound', 'unmatched'));
    expect(listed).toMatchObject([
      { id: ids[1], from: '+48500100200', to: null, text: texts[1] },
      { id: ids[0], text: 'stara', received_at: expect.stringMatching(/Z$/) as string },
    ]);
    expect(listIn(await ok('inbound', 'unmatched', '--limit', '1'))).toHaveLength(1);
    expect((await no('inbound', 'unmatched', '--limit', '0')).code).toBe('invalid_argument');
    for (const json of [[], ['--json']]) {
      const { out } = await run('inbound', 'unmatched', ...json);
      expect(out.replaceAll('\n', '')).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202e]/);
    }
  });
});

describe('simulator reply', () => {
  test('puts an SMS on its way; numbers masked and no text in the log', async () => {
    const sent = await ok('simulator reply --from 500100200 --to +48500600700', '--text', 'Nie, dzięki');
    expect(sent).toEqual({ from: '+48500100200', to: '+48500600700', text: 'Nie, dzięki' });
    expect(await sql()`select source, destination, content from simulator_replies`).toEqual([
      { source: '+48500100200', destination: '+48500600700', content: 'Nie, dzięki' },
    ]);
    expect(await database.lastAudit()).toMatchObject({
      ...{ action: 'simulator reply', account_id: null, subject: '+48*****200' },
      details: { to: '+48*****700' },
    });
    expect(await ok('simulator', 'reply', '--from', '500100200', '--text', 'x')).toMatchObject({ to: null });
  });
});
