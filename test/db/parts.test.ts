import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { newId } from '../../db/ids.ts';
import { acceptParts, concludeSubmission } from '../../db/messages/answers.ts';
import { claimParts, holdParts, leavePartsUnanswered } from '../../db/messages/parts.ts';
import { fileDatabase } from '../support/database.ts';
import { writeMessage } from '../support/messages.ts';

let id: string;
const { sql } = await fileDatabase();

beforeAll(async () => {
  await sql`
    insert into accounts (id, name, mode, webhook_url) values ('cl_a', 'A', 'live', 'https://example.com/')`;
});
beforeEach(async () => {
  id = newId('msg');
  await writeMessage(sql, { id, status: 'queued', submission: 'waiting', route: 'r', parts: 2 });
  await sql`update accounts set status = 'active' where id = 'cl_a'`;
});

const claim = (part: number, route = 'r') => claimParts(sql, { messageId: id, parts: [part], route });

async function claimedAt(part: number): Promise<string> {
  const claimed = await claim(part);
  if (claimed.state !== 'claimed') throw new Error(`part ${part} is ${claimed.state}`);
  return claimed.at;
}

const states = async (): Promise<string[]> =>
  (
    await sql<{ state: string }[]>`select state from message_parts where message_id = ${id} order by part`
  ).map(({ state }) => state);

describe('a part is claimed', () => {
  test('once: whoever finds it claimed does not submit it, and it counts as unanswered', async () => {
    await claimedAt(1);
    expect(await claim(1)).toEqual({ state: 'unanswered' });
    expect(await states()).toEqual(['unanswered']);
    const [message] = await sql`select submission from messages where id = ${id}`;
    expect(message).toEqual({ submission: 'unanswered' });
  });

  test('by one of many at once', async () => {
    const claims = await Promise.all(Array.from({ length: 10 }, () => claim(1)));
    expect(claims.filter(({ state }) => state === 'claimed')).toHaveLength(1);
  });

  test.each(['scheduled', 'sent', 'cancelled'])('never of a message that is %s', async (status) => {
    const other = newId('msg');
    await writeMessage(sql, { id: other, status, submission: 'waiting', route: 'r' });
    expect(await claimParts(sql, { messageId: other, parts: [1], route: 'r' })).toEqual({ state: 'closed' });
    expect((await sql`select from message_parts where message_id = ${other}`).count).toBe(0);
  });

  test('by its route alone', async () => {
    expect(await claim(1, 'another')).toEqual({ state: 'closed' });
    expect(await states()).toEqual([]);
  });

  test.each(['suspended', 'closed'])(
    'not for an account that is %s, unless some of it is gone',
    async (status) => {
      await sql`update accounts set status = ${status} where id = 'cl_a'`;
      expect(await claim(1)).toEqual({ state: 'closed' });
      await sql`update accounts set status = 'active' where id = 'cl_a'`;
      await claimedAt(1);
      await sql`update accounts set status = ${status} where id = 'cl_a'`;
      expect((await claim(2)).state).toBe('claimed');
    },
  );

  test('again once it was held, and put back by that claim only', async () => {
    const first = await claimedAt(1);
    expect(await holdParts(sql, { messageId: id, parts: [1] }, first, 'busy')).toBe(true);
    const second = await claimedAt(1);
    expect(await holdParts(sql, { messageId: id, parts: [1] }, first, 'busy')).toBe(false);
    expect(await states()).toEqual(['submitting']);
    expect(await holdParts(sql, { messageId: id, parts: [1] }, second, 'busy')).toBe(true);
    expect(await states()).toEqual(['held']);
  });
});

describe('the answers', () => {
  test('to all parts make the message sent, once, with one event', async () => {
    await claimedAt(1);
    await claimedAt(2);
    const accept = (part: number, name: string) => acceptParts(sql, { messageId: id, parts: [part] }, name);
    expect(await accept(1, 'a')).toMatchObject({ status: 'queued', events: [] });
    const sent = await accept(2, 'b');
    expect(sent).toMatchObject({ status: 'sent', events: [expect.any(String)] });
    // Carried out again, with an answer of its own: what was answered first stands.
    expect(await accept(2, 'c')).toMatchObject({
      status: 'sent',
      events: sent.events,
      sentAfterSeconds: null,
    });
    const ids =
      await sql`select provider_message_id as id from message_parts where message_id = ${id} order by part`;
    expect([...ids]).toEqual([{ id: 'a' }, { id: 'b' }]);
  });

  test('to one part of two leave the message unanswered, where none came for the other', async () => {
    await claimedAt(1);
    await claimedAt(2);
    await acceptParts(sql, { messageId: id, parts: [1] }, 'a');
    await leavePartsUnanswered(sql, { messageId: id, parts: [2] }, null);
    expect(await concludeSubmission(sql, id)).toMatchObject({ status: 'unanswered', events: [] });
    const [message] = await sql`select status, submission from messages where id = ${id}`;
    expect(message).toEqual({ status: 'queued', submission: 'unanswered' });
  });
});
