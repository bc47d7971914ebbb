import { MockActivityEnvironment } from '@temporalio/testing';
import { beforeAll, describe, expect, test } from 'vitest';
import { maintenanceActivities, type Removed } from '../../activities/maintenance.ts';
import { messageRecord } from '../../domain/records.ts';
import { idFloor, newId } from '../../db/ids.ts';
import type { IdPrefix } from '../../domain/ids.ts';
import { extendBlacklist } from '../../db/incoming/blacklist.ts';
import { readHistory } from '../../db/messages/history.ts';
import { ownDatabase } from '../admin/support.ts';
import { asDatabase } from '../support/nested.ts';

const DAY = 86_400_000;
const database = ownDatabase();
const sql = () => database.sql();
let account: string;

beforeAll(async () => {
  account = newId('cl');
  await sql()`insert into accounts (id, name, mode) values (${account}, 'Test', 'live')`;
  await sql()`insert into ledger_entries (account_id, kind, amount_grosze) values (${account}, 'opening', 1000)`;
});

let serial = 0;
/** An id as it was made some days ago. */
const idOf = (prefix: IdPrefix, days: number): string =>
  idFloor(prefix, Math.round(Date.now() - days * DAY)) + String((serial += 1)).padStart(16, '0');

async function message(status: string, days: number, values: object = {}): Promise<string> {
  const row = {
    ...{ id: idOf('msg', days), account_id: account, request_id: idOf('req', days), status },
    ...{ accepted_as: 'queued', recipient: '+48500100200', text: 'Poufne', parts: 1, cost_grosze: 15 },
    ...{ give_up_at: new Date(), route: 'simulator', created_at: new Date(Date.now() - days * DAY) },
    ...values,
  };
  await sql()`insert into messages ${sql()(row)}`;
  return row.id;
}

async function link(token: string, days: number): Promise<void> {
  await sql()`
    insert into tracked_links (token, account_id, recipient, url, created_at)
    values (${token}, ${account}, '+48500100200', ${`https://example.com/${token}`},
            ${new Date(Date.now() - days * DAY)})`;
}

const run = (step: 'deleteLeftovers' | 'eraseContents', contentDays?: number): Promise<Removed> => {
  const steps = maintenanceActivities(sql(), { contentDays, logDays: 90 });
  return new MockActivityEnvironment().run(() => steps[step]());
};

describe('clean-up', () => {
  test('leaves blacklist entries that somebody is just listing anew, and waits for nobody', async () => {
    const over = new Date(Date.now() - 31 * DAY);
    const numbers = ['+48500100310', '+48500100311', '+48500100312'];
    // The first to be over is the last by its number: whoever lists them locks them in the other order.
    for (const [index, msisdn] of numbers.toReversed().entries())
      await sql()`
        insert into blacklist (account_id, msisdn, reason, expires_at)
        values (${account}, ${msisdn}, 'x', ${new Date(over.getTime() + index)})`;
    await sql().begin(async (tx) => {
      await extendBlacklist(asDatabase(tx), account, [numbers[0]!], 'again', null);
      // It would wait for this transaction, which goes on only after it.
      expect(await run('deleteLeftovers')).toMatchObject({ blacklist: 2 });
      await extendBlacklist(asDatabase(tx), account, numbers.slice(1), 'again', null);
    });
    expect(await run('deleteLeftovers')).toMatchObject({ blacklist: 0 });
    const listed = await sql()`
      select msisdn, reason from blacklist where account_id = ${account} and expires_at is null order by msisdn`;
    expect([...listed]).toEqual(numbers.map((msisdn) => ({ msisdn, reason: 'again' })));
    await sql()`delete from blacklist where account_id = ${account}`;
  });

  test('deletes blacklist entries that are long over', async () => {
    const at = (days: number) => new Date(Date.now() - days * DAY);
    for (const [msisdn, over] of [
      ['+48500100300', at(30.1)],
      ['+48500100301', at(29.9)],
      ['+48500100302', null],
    ] as const) {
      await sql()`
        insert into blacklist (account_id, msisdn, reason, expires_at) values (${account}, ${msisdn}, 'x', ${over})`;
    }
    await message('delivered', 36, { recipient: '+48500100303' });
    await sql()`
      insert into blacklist (account_id, msisdn, reason, created_at, expires_at)
      values (${account}, '+48500100303', 'opt_out', ${at(35)}, ${at(31)})`;
    expect(await run('deleteLeftovers')).toMatchObject({ blacklist: 1 });
    const kept = await sql()<{ msisdn: string }[]>`
      select msisdn from blacklist where account_id = ${account} order by msisdn`;
    expect(kept.map(({ msisdn }) => msisdn)).toEqual(['+48500100301', '+48500100302', '+48500100303']);
  });

  test('deletes records, reports, attempts and the simulated network’s memory when their time is over', async () => {
    const at = (days: number) => new Date(Date.now() - days * DAY);
    // A retry may come for a day, and a little later.
    for (const days of [0, 1.04, 1.1]) {
      await sql()`
        insert into idempotency_keys (account_id, key, fingerprint, request_id, accepted_body,
                                      created_at)
        values (${account}, ${String(days)}, '', ${idOf('req', days)}, '{}', ${at(days)})`;
    }
    for (const [received, applied] of [
      [100, true],
      [30.1, false],
      [29.9, false],
      [31, true],
      [1, false],
    ] as const) {
      await sql()`
        insert into delivery_reports (route, provider_message_id, state, received_at, applied_at)
        values ('simulator', '1', 'delivered', ${at(received)}, ${applied ? at(received) : null})`;
    }
    for (const days of [100, 1]) {
      const id = idOf('evt', days);
      await sql()`
        insert into webhook_events (id, account_id, subject_kind, subject_id, type, snapshot) values (${id}, ${account}, 'message', ${id}, 'x', '{}')`;
      await sql()`
        insert into webhook_attempts (event_id, attempt, url, at, duration_ms)
        values (${id}, 1, 'https://example.com/', ${at(days)}, 1)`;
      await sql()`
        insert into audit_addresses (audit_id, address, at) values (${1_000_000 - days}, '203.0.113.9', ${at(days)})`;
    }
    for (const days of [7.1, 6.9]) {
      await sql()`
        insert into simulator_submits (provider_message_id, reference, destination, encoding, content, part, parts,
                                       priority, received_at)
        values (${String(days)}, ${idOf('msg', days)}, '+48500100200', 'gsm7', 'Poufne', 1, 1, false, ${at(days)})`;
      await sql()`insert into simulator_throttles values (${idOf('msg', days)}, 1, ${at(days)})`;
      await sql()`
        insert into reply_parts (route, sender, receiver, reference, number, total, encoding, content, joined_at)
        values ('x', ${String(days)}, '2', '3', 1, 2, 'gsm7', '', ${days === 7.1 ? at(days) : null})`;
    }
    await sql()`
      insert into concat_references (recipient, last, used_at) values ('+48500100299', 1, ${at(6.9)}), ('+48500100298', 1, ${at(7.1)})`;
    await sql()`insert into people (id, address) values ('per_1', 'jan@sklep.example')`;
    for (const days of [0.9, 2.1]) {
      await sql()`
        insert into sign_ins (id, address, network, browser_hash, link_hash, code_hash, created_at)
        values (${`sin_${days}`}, 'jan@sklep.example', '10.0.0.1', '', ${Buffer.from(String(days))}, '', ${at(days)})`;
      await sql()`
        insert into sessions (id, token_hash, person_id, assurance, address, last_seen_at)
        values (${`ses_${days}`}, ${Buffer.from(String(days))}, 'per_1', 'address', '10.0.0.1', ${at(days)})`;
      await sql()`
        insert into verifications (id, account_id, msisdn, code_length, sent_at, cost_grosze, expires_at, created_at, updated_at, network)
        values (${idOf('ver', days)}, ${account}, '+48500100299', 6, '{}', 0, ${at(days)}, ${at(days)}, ${at(days)}, '10.0.0.1')`;
    }
    await sql()`insert into daily_use values ('number_codes', ${at(2)}, 1), ('number_codes', ${at(5)}, 1)`;
    await sql()`
      insert into contact_imports (id, account_id, name, created_at) values ('imp_1', ${account}, 'a.csv', ${at(1.1)})`;
    await sql()`insert into contact_import_rows (import_id, position, line, cells) values ('imp_1', 0, 1, '[]')`;
    await sql()`insert into rate_windows values (${account}, ${at(1)}, 5)`;
    await sql()`insert into key_requests values ('key_1', ${at(10)}, 5), ('key_1', ${at(7)}, 5)`;
    await sql()`insert into lookup_answers (route, provider_id, answer, received_at) values ('x', '1', '{}', ${at(1)})`;
    expect(await run('deleteLeftovers')).toMatchObject({
      ...{ idempotency_keys: 1, rate_windows: 1, lookup_answers: 1, 'delivery_reports without a message': 1 },
      ...{
        delivery_reports: 1,
        webhook_attempts: 1,
        audit_addresses: 1,
        reply_parts: 1,
        simulator_submits: 1,
      },
      ...{ simulator_throttles: 1, concat_references: 1, sign_ins: 1, sessions: 1, key_requests: 1 },
      ...{ daily_use: 1, contact_imports: 1, 'networks of verifications': 1 },
    });
    const again = await run('deleteLeftovers');
    expect(Object.values(again).reduce((sum, count) => sum + count, 0)).toBe(0);
    await sql()`delete from verifications`;
  });

  test('deletes every attempt that is old enough, however many younger ones of older events stay', async () => {
    const attempts = async (eventDays: number, days: number, count: number): Promise<string> => {
      const id = idOf('evt', eventDays);
      await sql()`
        insert into webhook_events (id, account_id, subject_kind, subject_id, type, snapshot) values (${id}, ${account}, 'message', ${id}, 'x', '{}')`;
      await sql()`
        insert into webhook_attempts (event_id, attempt, url, at, duration_ms)
        select ${id}, n, 'https://example.com/', ${new Date(Date.now() - days * DAY)}, 1 from generate_series(1, ${count}::int) n`;
      return id;
    };
    // More than a statement takes, of resends a day ago.
    const resent = await attempts(120, 1, 1_001);
    const old = await attempts(100, 99, 1_001);
    const young = await attempts(89, 89, 1);
    expect(await run('deleteLeftovers')).toMatchObject({ webhook_attempts: 1_001 });
    const left = await sql()<{ id: string; count: number }[]>`
      select event_id as id, count(*)::int as count from webhook_attempts
       where event_id = any(${[resent, old, young]}) group by event_id order by event_id`;
    expect(left).toEqual([
      { id: resent, count: 1_001 },
      { id: young, count: 1 },
    ]);
  });
});

test('clean-up forgets what nobody took when attempts are forgotten, and leaves the event', async () => {
  const exhausted = async (eventDays: number, days: number): Promise<string> => {
    const id = idOf('evt', eventDays);
    await sql()`
      insert into webhook_events (id, account_id, subject_kind, subject_id, type, snapshot, state, exhausted_at)
      values (${id}, ${account}, 'message', ${id}, 'x', '{}', 'exhausted', ${new Date(Date.now() - days * DAY)})`;
    return id;
  };
  const [old, late, young] = [
    await exhausted(100, 90.1),
    await exhausted(100, 89.9),
    await exhausted(89.9, 89.9),
  ];
  expect(await run('deleteLeftovers')).toMatchObject({ webhook_exhausted: 1 });
  const left =
    await sql()`select id from webhook_events where account_id = ${account} and exhausted_at is not null order by id`;
  expect(left.map(({ id }) => id as string)).toEqual([late, young]);
  expect(await sql()`select state from webhook_events where id = ${old}`).toEqual([{ state: 'exhausted' }]);
});

describe('what cannot be done with one kind', () => {
  /** Of a look-up whose caller is long gone: it is of no use any more. */
  const oldAnswer = async (): Promise<string> => {
    const id = newId('hlr');
    await sql()`
      insert into lookup_answers (route, provider_id, answer, received_at)
      values ('simulator', ${id}, '{}', now() - interval '2 hours')`;
    return id;
  };
  const isThere = async (answer: string): Promise<boolean> =>
    (await sql()`select from lookup_answers where provider_id = ${answer}`).count > 0;
  const broken = async (tables: string[], scenario: () => Promise<void>): Promise<void> => {
    for (const table of tables) await sql()`alter table ${sql()(table)} rename to ${sql()(`${table}_away`)}`;
    try {
      await scenario();
    } finally {
      for (const table of tables)
        await sql()`alter table ${sql()(`${table}_away`)} rename to ${sql()(table)}`;
    }
  };

  test('keeps no other from being cleaned up, and fails in the end', async () => {
    const answer = await oldAnswer();
    await broken(['rate_windows', 'reply_parts'], async () => {
      await expect(run('deleteLeftovers')).rejects.toThrow('"rate_windows" does not exist');
    });
    expect(await isThere(answer)).toBe(false);
  });
});

describe('retention', () => {
  test('erases nothing unless it is told to', async () => {
    expect(await run('eraseContents')).toEqual({ postponed: 0 });
  });

  test('takes texts and numbers out, and leaves what is counted', async () => {
    const ended = await message('delivered', 50, { delivered_at: new Date(Date.now() - 50 * DAY) });
    await sql()`update messages set content = '{"subject": "Poufne"}'::text::jsonb where id = ${ended}`;
    const open = await message('scheduled', 50);
    const young = await message('delivered', 30);
    const reply = idOf('in', 50);
    await sql()`
      insert into inbound_messages (id, route, provider_reference, sender, received_text, state, account_id, text,
                                    matched_by, reply_to)
      values (${reply}, 'x', '1', '+48500100200', 'SKLEP Poufne', 'matched', ${account}, 'Poufne', 'prefix', ${ended})`;
    await link('t1', 50);
    for (const [place, days] of [50, 39].entries()) {
      await sql()`
        insert into link_clicks (token, place, clicked_at, user_agent, ip_hash, robot)
        values ('t1', ${place}, ${new Date(Date.now() - days * DAY)}, 'Poufne', '\\x01', false)`;
    }
    const lookup = idOf('hlr', 50);
    await sql()`
      insert into number_lookups (id, account_id, msisdn, route, state, reason, cost_grosze)
      values (${lookup}, ${account}, '+48500100200', 'simulator', 'failed', 'failed', 5)`;
    const [verified, recent] = [idOf('ver', 50), idOf('ver', 30)];
    await sql()`
      insert into verifications (id, account_id, msisdn, code_length, sent_at, cost_grosze, expires_at, created_at, updated_at)
      select id, ${account}, '+48500100200', 6, '{now}', 15, now(), now(), now() from unnest(${[verified, recent]}::text[]) as id`;
    // One request of two messages, of which one is too young.
    const { count } = await sql()`
      insert into idempotency_keys (account_id, key, fingerprint, request_id, accepted_body)
      select account_id, 'kept', '', request_id,
             jsonb_build_object('messages', jsonb_build_array(
               jsonb_build_object('id', id, 'to', recipient, 'text', text),
               jsonb_build_object('id', ${young}::text, 'to', recipient, 'text', text)))
        from messages where id = ${ended}`;
    expect(count).toBe(1);
    const effects = () => sql()`select * from message_effects order by 3`;
    const before = await effects();

    expect(await run('eraseContents', 40)).toEqual({
      postponed: 0,
      messages: 1,
      replies: 1,
      clicks: 1,
      lookups: 1,
      verifications: 1,
      emails: 0,
    });
    expect(await sql()`select msisdn from verifications order by id`).toEqual([
      { msisdn: '+48*****200' },
      { msisdn: '+48500100200' },
    ]);
    const all = { status: null, reference: null, recipient: null, since: null, until: null, before: null };
    const rows = new Map((await readHistory(sql(), account, all, 100)).map((row) => [row.id, row]));
    expect(messageRecord(rows.get(ended)!)).toMatchObject({
      ...{ to: '+48*****200', text: '', status: 'delivered', parts: 1, cost_grosze: 15 },
    });
    expect(rows.get(ended)!.content).toBeNull();
    expect(rows.get(open)).toMatchObject({ recipient: '+48500100200', text: 'Poufne' });
    expect(rows.get(young)).toMatchObject({ recipient: '+48500100200', text: 'Poufne' });
    const [kept] =
      await sql()`select sender, provider_reference, text, received_text, state, reply_to from inbound_messages where id = ${reply}`;
    expect(kept).toEqual({
      sender: '+48*****200',
      providerReference: `erased:${reply}`,
      text: '',
      receivedText: '',
      state: 'matched',
      replyTo: ended,
    });
    const [visited] =
      await sql()`select user_agent, ip_hash from link_clicks where token = 't1' and place = 0`;
    expect(visited).toEqual({ userAgent: null, ipHash: null });
    const [asked] = await sql()`select msisdn, cost_grosze from number_lookups where id = ${lookup}`;
    expect(asked).toEqual({ msisdn: '+48*****200', costGrosze: 5 });
    expect(await effects()).toEqual(before);
    const [answered] =
      await sql()`select accepted_body->'messages' as messages from idempotency_keys where key = 'kept'`;
    expect(answered!['messages']).toEqual([
      { id: ended, to: '+48*****200', text: '' },
      { id: young, to: '+48500100200', text: 'Poufne' },
    ]);

    // What was open is done once it has ended.
    expect(await run('eraseContents', 40)).toMatchObject({ postponed: 0, messages: 0 });
    await sql()`update messages set status = 'cancelled' where id = ${open}`;
    expect(await run('eraseContents', 40)).toMatchObject({ postponed: 1, messages: 0 });
    const [late] = await sql()`select recipient, text from messages where id = ${open}`;
    expect(late).toEqual({ recipient: '+48*****200', text: '' });
  });

  test('erases with a message that has ended what others said of it, and for some days what they say late', async () => {
    const id = await message('sent', 1);
    const event = idOf('evt', 0);
    await sql()`insert into erasures_postponed (message_id) values (${id})`;
    await sql()`
      insert into message_parts (message_id, part, state, route, provider_message_id)
      values (${id}, 1, 'accepted', 'r', 'p-1'), (${id}, 2, 'accepted', 'r', 'a-2')`;
    const report = (values: object) =>
      sql()`insert into delivery_reports ${sql()({
        ...{
          route: 'r',
          provider_message_id: '',
          phone: '+48500100200',
          state: 'delivered',
          details: 'Poufne',
        },
        ...{ applied_at: new Date(), look_at: null },
        ...values,
      })}`;
    await report({ provider_message_id: 'p-1' });
    await report({ provider_message_id: 'p-2', other_ids: ['a-2'] });
    await report({ message_id: id, part: 1 });
    await report({ provider_message_id: 'another', phone: '+48500100201' });
    await sql()`
      insert into webhook_events (id, account_id, subject_kind, subject_id, type, snapshot)
      values (${event}, ${account}, 'message', ${id}, 'message.delivered', '{}')`;
    const attempt = (n: number) =>
      sql()`insert into webhook_attempts (event_id, attempt, url, duration_ms, answer, answer_headers)
            values (${event}, ${n}, 'https://example.com', 1, 'Poufne', 'x: Poufne')`;
    await attempt(1);
    await sql()`
      insert into simulator_submits (provider_message_id, reference, destination, encoding, content, part, parts, priority)
      values ('s-1', ${id + '/1'}, '+48500100200', 'gsm7', 'Poufne', 1, 1, false)`;
    const said = async () => {
      const [row] = await sql()`
        select array(select phone from delivery_reports where phone is not null or details is not null) as phones,
               (select count(*)::int from webhook_attempts where answer is not null or answer_headers is not null) as answers,
               (select count(*)::int from simulator_submits where reference like ${id + '%'}) as submits`;
      return row;
    };

    expect(await run('eraseContents')).toEqual({ postponed: 0 });
    expect((await said())!['phones']).toHaveLength(4);
    await sql()`update messages set status = 'delivered' where id = ${id}`;
    expect(await run('eraseContents')).toEqual({ postponed: 1 });
    expect(await said()).toEqual({ phones: ['+48500100201'], answers: 0, submits: 0 });

    await report({ provider_message_id: 'p-1' });
    await attempt(2);
    expect(await run('eraseContents')).toEqual({ postponed: 0 });
    expect(await said()).toEqual({ phones: ['+48500100201'], answers: 0, submits: 0 });
    const noted = async () => (await sql()`select from erasures_postponed where message_id = ${id}`).count;
    expect(await noted()).toBe(1);
    await sql()`update messages set erased_at = now() - interval '73 hours' where id = ${id}`;
    await run('eraseContents');
    expect(await noted()).toBe(0);
  });
});
