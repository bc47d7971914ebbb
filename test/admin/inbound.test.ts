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
  test('lists what belongs to nobody, oldest first, without what could steer a terminal', async () => {
    const texts = ['stara', 'nowa \u001b[2J\u0007\r\n\u009b31m\u202eabc 😀'];
    const ids = texts.map(() => newId('in'));
    await sql()`
      insert into inbound_messages (id, route, provider_reference, sender, receiver, received_text, state)
      select r.id, 'test', r.id, '+48500100200', null, r.content, 'unmatched'
        from unnest(${ids}::text[], ${texts}::text[]) as r(id, content)`;
    await sql()`
      insert into inbound_messages (id, route, provider_reference, sender, received_text)
      values (${newId('in')}, 'test', 'waiting', '+48500100200', 'jeszcze nie')`;
    const [masked] = listIn(await ok('inbound', 'unmatched'));
    expect(masked).toMatchObject({ id: ids[0], from: '+48*****200', to: null });
    expect(masked).not.toHaveProperty('text');
    expect(listIn(await ok('inbound', 'unmatched', '--text', 'yes'))).toMatchObject([
      { id: ids[0], text: 'stara', received_at: expect.stringMatching(/Z$/) as string },
      { id: ids[1], from: '+48500100200', to: null, text: texts[1] },
    ]);
    expect(await database.lastAudit()).toMatchObject({ details: { text: true } });
    expect(listIn(await ok('inbound', 'unmatched', '--limit', '1'))).toHaveLength(1);
    expect((await no('inbound', 'unmatched', '--limit', '0')).code).toBe('invalid_argument');
    for (const json of [[], ['--json']]) {
      const { out } = await run('inbound', 'unmatched', '--text', 'yes', ...json);
      expect(out).toContain('😀');
      expect(out.replaceAll('\n', '')).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202e]/);
    }
  });
});

describe('inbound assign and drop', () => {
  const unmatched = async (text: string): Promise<string> => {
    const id = newId('in');
    await sql()`
      insert into inbound_messages (id, route, provider_reference, sender, received_text, state)
      values (${id}, 'test', ${id}, '+48500100900', ${text}, 'unmatched')`;
    return id;
  };
  const waiting = async () => listIn(await ok('inbound', 'unmatched')).map(({ id }) => id);

  test('give a reply to an account as an answer to its last message, with opt-out and webhook, once', async () => {
    const account = await database.account({ webhook_url: 'https://example.com/', webhook_secret: 'x' });
    const message = newId('msg');
    await sql()`
      insert into messages (id, account_id, request_id, status, accepted_as, recipient, text, parts, cost_grosze, give_up_at, route)
      values (${message}, ${account}, ${message}, 'delivered', 'queued', '+48500100900', 'x', 1, 10, now(), 'test')`;
    const id = await unmatched('STOP');
    const line = ['inbound', 'assign', id, '--account', account] as const;
    expect(await ok(...line)).toEqual({ id, account_id: account, reply_to: message, opt_out: true });
    expect(await database.lastAudit()).toMatchObject({ action: 'inbound assign', subject: id });
    expect(await waiting()).not.toContain(id);
    const [stored] = await sql()`
      select i.state, i.matched_by, b.reason, r.kind from inbound_messages i
        join blacklist b on b.account_id = i.account_id and b.msisdn = i.sender
        join webhook_events e on e.subject_id = i.id join reservations r on r.subject_id = e.id
       where i.id = ${id}`;
    expect(stored).toEqual({
      ...{ state: 'matched', matchedBy: 'last_message', reason: 'opt_out', kind: 'event' },
    });
    expect((await no(...line)).code).toBe('refused');
    const other = await database.account();
    const second = await unmatched('SKLPE tak');
    expect(await ok('inbound', 'assign', second, '--account', other)).toMatchObject({ reply_to: null });
    expect((await no('inbound', 'assign', newId('in'), '--account', other)).code).toBe('not_found');
  });

  test('erase what nobody gets', async () => {
    const id = await unmatched('reklama');
    expect(await ok('inbound', 'drop', id)).toEqual({ id, dropped: true });
    expect(await database.lastAudit()).toMatchObject({ action: 'inbound drop', subject: id });
    expect(await waiting()).not.toContain(id);
    const [stored] = await sql()`select sender, received_text from inbound_messages where id = ${id}`;
    expect(stored).toEqual({ sender: '+48*****900', receivedText: '' });
    expect((await no('inbound', 'drop', id)).code).toBe('refused');
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
