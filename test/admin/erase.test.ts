import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newId } from '../../db/ids.ts';
import { searchTemporal } from '../support/traces.ts';
import { HOUR, type Pipeline, startPipeline } from '../workflows/pipeline.ts';
import { type Answer, pipelineLine } from './support.ts';
import { until } from '../support/eventually.ts';

const NUMBER = '+48500100200';

let pipeline: Pipeline;
beforeAll(async () => {
  pipeline = await startPipeline('real');
});
afterAll(() => pipeline?.close());

const { run, ok } = pipelineLine(() => pipeline);

/** An account that knows NUMBER in every way there is; one message to it is delivered, one is scheduled. */
async function acquainted(): Promise<{ account: string; delivered: string; scheduled: string }> {
  const { sql } = pipeline;
  const account = await pipeline.account();
  const delivered = await pipeline.send(account, { ending: '200', text: 'Poufne' });
  await pipeline.untilStatus(delivered.id, 'delivered');
  const scheduled = await pipeline.send(account, {
    ending: '200',
    text: 'Poufne',
    sendAt: Date.now() + HOUR,
  });
  const token = newId('evt').slice(-8);
  await sql`
    insert into tracked_links (token, account_id, recipient, url)
    values (${token}, ${account}, ${NUMBER}, 'https://example.com/'), (${token + '2'}, ${account}, ${NUMBER}, 'https://example.com/2')`;
  await sql`
    insert into link_clicks (token, place, clicked_at, user_agent, robot) values (${token}, 1, now(), 'Poufne', false)`;
  await sql`insert into opt_out_links (token, account_id, msisdn, sender) values (${newId('evt')}, ${account}, ${NUMBER}, 'X')`;
  await sql`insert into contacts (id, account_id, msisdn) values (${newId('ct')}, ${account}, ${NUMBER})`;
  const table = newId('imp');
  await sql`insert into contact_imports (id, account_id, name) values (${table}, ${account}, 'a.csv')`;
  await sql`
    insert into contact_import_rows (import_id, position, line, cells, problem)
    values (${table}, 0, 1, '["0048 (500) 100-200", "Poufne"]', null), (${table}, 1, 2, '["500100200", "Poufne"]', '{}'),
           (${table}, 2, 3, '["500100201", "x"]', null)`;
  await sql`insert into verified_numbers (account_id, msisdn) values (${account}, ${NUMBER})`;
  await sql`
    insert into verifications (id, account_id, msisdn, code_length, sent_at, cost_grosze, expires_at, created_at, updated_at)
    values (${newId('ver')}, ${account}, ${NUMBER}, 6, '{now}', 15, now(), now(), now())`;
  await sql`insert into blacklist (account_id, msisdn, reason) values (${account}, ${NUMBER}, 'opt_out')`;
  await sql`
    insert into number_lookups (id, account_id, msisdn, route, state, reason, cost_grosze)
    values (${newId('hlr')}, ${account}, ${NUMBER}, 'simulator', 'failed', 'failed', 5)`;
  await sql`
    insert into inbound_messages (id, route, provider_reference, sender, received_text, state, account_id, text,
                                  matched_by, reply_to)
    values (${newId('in')}, 'x', ${newId('req')}, ${NUMBER}, 'Poufne', 'matched', ${account}, 'Poufne', 'prefix', ${delivered.id})`;
  return { account, delivered: delivered.id, scheduled: scheduled.id };
}

/** Tables with the number or the text in any column, and how many rows of them. */
async function found(words: string[]): Promise<Record<string, number>> {
  const tables = await pipeline.sql<{ name: string }[]>`
    select table_name as name from information_schema.tables
     where table_schema = 'public' and table_type = 'BASE TABLE' order by 1`;
  const counts: Record<string, number> = {};
  for (const { name } of tables) {
    const [row] = await pipeline.sql<{ n: number }[]>`
      select count(*)::int as n from ${pipeline.sql(name)} t where t::text ~ ${words.join('|')}`;
    if (row!.n > 0) counts[name] = row!.n;
  }
  return counts;
}

const WORDS = ['48500100200', 'Poufne'];

describe('erase', () => {
  test('without --yes it only counts; of one account it leaves the others alone', async () => {
    const [one, other] = [await acquainted(), await acquainted()];
    const before = await found(WORDS);
    expect(await ok('erase', '--number', '500100200', '--account', one.account)).toEqual({
      ...{
        erased: false,
        messages: 2,
        replies: 1,
        lookups: 1,
        contacts: 1,
        import_rows: 2,
        tracked_links: 2,
        opt_out_links: 1,
      },
      ...{ verified_numbers: 1, verifications: 1, blacklist_entries_kept: 1 },
    });
    expect(await found(WORDS)).toEqual(before);

    const effects = () => pipeline.sql`select * from message_effects order by message_id`;
    const counted = await effects();
    expect(await ok('erase', '--number', '500100200', '--account', one.account, '--yes')).toMatchObject({
      ...{ erased: true, cancelled: 1, open_messages: 0, blacklist_entries_kept: 1 },
    });
    const statuses = await pipeline.sql<Answer[]>`
      select id, status, recipient, text from messages where account_id = ${one.account} order by id`;
    expect(statuses).toEqual([
      { id: one.delivered, status: 'delivered', recipient: '+48*****200', text: '' },
      { id: one.scheduled, status: 'cancelled', recipient: '+48*****200', text: '' },
    ]);
    const submitted = await pipeline.sql`
      select split_part(reference, '/', 1) as id from simulator_submits where destination = ${NUMBER}`;
    expect(submitted).toEqual([{ id: other.delivered }]);
    const [left] = await pipeline.sql`
      select status, recipient, text from messages where id = ${other.scheduled}`;
    expect(left).toEqual({ status: 'scheduled', recipient: NUMBER, text: 'Poufne' });
    const known = new Set(counted.map(({ messageId }) => messageId as unknown));
    expect((await effects()).filter(({ messageId }) => known.has(messageId as unknown))).toMatchObject(
      counted.map(({ messageId, replies }) => ({
        messageId: messageId as unknown,
        replies: replies as unknown,
      })),
    );
    const [money] = await pipeline.sql`
      select balance_grosze as balance, (select sum(amount_grosze)::bigint from ledger_entries where account_id = a.id) as sum
        from accounts a where id = ${one.account}`;
    expect(money).toEqual({ balance: 985, sum: 985 });
  });

  test('of all accounts: nothing anywhere knows the number, but the blacklists', async () => {
    const { account } = await acquainted();
    // On a route that nobody opens it is not handed over.
    await pipeline.sql`
      insert into simulator_replies (route, source, content) values ('closed', ${NUMBER}, 'Poufne')`;
    // Of a message that is gone, and of one in several parts.
    await pipeline.sql`
      insert into simulator_submits (provider_message_id, reference, destination, encoding, content, part, parts, priority)
      values (${newId('req')}, ${newId('msg') + '/1'}, ${NUMBER}, 'gsm7', 'Poufne', 1, 1, false)`;
    await pipeline.sql`insert into concat_references (recipient, last) values (${NUMBER}, 1)`;
    await ok('erase', '--number', NUMBER, '--account', account, '--yes');
    expect(await found(WORDS)).toMatchObject({ simulator_replies: 1, concat_references: 1 });
    expect(await ok('erase', '--number', NUMBER, '--yes')).toMatchObject({ erased: true, open_messages: 0 });
    const left = await found(WORDS);
    expect(Object.keys(left)).toEqual(['blacklist']);
    expect(await ok('erase', '--number', NUMBER, '--yes')).toMatchObject({
      messages: 0,
      contacts: 0,
      cancelled: 0,
    });
  });

  test('a reply and a look-up that nobody has decided on are left, and counted', async () => {
    const account = await pipeline.account();
    const number = '+48500100904';
    const [reply, lookup] = [newId('in'), newId('hlr')];
    await pipeline.sql`
      insert into inbound_messages (id, route, provider_reference, sender, received_text)
      values (${reply}, 'x', ${reply}, ${number}, 'Poufne')`;
    await pipeline.sql`
      insert into number_lookups (id, account_id, msisdn, route, state, cost_grosze)
      values (${lookup}, ${account}, ${number}, 'simulator', 'charged', 5)`;
    const erasing = run('erase', '--number', number, '--yes');
    // It waits, and takes what is decided meanwhile.
    await until('it has looked', async () => {
      const seen = await pipeline.sql`
        select from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()
           and query like '%from number_lookups%' and query like '%from inbound_messages%'`;
      return seen.count > 0;
    });
    await pipeline.sql`update inbound_messages set state = 'unmatched' where id = ${reply}`;
    const { out } = await erasing;
    expect(out).toMatch(/Not decided yet, and not erased: replies 0, look-ups 1; erase again/);
    const [erased] = await pipeline.sql`select sender from inbound_messages where id = ${reply}`;
    expect(erased).toEqual({ sender: '+48*****904' });
    await pipeline.sql`update number_lookups set state = 'failed', reason = 'failed' where id = ${lookup}`;
    expect(await ok('erase', '--number', number, '--yes')).toMatchObject({ lookups: 1, open_lookups: 0 });
    const [asked] = await pipeline.sql`select msisdn from number_lookups where id = ${lookup}`;
    expect(asked).toEqual({ msisdn: '+48*****904' });
  });

  test('of one account: a report that met its message by the other id knows nothing any more', async () => {
    const account = await pipeline.account();
    const message = await pipeline.send(account, { ending: '200', text: 'Poufne' });
    await pipeline.untilStatus(message.id, 'delivered');
    const [part] =
      await pipeline.sql`select route, provider_message_id from message_parts where message_id = ${message.id}`;
    const [report] = await pipeline.sql<{ id: string }[]>`
      insert into delivery_reports (route, provider_message_id, other_ids, phone, state, details, applied_at, look_at)
      values (${part!['route'] as string}, 'other', ${[part!['providerMessageId'] as string]}, ${NUMBER}, 'delivered', 'Poufne', now(), null)
      returning id`;
    await ok('erase', '--number', NUMBER, '--account', account, '--yes');
    const [left] = await pipeline.sql`select phone, details from delivery_reports where id = ${report!.id}`;
    expect(left).toEqual({ phone: null, details: null });
  });
});

// Last: it looks at all that the others made.
test('the histories in Temporal hold no number and no text, erased or not', async () => {
  const account = await pipeline.account();
  const message = await pipeline.send(account, { ending: '200', text: 'Poufne' });
  await pipeline.untilStatus(message.id, 'delivered');
  // What a step came to is there, and found.
  expect(await searchTemporal(pipeline.client, ['"status":"sent"'])).toContain(message.id);
  expect(await searchTemporal(pipeline.client, ['500100200', '500100903', 'Poufne'])).toEqual([]);
});
