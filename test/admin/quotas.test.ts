import { describe, expect, test } from 'vitest';
import { newId } from '../../db/ids.ts';
import { QUOTAS } from '../../domain/money.ts';
import { commandLine, listIn, ownDatabase } from './support.ts';

const database = ownDatabase();
const { ok, no, run } = commandLine(database.url);

describe('accounts quotas', () => {
  test('shows how much an account may keep, and keeps; so does accounts show', async () => {
    const id = await database.account();
    await database.sql()`
      insert into contacts (account_id, id, msisdn) values (${id}, ${newId('ct')}, '+48500100200')`;
    await database.sql()`
      insert into templates (account_id, id, name, type, body) values (${id}, ${newId('tpl')}, 'x', 'sms', 'żółw')`;
    const { quotas } = await ok('accounts', 'quotas', '--account', id);
    expect(quotas).toMatchObject({
      contacts: { limit: QUOTAS.contacts.usual, used: 1 },
      groups: { limit: QUOTAS.groups.usual, used: 0 },
      template_bytes: { limit: QUOTAS.template_bytes.usual, used: 7 },
      scheduled_messages: { limit: QUOTAS.scheduled_messages.usual, used: 0 },
    });
    expect((await ok('accounts', 'show', '--account', id))['quotas']).toEqual(quotas);
    expect((await run('accounts', 'quotas', '--account', id)).out).toContain('contacts');
  });

  test('changes those that are named, back to the usual ones too, and is recorded', async () => {
    const id = await database.account();
    const set = (...words: string[]) => ok('accounts', 'quotas', '--account', id, ...words);
    await set('--contacts', '300000', '--links', '0');
    expect((await set('--links', 'usual', '--unpaid-messages', '5'))['quotas']).toMatchObject({
      contacts: { limit: 300_000 },
      links: { limit: QUOTAS.links.usual },
      unpaid_messages: { limit: 5 },
      groups: { limit: QUOTAS.groups.usual },
    });
    await set();
    const records = listIn(await ok('audit', '--account', id));
    expect(records.map(({ action }) => action)).toContain('accounts quotas');
    expect(records.map(({ details }) => details)).toContainEqual({
      changes: {
        links: { from: 0, to: QUOTAS.links.usual },
        unpaid_messages: { from: QUOTAS.unpaid_messages.usual, to: 5 },
      },
    });
  });

  test.each([
    ['--contacts', '-1'],
    ['--contacts', 'none'],
    ['--groups', String(QUOTAS.groups.max + 1)],
    ['--templates', '1.5'],
  ])('%s %s is refused', async (name, value) => {
    const id = await database.account();
    expect((await no('accounts', 'quotas', '--account', id, name, value)).code).toBe('invalid_argument');
  });
});
