import { describe, expect, test } from 'vitest';
import { newId, idFloor } from '../../db/ids.ts';
import { requestResend } from '../../db/webhooks/webhookDeliveries.ts';
import { endDelivery } from '../../db/webhooks/webhooks.ts';
import { commandLine, listIn, ownDatabase, type Answer } from './support.ts';

const DAY = 86_400_000;
const database = ownDatabase();
const sql = () => database.sql();
const { ok } = commandLine(() => database.url());

const CURRENT = { webhook_url: 'https://example.com/', webhook_secret: Buffer.from('sealed') };
const EARLIER = { legacy_webhook_url: 'https://example.com/', legacy_webhook_secret: Buffer.from('sealed') };

const account = (webhooks: object = CURRENT) => database.account({ mode: 'live', ...webhooks });

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
});
