import { beforeAll, describe, expect, test } from 'vitest';
import { lockNames, openDatabase, transaction } from '../../db/connection.ts';
import { changeAddressBook } from '../../db/contacts/contacts.ts';
import { newId } from '../../db/ids.ts';
import { erasePerson } from '../../db/maintenance/erasure.ts';
import { requestResend } from '../../db/webhooks/webhookDeliveries.ts';
import { ownDatabase } from '../admin/support.ts';
import { eventually } from '../support/eventually.ts';

const database = ownDatabase();
const sql = () => database.sql();
const ours = newId('cl');
const others = newId('cl');

beforeAll(async () => {
  for (const id of [ours, others]) {
    await sql()`insert into accounts (id, name, mode) values (${id}, 'Test', 'live')`;
  }
});

describe('what takes turns', () => {
  test('an erasure waits for a change of the address book under way, and neither ends the other', async () => {
    await sql()`insert into contacts (account_id, id, msisdn) values (${ours}, ${newId('ct')}, '+48500100200')`;
    let erasing: ReturnType<typeof erasePerson> | undefined;
    await changeAddressBook(sql(), ours, async (tx) => {
      // The first of the counters that what follows takes, one after the other.
      await tx`select from account_usage where account_id = ${ours} and kind = 'contacts' for update`;
      erasing = erasePerson(sql(), { msisdn: '+48500100200', accountId: null }, () => '+48*****200');
      erasing.catch(() => undefined);
      await eventually(
        () => sql()`
          select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
        (waiting) => waiting.count > 0,
      );
      await tx`insert into contacts (account_id, id, msisdn) values (${ours}, ${newId('ct')}, '+48500100201')`;
    });
    expect(await erasing).toEqual({ messages: 0, replies: 0, lookups: 0 });
    const left = await sql()<{ msisdn: string }[]>`select msisdn from contacts where account_id = ${ours}`;
    expect([...left]).toEqual([{ msisdn: '+48500100201' }]);
  });

  test('nobody takes the turn of another account by the id of its event', async () => {
    const event = newId('evt');
    await sql()`
      insert into webhook_events (id, account_id, subject_kind, subject_id, type, snapshot) values (${event}, ${ours}, 'message', ${event}, 'message.sent', '{}')`;
    const asked = await transaction(sql(), async (tx) => {
      await lockNames(tx, [`webhook resends of ${ours}`]);
      return await requestResend(sql(), event, others, 'account');
    });
    expect(asked).toBe('unknown');
  });
});

const free = () => sql()`select from accounts where id = ${ours} for update skip locked`;

test('a transaction that nobody goes on with keeps its locks no longer than it was given', async () => {
  const forgetful = openDatabase(database.url(), 1, undefined, { transactionMs: 2_000 });
  const holder = await forgetful.reserve();
  await holder`begin`;
  expect(await holder`select from accounts where id = ${ours} for update`).toHaveLength(1);
  await eventually(free, ({ length }) => length === 1);
  await forgetful.end({ timeout: 1 });
});
