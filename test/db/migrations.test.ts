import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { cancelScheduled, chargeRequest } from '../../db/money/billing.ts';
import type { Database } from '../../db/connection.ts';
import { readHistory } from '../../db/messages/history.ts';
import { migrate } from '../../db/migrate.ts';
import { startDatabase } from '../support/database.ts';

/** The schema of the release before this one. */
const LAST_RELEASE = '001';

let sql: Database;
let stop: () => Promise<void>;
let applied: string[];

beforeAll(async () => {
  const database = await startDatabase((url) => migrate(url, LAST_RELEASE));
  ({ sql, stop } = database);
  await fill();
  applied = await migrate(database.url);
}, 60_000);
afterAll(() => stop());

/** What an installation of the last release holds: money moved, messages in every state, reports, events. */
async function fill(): Promise<void> {
  await sql`insert into accounts (id, name, mode, webhook_url) values ('cl_1', 'Sklep', 'live', 'https://example.com/')`;
  await sql`insert into ledger_entries (account_id, kind, amount_grosze) values ('cl_1', 'opening', 1000)`;
  await sql`
    insert into messages (id, account_id, request_id, status, accepted_as, recipient, text, parts, cost_grosze, give_up_at,
                          carrier, send_at)
    values ('msg_1', 'cl_1', 'req_1', 'draft', 'scheduled', '+48500100200', 'Zażółć', 1, 15, now() + interval '3 days',
            'simulator', now() + interval '1 hour'),
           ('msg_2', 'cl_1', 'req_2', 'delivered', 'queued', '+4915112345678', 'x', 1, 30, now(), 'simulator', null),
           ('msg_3', 'cl_1', 'req_3', 'queued', 'queued', '+48500100201', 'x', 1, 15, now(), 'simulator', null)`;
  await chargeRequest(sql, 'req_1');
  await sql`
    insert into ledger_entries (account_id, kind, amount_grosze, message_id)
    values ('cl_1', 'charge', -30, 'msg_2'), ('cl_1', 'charge', -15, 'msg_3')`;
  await sql`
    insert into webhook_events (id, account_id, message_id, type, snapshot)
    values ('evt_1', 'cl_1', 'msg_2', 'message.delivered', '{}')`;
}

describe('from the last release’s schema, with its data', () => {
  test('every later migration runs', () => expect(applied.length).toBeGreaterThan(0));

  test('messages, money and events are as they were', async () => {
    const none = { status: null, reference: null, recipient: null, before: null };
    const messages = await readHistory(sql, 'cl_1', none, 10);
    expect(messages.map(({ id, status }) => [id, status])).toEqual([
      ['msg_3', 'queued'],
      ['msg_2', 'delivered'],
      ['msg_1', 'scheduled'],
    ]);
    const [books] = await sql`
      select balance_grosze as balance, (select sum(amount_grosze)::bigint from ledger_entries) as sum from accounts`;
    expect(books).toEqual({ balance: 940, sum: 940 });
    const [event] = await sql`select message_id, link_token, inbound_id, state from webhook_events`;
    expect(event).toEqual({ message_id: 'msg_2', link_token: null, inbound_id: null, state: 'pending' });
  });

  test('a message accepted before can be cancelled and refunded once', async () => {
    expect(await cancelScheduled(sql, 'msg_1')).toBe('cancelled');
    expect(await cancelScheduled(sql, 'msg_1')).toBe('cancelled');
    const [account] = await sql`select balance_grosze as balance from accounts`;
    expect(account!.balance).toBe(955);
  });

  test('a message accepted before can be rejected now', async () => {
    await sql`update messages set status = 'rejected' where id = 'msg_3'`;
    await expect(sql`update messages set status = 'rejected' where id = 'msg_2'`).rejects.toMatchObject({
      code: 'GN409',
    });
  });

  test('Polish recipients are known to be Polish', async () => {
    const rows = await sql`select country from messages order by id`;
    expect(rows.map(({ country }) => country as unknown)).toEqual(['PL', null, 'PL']);
  });

  test('the ledger still wants exactly one subject for a charge', async () => {
    await expect(
      sql`insert into ledger_entries (account_id, kind, amount_grosze) values ('cl_1', 'charge', -1)`,
    ).rejects.toMatchObject({ code: '23514' });
  });
});
