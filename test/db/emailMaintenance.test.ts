import { MockActivityEnvironment } from '@temporalio/testing';
import { beforeEach, describe, expect, test } from 'vitest';
import { maintenanceActivities, type Removed } from '../../activities/maintenance.ts';
import { idFloor, newId } from '../../db/ids.ts';
import { ERASED_ADDRESS } from '../../domain/email/address.ts';
import type { IdPrefix } from '../../domain/ids.ts';
import { ownDatabase } from '../admin/support.ts';

const DAY = 86_400_000;
const database = ownDatabase();
const sql = () => database.sql();
const WORDS = 'Poufne|tajny|wiolonczela';
let account: string;

beforeEach(async () => {
  account = newId('cl');
  await sql()`insert into accounts (id, name, mode) values (${account}, 'Test', 'live')`;
  await sql()`insert into ledger_entries (account_id, kind, amount_grosze) values (${account}, 'opening', 1000)`;
  await sql()`delete from maintenance_positions`;
  // What another test left is done.
  await sql()`update emails set erased_at = now()`;
});

let serial = 0;
/** An id as it was made some days ago. */
const idOf = (prefix: IdPrefix, days: number): string =>
  idFloor(prefix, Math.round(Date.now() - days * DAY)) + String((serial += 1)).padStart(16, '0');
const at = (days: number): Date => new Date(Date.now() - days * DAY);

/** An e-mail of some days ago with all that belongs to one. */
async function email(status: string, days: number): Promise<string> {
  const [id, requestId] = [idOf('em', days), idOf('req', days)];
  await sql()`
    insert into emails (id, account_id, request_id, interface, status, route, domain, from_address, from_name, reply_to, subject,
                        headers, cost_grosze, give_up_at, created_at, updated_at)
    values (${id}, ${account}, ${requestId}, 'v1', ${status}, 'simulator', 'd.example', 'tajny@d.example', 'Poufne',
            'tajny@wiolonczela.example', 'Poufne', '[["X-Entity-Ref-ID", "Poufne"]]', 1, ${at(days - 3)}, ${at(days)}, ${at(days)})`;
  await sql()`
    insert into email_recipients (email_id, account_id, position, kind, address)
    values (${id}, ${account}, 0, 'to', 'tajny@wiolonczela.example')`;
  await sql()`insert into email_contents (email_id, html, text) values (${id}, 'Poufne', 'Poufne')`;
  await sql()`
    insert into email_attachments (email_id, number, filename, content_type, bytes) values (${id}, 0, 'Poufne.pdf', 'a/b', 1)`;
  await sql()`
    insert into email_attachment_pieces (email_id, number, piece, content) values (${id}, 0, 0, 'x')`;
  await sql()`
    insert into email_events (email_id, kind, address, at) values (${id}, 'delivered', 'tajny@wiolonczela.example', ${at(days)})`;
  await sql()`
    insert into provider_email_events (route, event_id, email_id, kind, addresses, at, payload, received_at, applied_at)
    values ('simulator', ${id}, ${id}, 'delivered', '{tajny@wiolonczela.example}', ${at(days)}, '{"a": "Poufne"}', ${at(days)},
            ${at(days)})`;
  await sql()`
    insert into idempotency_keys (account_id, key, fingerprint, request_id, accepted_body)
    values (${account}, ${id}, '', ${requestId}, ${sql().json({ id, to: 'tajny@wiolonczela.example' })})`;
  return id;
}

const run = (step: 'deleteLeftovers' | 'eraseContents', contentDays?: number): Promise<Removed> => {
  const steps = maintenanceActivities(sql(), { contentDays, logDays: 90 });
  return new MockActivityEnvironment().run(() => steps[step]());
};

/** Tables that still know something of an e-mail, by the words in any column. */
async function knowing(id: string): Promise<string[]> {
  const tables = await sql()<{ name: string }[]>`
    select table_name as name from information_schema.tables
     where table_schema = 'public' and table_type = 'BASE TABLE' order by 1`;
  const found: string[] = [];
  for (const { name } of tables) {
    const rows = await sql()`
      select from ${sql()(name)} t where t::text ~ ${WORDS} and t::text like ${`%${id}%`}`;
    if (rows.count > 0) found.push(name);
  }
  return found;
}

const idsOf = async (table: string): Promise<string[]> => {
  const rows = await sql()<{ id: string }[]>`
    select distinct email_id as id from ${sql()(table)} where email_id in (select id from emails where account_id = ${account})`;
  return rows.map(({ id }) => id).sort();
};

describe('retention', () => {
  test('takes contents, addresses and names out of e-mails once they are old enough, and nothing that is counted', async () => {
    const [old, young] = [await email('delivered', 40), await email('delivered', 20)];
    const before = await knowing(old);
    expect(before).toEqual(
      expect.arrayContaining([
        ...['email_attachments', 'email_contents', 'email_events', 'email_recipients', 'emails'],
        ...['idempotency_keys', 'provider_email_events'],
      ]),
    );
    expect(await run('eraseContents')).not.toHaveProperty('emails');
    expect(await run('eraseContents', 30)).toMatchObject({ emails: 1 });
    expect(await knowing(old)).toEqual([]);
    expect(await knowing(young)).toEqual(before);
    const [kept] = await sql()`
      select status, cost_grosze, subject, domain, from_address, erased_at is not null as erased,
             (select address from email_recipients where email_id = e.id) as to,
             (select count(*)::int from email_events where email_id = e.id) as events
        from emails e where id = ${old}`;
    expect(kept).toEqual({
      ...{ status: 'delivered', costGrosze: 1, subject: '', erased: true, to: ERASED_ADDRESS, events: 1 },
      ...{ domain: ERASED_ADDRESS, fromAddress: ERASED_ADDRESS },
    });
    expect(await run('eraseContents', 30)).toMatchObject({ emails: 0 });
  });

  test('waits before one that is still to be handed over, and comes back to it', async () => {
    const open = await email('queued', 2);
    const behind = await email('delivered', 1.5);
    expect(await run('eraseContents', 1)).toMatchObject({ emails: 0 });
    expect(await knowing(open)).toContain('email_contents');
    await sql()`update emails set status = 'failed' where id = ${open}`;
    expect(await run('eraseContents', 1)).toMatchObject({ emails: 2 });
    expect([...(await knowing(open)), ...(await knowing(behind))]).toEqual([]);
  });

  test('waits no longer before one whose time is over by more than an hour, whatever became of its workflow', async () => {
    const [lost, behind] = [await email('queued', 5), await email('delivered', 4)];
    const overSince = (minutes: number) => sql()`
      update emails set give_up_at = now() - ${`${minutes} minutes`}::interval where id = ${lost}`;
    await overSince(59);
    expect(await run('eraseContents', 1)).toMatchObject({ emails: 0 });
    expect(await knowing(lost)).toContain('email_contents');
    await overSince(61);
    expect(await run('eraseContents', 1)).toMatchObject({ emails: 2 });
    expect([...(await knowing(lost)), ...(await knowing(behind))]).toEqual([]);
    const [row] = await sql()`select status, domain from emails where id = ${lost}`;
    expect(row).toEqual({ status: 'queued', domain: ERASED_ADDRESS });
  });
});

describe('clean-up', () => {
  test('deletes files that were left, never those of an e-mail that waits or was just handed over', async () => {
    const [sent, failed, queued] = [
      await email('sent', 1),
      await email('failed', 1),
      await email('queued', 1),
    ];
    const underWay = await email('delivered', 1);
    await sql()`update emails set updated_at = now() - interval '59 minutes' where id = ${underWay}`;
    await run('deleteLeftovers');
    expect(await idsOf('email_attachment_pieces')).toEqual([queued, underWay].sort());
    expect(await idsOf('email_attachments')).toEqual([sent, failed, queued, underWay].sort());
  });

  test('deletes events and unsubscribe links after a year, the simulated provider’s memory after a week', async () => {
    const [old, late, young] = [
      await email('delivered', 370),
      await email('delivered', 100),
      await email('delivered', 2),
    ];
    for (const days of [370, 300])
      await sql()`
        insert into unsubscribe_links (token, account_id, address, email_id, created_at)
        values (${`${account}${days}`}, ${account}, 'a@b.example', ${young}, ${at(days)})`;
    for (const days of [8, 6])
      await sql()`
        insert into simulator_emails (provider_email_id, route, reference, mail, received_at)
        values (${`${account}${days}`}, 'simulator', ${`${account}${days}`}, '{}', ${at(days)})`;
    await sql()`
      insert into provider_email_events (route, event_id, kind, addresses, at, payload, received_at)
      values ('simulator', ${account}, 'delivered', '{a@b.example}', now(), '{}', ${at(31)})`;
    await run('deleteLeftovers');
    expect(await idsOf('email_events')).toEqual([late, young].sort());
    expect(await idsOf('provider_email_events')).toEqual([late, young].sort());
    expect(await sql()`select from provider_email_events where event_id = ${account}`).toHaveLength(0);
    const [payload] = await sql()`
      select payload, addresses from provider_email_events where email_id = ${late}`;
    expect(payload).toEqual({ payload: {}, addresses: [] });
    const links = await sql()`select token from unsubscribe_links where account_id = ${account}`;
    expect(links).toEqual([{ token: `${account}300` }]);
    const mails = await sql()`select reference from simulator_emails where reference like ${`${account}%`}`;
    expect(mails).toEqual([{ reference: `${account}6` }]);
    expect(await sql()`select from emails where id = ${old}`).toHaveLength(1);
  });
});
