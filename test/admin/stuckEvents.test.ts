import { describe, expect, test } from 'vitest';
import { newId, idFloor } from '../../db/ids.ts';
import { COUNTED_MAX, readStuck } from '../../db/messages/stuck.ts';
import { requestResend } from '../../db/webhooks/webhookDeliveries.ts';
import { endDelivery } from '../../db/webhooks/webhooks.ts';
import { rowsRead } from '../support/rowsRead.ts';
import { commandLine, listIn, ownDatabase, type Answer } from './support.ts';

const DAY = 86_400_000;
const database = ownDatabase();
const sql = () => database.sql();
const { ok } = commandLine(() => database.url());

const CURRENT = { webhook_url: 'https://example.com/', webhook_secret: Buffer.from('sealed') };
const EARLIER = { legacy_webhook_url: 'https://example.com/', legacy_webhook_secret: Buffer.from('sealed') };

async function account(webhooks: object = CURRENT): Promise<string> {
  const id = newId('cl');
  await sql()`insert into accounts ${sql()({ id, name: 'Events', mode: 'live', ...webhooks })}`;
  return id;
}

let serial = 0;
/** An event whose last attempt failed some days ago. */
async function exhausted(owner: string, days: number, type = 'message.failed'): Promise<string> {
  const at = new Date(Date.now() - days * DAY);
  const id = idFloor('evt', at.getTime()) + String((serial += 1)).padStart(16, '0');
  await sql()`
    insert into webhook_events (id, account_id, subject_kind, subject_id, type, snapshot, created_at, state, exhausted_at)
    values (${id}, ${owner}, 'message', ${newId('msg')}, ${type}, '{}', ${at}, 'exhausted', ${at})`;
  return id;
}

async function rounds(event: string, owner: string, count: number, last = 'exhausted'): Promise<void> {
  await sql()`
    insert into webhook_resends (event_id, round, account_id, requested_by, attempts_before, state)
    select ${event}, n, ${owner}, 'staff', 3, case when n = ${count}::int then ${last} else 'exhausted' end
      from generate_series(1, ${count}::int) n`;
}

const ids = (found: Answer) => listIn(found).map(({ id }) => id);

describe('webhook events that nobody took', () => {
  test('are listed and delivered again newest first, with those of years ago last', async () => {
    const owner = await account();
    const [old, today, lastYear, yesterday] = [
      await exhausted(owner, 900),
      await exhausted(owner, 0.1),
      await exhausted(owner, 400),
      await exhausted(owner, 1),
    ];
    const all = [today, yesterday, lastYear, old];
    expect(ids(await ok('stuck', '--kind', 'webhook', '--account', owner))).toEqual(all);
    const would = await ok('unstick', '--action', 'resend', '--account', owner, '--limit', '2');
    expect(would).toMatchObject({ on: 2, of: 4 });
    expect(ids(would)).toEqual([today, yesterday]);
    const older = await ok('stuck', '--kind', 'webhook', '--account', owner, '--minutes', '1000');
    expect(ids(older)).toEqual(all.slice(1));
    const theirs = ids(await ok('stuck', '--kind', 'webhook', '--limit', '2'));
    expect(theirs).toEqual([today, yesterday]);
    expect(ids(await ok('stuck', '--kind', 'webhook', '--route', 'simulator'))).toEqual([]);
  });

  test('are left out while they are on their way again, and once their rounds are used up', async () => {
    const owner = await account();
    const [fresh, again, way] = [
      await exhausted(owner, 4),
      await exhausted(owner, 3),
      await exhausted(owner, 2),
    ];
    await rounds(again, owner, 9);
    await rounds(way, owner, 2, 'pending');
    const listed = async () => ids(await ok('stuck', '--kind', 'webhook', '--account', owner));
    expect(await listed()).toEqual([again, fresh]);
    expect(await requestResend(sql(), again, null, 'staff')).toMatchObject({ round: 10 });
    await endDelivery(sql(), { id: again, round: 10 }, 'exhausted');
    await endDelivery(sql(), { id: way, round: 2 }, 'exhausted');
    expect(await listed()).toEqual([way, fresh]);
  });

  test('are left out where their account has no webhook for them any more', async () => {
    const [none, current, earlier] = [await account({}), await account(), await account(EARLIER)];
    await exhausted(none, 1);
    await exhausted(current, 1, 'delivery_report');
    await exhausted(earlier, 1);
    const [own, reported] = [await exhausted(current, 2), await exhausted(earlier, 2, 'delivery_report')];
    for (const [owner, left] of [
      [none, []],
      [current, [own]],
      [earlier, [reported]],
    ] as const)
      expect(ids(await ok('stuck', '--kind', 'webhook', '--account', owner))).toEqual(left);
  });

  test('are found by reading few of them, however many there are', async () => {
    const [flooding, gone, writing] = [await account(), await account({}), await account()];
    const own = await exhausted(writing, 300);
    const newest = await fill(flooding, 200, COUNTED_MAX + 1_000);
    await fill(gone, 50, 1_000);
    await sql()`analyze webhook_events, webhook_resends, accounts`;
    const filter = { accountId: null, route: null, minutes: 0 };
    const listing = (accountId: string | null) =>
      rowsRead(sql(), 'webhook_events', (tx) => readStuck(tx, 'webhook', { ...filter, accountId }, 20));
    const all = await listing(null);
    expect(all.answer.count).toBe(COUNTED_MAX);
    expect(all.answer.things).toHaveLength(20);
    expect(all.rows).toBeLessThan(COUNTED_MAX + 200);
    const flood = await listing(flooding);
    expect(flood.answer.count).toBe(COUNTED_MAX);
    expect(flood.answer.things[0]!.id).toBe(newest);
    expect(flood.rows).toBeLessThan(COUNTED_MAX + 200);
    const one = await listing(writing);
    expect(one.answer).toMatchObject({ count: 1, things: [{ id: own }] });
    expect(one.rows).toBeLessThan(20);
  });
});

/** Many events that were exhausted some days ago. @returns the newest */
async function fill(owner: string, days: number, count: number): Promise<string> {
  const at = new Date(Date.now() - days * DAY);
  const floor = idFloor('evt', at.getTime());
  const numbered = sql()`select ${floor} || lpad(n::text, 16, '0') as id from generate_series(1, ${count}::int) n`;
  await sql()`
    insert into webhook_events (id, account_id, subject_kind, subject_id, type, snapshot, state, exhausted_at, created_at)
    select id, ${owner}, 'message', 'msg_' || id, 'message.failed', '{}', 'exhausted', ${at}, ${at} from (${numbered}) e`;
  return floor + String(count).padStart(16, '0');
}
