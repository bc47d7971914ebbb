import { beforeAll, describe, expect, test } from 'vitest';
import { blacklistForOptOut } from '../../db/incoming/blacklist.ts';
import { lastMessageOf, lastMessageTo, lockReply, type ReceivedReply } from '../../db/incoming/inbound.ts';
import { transaction } from '../../db/connection.ts';
import { newId } from '../../db/ids.ts';
import { fileDatabase } from '../support/database.ts';
import { pagesRead, rowsRead } from '../support/rowsRead.ts';

const PHONE = '+48500100201';
const NUMBER = '+48500600700';
const MANY = 30_000;
// What the answer of a good plan needs at most; each of the phone's rejected messages would be one.
const FEW = 20;
const FEW_PAGES = 100;

const accounts = Array.from({ length: 3 }, () => newId('cl'));
const [flooding, writing] = [accounts[0]!, accounts[1]!];
let last: string;

const { sql } = await fileDatabase(undefined, 1);

beforeAll(async () => {
  for (const id of accounts)
    await sql`insert into accounts (id, name, mode, inbound_number) values (${id}, 'Last', 'live', ${NUMBER})`;
  last = await deliver(writing, PHONE);
  await sql`
    insert into messages (id, account_id, request_id, status, accepted_as, recipient, text, parts, cost_grosze, give_up_at, route,
                          created_at)
    select 'msg_r' || n, ${flooding}, 'r' || n, 'rejected', 'rejected', ${PHONE}, 'x', 1, 0, now(), 'simulator',
           now() - interval '1 second' * n
      from generate_series(1, ${MANY}::int) n`;
  await sql`
    insert into messages (id, account_id, request_id, status, submission, accepted_as, recipient, text, parts, cost_grosze,
                          give_up_at, route, created_at)
    select 'msg_d' || n, (${accounts}::text[])[n % 3 + 1], 'd' || n, 'delivered', 'answered', 'queued', '+48600' || n, 'x', 1, 10,
           now(), 'simulator', now() - interval '1 second' * n
      from generate_series(1, 10000) n`;
  await sql`analyze messages`;
});

async function receive(receiver: string | null, sender: string): Promise<ReceivedReply> {
  const id = newId('in');
  await sql`
    insert into inbound_messages (id, route, provider_reference, sender, receiver, received_text)
    values (${id}, 'simulator', ${id}, ${sender}, ${receiver}, 'STOP')`;
  return (await transaction(sql, (tx) => lockReply(tx, id)))!;
}

async function deliver(account: string, phone: string): Promise<string> {
  const id = newId('msg');
  await sql`
    insert into messages (id, account_id, request_id, status, submission, accepted_as, recipient, text, parts, cost_grosze,
                          give_up_at, route, created_at)
    values (${id}, ${account}, ${id}, 'delivered', 'answered', 'queued', ${phone}, 'x', 1, 10, now(), 'simulator',
            now() - interval '2 days')`;
  return id;
}

describe('of a phone to which tens of thousands of messages were rejected', () => {
  let reply: ReceivedReply;
  beforeAll(async () => {
    reply = await receive(NUMBER, PHONE);
  });

  test('the last message that a reply may answer is found at once', async () => {
    const { answer, rows } = await rowsRead(sql, 'messages', (tx) => lastMessageTo(tx, reply));
    expect(answer).toEqual({ id: last, accountId: writing });
    expect(rows).toBeLessThan(FEW);
  });
});

describe('of a phone to which others have just sent tens of thousands of messages, and as many were rejected', () => {
  const MONITOR = '+48500100202';
  const OWN_NUMBER = '+48500600701';
  const [own, silent] = [newId('cl'), newId('cl')];
  let before: string;
  beforeAll(async () => {
    for (const id of [own, silent])
      await sql`
        insert into accounts (id, name, mode, inbound_number) values (${id}, 'Own', 'live', ${id === own ? OWN_NUMBER : null})`;
    before = await deliver(own, MONITOR);
    await sql`
      insert into messages (id, account_id, request_id, status, submission, accepted_as, recipient, text, parts, cost_grosze,
                            give_up_at, route, created_at)
      select 'msg_m' || n, (${[flooding, writing]}::text[])[n % 2 + 1], 'm' || n, 'delivered', 'answered', 'queued', ${MONITOR}, 'x',
             1, 10, now(), 'simulator', now() - interval '1 second' * n
        from generate_series(1, ${MANY}::int) n
      union all
      select 'msg_o' || n, (${[own, silent]}::text[])[n % 2 + 1], 'o' || n, 'rejected', 'waiting', 'rejected', ${MONITOR}, 'x',
             1, 0, now(), 'simulator', now() - interval '1 second' * n
        from generate_series(1, ${MANY}::int) n`;
    await sql`analyze messages, accounts`;
  });

  test.each([OWN_NUMBER, null])(
    'the last one to which a reply to %s may be is found at once',
    async (number) => {
      const reply = await receive(number, MONITOR);
      const { answer, pages } = await pagesRead(sql, 'messages', () => lastMessageTo(sql, reply));
      expect(answer?.id).toBe(number === null ? 'msg_m1' : before);
      expect(pages).toBeLessThan(FEW_PAGES);
    },
  );

  test('and so is that of an account, the one before an opt-out, and that there is none', async () => {
    const reply = await receive(OWN_NUMBER, MONITOR);
    for (const account of [own, silent]) {
      const last = await pagesRead(sql, 'messages', () => lastMessageOf(sql, account, reply));
      expect(last.answer).toBe(account === own ? before : null);
      expect(last.pages).toBeLessThan(FEW_PAGES);
      const optOut = await pagesRead(sql, 'messages', () => blacklistForOptOut(sql, account, MONITOR));
      expect(optOut.pages).toBeLessThan(FEW_PAGES);
    }
    expect(await sql`select message_id from blacklist where account_id = ${own}`).toEqual([
      { messageId: before },
    ]);
  });
});
