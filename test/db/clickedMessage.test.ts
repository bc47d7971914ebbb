import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Sql } from '../../db/connection.ts';
import { newId, randomToken } from '../../db/ids.ts';
import { readLink } from '../../db/links/links.ts';
import { acceptParts } from '../../db/messages/answers.ts';
import { failSubmission } from '../../db/messages/endings.ts';
import { claimParts, holdParts } from '../../db/messages/parts.ts';
import { LINK_TOKEN_LENGTH } from '../../domain/links.ts';
import { TRANSITIONS, MESSAGE_STATUSES } from '../../domain/statuses.ts';
import { fileDatabase } from '../support/database.ts';
import { rowsRead } from '../support/rowsRead.ts';
import { clickOn } from '../support/clicked.ts';

const ACCOUNT = newId('cl');
const CANCELLED = 2_000;
// With another link.
const SENT = 1_000;
// Of one table, what a click needs at most; each of the messages that were cancelled would be one.
const FEW = 20;
const TABLES = ['message_links', 'messages'];

const { sql } = await fileDatabase();

beforeAll(async () => {
  await sql`
    insert into accounts (id, name, mode, webhook_url) values (${ACCOUNT}, 'Clicks', 'live', 'https://example.com/')`;
});

/** A link of the account. */
async function newLink(): Promise<string> {
  const token = randomToken(LINK_TOKEN_LENGTH);
  await sql`
    insert into tracked_links (token, account_id, recipient, url)
    values (${token}, ${ACCOUNT}, '+48500100200', ${`https://example.com/${token}`})`;
  return token;
}

/** Scheduled messages with the links, of an hour ago, the one before that a second before, and so on; their ids, the last one first. */
async function scheduled(tokens: readonly string[], count = 1): Promise<string[]> {
  const ids = Array.from({ length: count }, () => newId('msg'));
  await sql`
    insert into messages (id, account_id, request_id, status, accepted_as, recipient, text, parts, cost_grosze, give_up_at, route,
                          created_at)
    select id, ${ACCOUNT}, id, 'scheduled', 'scheduled', '+48500100200', 'x', 1, 10, now(), 'r',
           now() - interval '1 hour' - interval '1 second' * nr
      from unnest(${ids}::text[]) with ordinality as d(id, nr)`;
  await sql`
    insert into message_links (message_id, token)
    select id, token from unnest(${ids}::text[]) as id cross join unnest(${tokens as string[]}::text[]) as token`;
  return ids;
}

const move = async (ids: readonly string[], status: string) => {
  await sql`update messages set status = ${status} where id = any(${ids as string[]})`;
};

/** The message that a click of this moment belongs to. */
async function clickedMessage(token: string): Promise<string | null> {
  await clickOn(sql, token);
  const [click] = await sql<{ messageId: string | null }[]>`
    select message_id from link_clicks where token = ${token} order by place desc limit 1`;
  return click!.messageId;
}

async function eventOf(token: string): Promise<string> {
  const [event] = await sql<{ message: string }[]>`
    select snapshot->>'message_id' as message from webhook_events where subject_id = ${token}`;
  return event!.message;
}

/** How many rows of the tables something reads, which is done with one of the links for each. */
async function expectFewRows(tokens: readonly string[], does: (tx: Sql, token: string) => Promise<unknown>) {
  for (const [i, table] of TABLES.entries()) {
    const { rows } = await rowsRead(sql, table, (tx) => does(tx, tokens[i]!));
    expect(rows, table).toBeLessThan(FEW);
  }
}

describe('of links that thousands of cancelled messages carried', () => {
  let tokens: string[];
  let sent: string;
  let last: string;

  beforeAll(async () => {
    tokens = [await newLink(), await newLink()];
    [sent] = (await scheduled(tokens)) as [string];
    for (const status of ['queued', 'sent', 'delivered']) await move([sent], status);
    const cancelled = await scheduled(tokens, CANCELLED);
    last = cancelled.toSorted().at(-1)!;
    await move(cancelled, 'cancelled');
    const others = await scheduled([await newLink()], SENT);
    for (const status of ['queued', 'sent', 'delivered']) await move(others, status);
    await sql`analyze messages, message_links`;
  });

  test('a click is counted at once, with the event of the first one', async () => {
    await expectFewRows(tokens, (tx, token) => clickOn(tx, token));
    const clicks = await sql<{ messageId: string }[]>`
      select message_id from link_clicks where token = any(${tokens})`;
    expect(clicks.map(({ messageId }) => messageId)).toEqual([sent, sent]);
    for (const token of tokens) expect(await eventOf(token)).toBe(last);
  });

  test('and the message that is shown with a link', async () => {
    await expectFewRows(tokens, async (tx, token) => {
      expect(await readLink(tx, ACCOUNT, token)).toMatchObject({ messageId: last });
    });
  });
});

describe('a click belongs to the last message that some network was given, or may have been,', () => {
  test('as its submit goes on', async () => {
    const token = await newLink();
    const [last, before] = (await scheduled([token], 2)) as [string, string];
    await move([last, before], 'queued');
    expect(await clickedMessage(token)).toBeNull();
    const claim = async (messageId: string) => await claimParts(sql, { messageId, parts: [1], route: 'r' });
    await claim(before);
    expect(await clickedMessage(token)).toBe(before);
    const held = await claim(last);
    expect(await clickedMessage(token)).toBe(last);
    if (held.state !== 'claimed') throw new Error(held.state);
    await holdParts(sql, { messageId: last, parts: [1] }, held.at, 'throttled');
    expect(await clickedMessage(token)).toBe(before);
    await claim(last);
    await failSubmission(sql, { messageId: last, parts: [1] }, 'network_refused', null);
    expect(await clickedMessage(token)).toBe(before);
    await acceptParts(sql, { messageId: before, parts: [1] }, 'smsc-1');
    expect(await clickedMessage(token)).toBe(before);
    await move([before], 'failed');
    expect(await clickedMessage(token)).toBeNull();
  });

  test('by its send time, where it has one, else by its acceptance; of the same time, the one with the greater id', async () => {
    const token = await newLink();
    const [first, second, third] = (await scheduled([token], 3)).toSorted() as [string, string, string];
    await sql`update messages set send_at = now() - interval '10 minutes' where id = any(${[first, second]})`;
    for (const id of [second, third, first]) {
      await move([id], 'queued');
      await move([id], 'sent');
    }
    expect(await clickedMessage(token)).toBe(second);
    await move([second], 'failed');
    expect(await clickedMessage(token)).toBe(first);
    await move([first], 'failed');
    expect(await clickedMessage(token)).toBe(third);
  });

  test('whatever becomes of any number of messages, in any order', async () => {
    const submissions = ['waiting', 'submitting', 'answered', 'unanswered'];
    const change = fc.record({
      message: fc.nat({ max: 3 }),
      status: fc.constantFrom(...MESSAGE_STATUSES),
      submission: fc.constantFrom(...submissions),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(change, { minLength: 5, maxLength: 25 }), async (changes) => {
        const token = await newLink();
        const ids = await scheduled([token], 4);
        for (const { message, status, submission } of changes) {
          const from = TRANSITIONS.filter(({ to }) => to === status).map((allowed) => allowed.from);
          await sql`
            update messages set submission = ${submission}, status = case when status = any(${from}) then ${status} else status end
             where id = ${ids[message]!}`;
          const [found] = await sql`select message_of_click(${token}, now()) as message`;
          expect(found).toEqual({ message: await lastGiven(token) });
        }
      }),
      { numRuns: 25 },
    );
  });
});

/** The rule, in words of its own: read from the messages themselves. */
async function lastGiven(token: string): Promise<string | null> {
  const [message] = await sql<{ id: string }[]>`
    select m.id from message_links l join messages m on m.id = l.message_id
     where l.token = ${token} and (m.status in ('sent', 'delivered', 'undelivered')
                                   or m.status in ('queued', 'expired') and m.submission <> 'waiting')
     order by coalesce(m.send_at, m.created_at) desc, m.id desc limit 1`;
  return message?.id ?? null;
}
