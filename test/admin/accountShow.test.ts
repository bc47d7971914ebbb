import { expect, test } from 'vitest';
import { newId } from '../../db/ids.ts';
import { reportFinding } from '../../db/maintenance/findings.ts';
import { commandLine, listIn, ownDatabase } from './support.ts';

const database = ownDatabase();
const sql = () => database.sql();
const { ok } = commandLine(database.url);

async function message(account: string, columns: object): Promise<void> {
  const row = {
    ...{ id: newId('msg'), account_id: account, request_id: newId('req'), recipient: '+48500100000' },
    ...{ text: 'Poufne', parts: 1, cost_grosze: 15, route: 'simulator', give_up_at: new Date() },
    ...{ status: 'queued', accepted_as: 'queued' },
    ...columns,
  };
  await sql()`insert into messages ${sql()(row)}`;
}

const scheduled = {
  status: 'scheduled',
  accepted_as: 'scheduled',
  send_at: new Date(Date.now() + 3_600_000),
};

test('an account is shown with its money, what waits, its people, webhooks, findings and acts', async () => {
  const id = await database.account({
    ...{ mode: 'live', billing_mode: 'postpaid', credit_limit_grosze: 3_000 },
    ...{ webhook_url: 'https://example.com/', webhook_secret: Buffer.from('sealed') },
  });
  await sql()`insert into balance_alerts (account_id, daily_cost_grosze) values (${id}, 290)`;
  await ok('tokens', 'create', '--account', id, '--label', 'Sklep');
  const revoked = String((await ok('keys', 'create', '--account', id))['id']);
  await ok('keys', 'revoke', revoked);
  const person = newId('per');
  await sql()`insert into people (id, address) values (${person}, 'jan@sklep.example')`;
  await sql()`insert into memberships (person_id, account_id, role) values (${person}, ${id}, 'owner')`;
  const event = newId('evt');
  await sql()`
    insert into webhook_events (id, account_id, subject_kind, subject_id, type, snapshot, state, exhausted_at)
    values (${event}, ${id}, 'message', ${newId('msg')}, 'message.failed', '{}', 'exhausted', now())`;
  await reportFinding(sql(), { kind: 'balance_negative', subject: id, accountId: id, details: {} });
  const shown = await ok('accounts', 'show', '--account', id);
  expect(shown).toMatchObject({
    ...{ available_grosze: 3_000, runway_days: 10, valid_keys: 1, failing_events: 1, more: false },
    tokens: [{ label: 'Sklep', last_used_at: null }],
    people: [{ address: 'j…@sklep.example', role: 'owner' }],
    webhooks: [{ id: event }],
    findings: [{ kind: 'balance_negative', state: 'open' }],
  });
  expect(listIn(shown, 'audit').map(({ action }) => action)).toEqual([
    'keys revoke',
    'keys create',
    'tokens create',
  ]);
  expect(JSON.stringify(shown)).not.toContain('sealed');
  const inFull = await ok('accounts', 'show', '--account', id, '--addresses', 'yes');
  expect(inFull).toMatchObject({ people: [{ address: 'jan@sklep.example' }] });
  expect(await database.lastAudit(id)).toMatchObject({
    action: 'accounts show',
    details: { addresses: true },
  });
});

test('a change of status says what it meets: what was not submitted, keys, events on their way', async () => {
  const id = await database.account({ mode: 'live' });
  await message(id, scheduled);
  await message(id, { ...scheduled, cost_grosze: 0, test_credits: 1 });
  await message(id, {});
  await message(id, { submission: 'unanswered' });
  await message(id, { status: 'delivered' });
  await ok('keys', 'create', '--account', id);
  await sql()`
    insert into webhook_events (id, account_id, subject_kind, subject_id, type, snapshot)
    values (${newId('evt')}, ${id}, 'message', ${newId('msg')}, 'message.sent', '{}')`;
  const met = {
    ...{ waiting_messages: 3, waiting_emails: 0, waiting_grosze: 30, waiting_test_credits: 1 },
    ...{ more: false, valid_keys: 1, pending_events: 1 },
  };
  expect(await ok('accounts', 'show', '--account', id)).toMatchObject(met);
  const set = (...words: string[]) => ok('accounts', 'set', '--account', id, ...words);
  expect(await set('--status', 'suspended')).toMatchObject({ status: 'suspended', ...met });
  expect(await set('--status', 'suspended')).not.toHaveProperty('waiting_messages');
  expect(await set('--name', 'Inna')).not.toHaveProperty('waiting_messages');
});
