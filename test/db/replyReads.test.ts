import { beforeAll, describe, expect, test } from 'vitest';
import { newId } from '../../db/ids.ts';
import { listUnmatched } from '../../db/incoming/replies.ts';
import { listReplies, type RepliesInput } from '../../operations/replies.ts';
import { fileDatabase } from '../support/database.ts';
import { rowsReadByAll } from '../support/rowsRead.ts';

const PHONE = '+48500100201';
const UNMATCHED = 50_000;
const READ = 20_000;
const OF_NOBODY = 5_000;
// What a page of two needs at most; each unmatched reply of the account would be one.
const FEW = 20;

const account = newId('cl');

/** Replies to the number of the account, which no rule of v2.3.0 gives it, half of them from one phone; and as old ones that were read. */
const { sql } = await fileDatabase(undefined, 1);

beforeAll(async () => {
  await sql`insert into accounts (id, name, mode, inbound_number) values (${account}, 'Replies', 'live', '+48500600700')`;
  await sql`
    insert into inbound_messages (id, route, provider_reference, sender, received_text, state, account_id, text, matched_by, read_at)
    select 'in_0' || n, 'r', 'read' || n, '+48601' || lpad(n::text, 6, '0'), 'x', 'matched', ${account}, 'x', 'prefix', now()
      from generate_series(1, ${READ}::int) n`;
  await matched('in_a');
  await sql`
    insert into inbound_messages (id, route, provider_reference, sender, received_text, state)
    select 'in_b' || n, 'r', 'nobody' || n, '+48602' || lpad(n::text, 6, '0'), 'x', 'unmatched'
      from generate_series(1, ${OF_NOBODY}::int) n`;
  await sql`
    insert into inbound_messages (id, route, provider_reference, sender, received_text, state, account_id)
    select 'in_m' || n, 'r', n::text, case when n % 2 = 0 then ${PHONE} else '+48600' || lpad(n::text, 6, '0') end, 'x',
           'unmatched', ${account}
      from generate_series(1, ${UNMATCHED}::int) n`;
  await matched('in_z', { read: true });
  await sql`analyze inbound_messages`;
});

async function matched(id: string, { read = false } = {}): Promise<void> {
  await sql`
    insert into inbound_messages (id, route, provider_reference, sender, received_text, state, account_id, text, matched_by, read_at)
    values (${id}, 'r', ${id}, ${PHONE}, 'x', 'matched', ${account}, 'x', 'prefix', ${read ? new Date() : null})`;
}

type Asked = Parameters<typeof listReplies>[0];
/** As far as it is looked at. */
const call = (input: RepliesInput) =>
  ({ services: { sql }, caller: { accountId: account, readOnly: false }, input }) as Asked;
const all: RepliesInput = {
  ...{ sender: null, since: null, unread: false, before: null, limit: 2, mark_read: false },
};

/** @returns the replies of a page, and how many rows were looked at for it */
async function listed(asked: Partial<RepliesInput>): Promise<{ ids: string[]; rows: number }> {
  let ids: string[] = [];
  const rows = await rowsReadByAll(sql, 'inbound_messages', async () => {
    const { replies } = await listReplies(call({ ...all, ...asked }));
    ids = replies.map(({ id }) => id);
  });
  return { ids, rows };
}

describe('of an account with tens of thousands of replies that no rule gives it', () => {
  test.each<[string, Partial<RepliesInput>, string[]]>([
    ['all', {}, ['in_z', 'in_a']],
    ['those of one phone', { sender: PHONE }, ['in_z', 'in_a']],
    ['those since', { since: 0 }, ['in_z', 'in_a']],
    ['the next page', { before: 'in_z' }, ['in_a', 'in_09999']],
    ['the unread ones', { unread: true }, ['in_a']],
  ])('a page reads the replies that it shows: %s', async (_, asked, ids) => {
    const page = await listed(asked);
    expect(page.ids).toEqual(ids);
    expect(page.rows).toBeLessThan(FEW);
  });

  test('staff’s list of those that belong to nobody reads the oldest of these', async () => {
    const rows = await rowsReadByAll(sql, 'inbound_messages', async () => {
      expect((await listUnmatched(sql, 2)).map(({ id }) => id)).toEqual(['in_b1', 'in_b10']);
    });
    expect(rows).toBeLessThan(FEW);
  });
});
